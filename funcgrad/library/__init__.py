"""torch.library: operators of a script's own. Their functions run as they stand, so they may call any library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.library import schemas
from funcgrad.library.operators import OPERATORS, Operator, detached
from funcgrad.utils._pytree import tree_leaves

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl", "impl_abstract",
    "infer_schema", "opcheck", "register_autocast", "register_autograd", "register_fake", "register_kernel",
    "register_vmap", "triton_op",
]  # fmt: skip
Kernel = Callable[..., Any]
Kinds = str | Sequence[str] | None
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "default": "CompositeExplicitAutograd"}


def _operator(op: Any, lib: Library | None = None) -> Operator:
    """Find an operator by "namespace::name", or what stands for it. RuntimeError: there is none."""
    op = getattr(op, "_opoverload", op)  # of a CustomOpDef
    op = getattr(op, "overloadpacket", op)  # of an Overload
    if isinstance(op, Operator):
        return op
    name = op if "::" in op or lib is None else f"{lib.ns}::{op}"
    if name not in OPERATORS:
        raise RuntimeError(f"operator {name} does not exist: define it first")
    return OPERATORS[name]


def _decorate(fn: Kernel | None, keep: Callable[[Kernel], None]) -> Any:
    """Keep the function, now or as a decorator does; return it."""

    def decorate(function: Kernel) -> Kernel:
        keep(function)
        return function

    return decorate if fn is None else decorate(fn)


class CustomOpDef:
    """What `custom_op` makes of a function: call it, and register more about it."""

    def __init__(self, namespace: str, name: str, schema: schemas.Schema, fn: Kernel) -> None:
        self._namespace, self._name, self._init_fn = namespace, name, fn
        self._opoverload = Operator(schema)
        self.__doc__, self.__name__ = fn.__doc__, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._namespace}::{self._name})>"

    def register_kernel(self, device_types: Kinds, fn: Kernel | None = None, /) -> Any:
        """Register the function for these devices; None: for all."""
        return register_kernel(self, device_types, fn)

    def register_fake(self, fn: Kernel, /) -> Kernel:
        """Register the function for tensors without numbers: it returns empty ones of the right shapes."""
        return register_fake(self, fn)

    def register_autograd(self, backward: Kernel, /, *, setup_context: Kernel | None = None) -> None:
        """Register the backward, and what it is to keep of a call."""
        register_autograd(self, backward, setup_context=setup_context)

    def register_vmap(self, func: Kernel | None = None) -> Any:
        """Register what the operator does to a batch; also as a decorator."""
        return register_vmap(self, func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> Any:
        """Accepted: the operator sees its tensors as they are."""
        return register_autocast(self, device_type, cast_inputs)


def custom_op(
    name: str,
    fn: Kernel | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Kinds = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function an operator "namespace::name", found under `torch.ops.namespace.name` too; also as a decorator.

    mutates_args: the arguments that it changes in place. schema: what its annotations say, where it has none.
    """
    namespace, separator, plain = name.partition("::")
    if not separator or not plain:
        raise ValueError(f"Expected `name` to be of the form `namespace::name`, got {name!r}")

    def decorate(function: Kernel) -> CustomOpDef:
        known = schemas.infer(function, mutates_args, name) if schema is None else schemas.read(name, schema)
        made = CustomOpDef(namespace, plain, known, function)
        made.register_kernel(device_types, function)
        return made

    return decorate if fn is None else decorate(fn)


def triton_op(name: str, fn: Kernel | None = None, /, *, mutates_args: str | Iterable[str], **options: Any) -> Any:
    """As `custom_op`: what the function calls decides what runs."""
    return custom_op(name, fn, mutates_args=mutates_args, **options)


def infer_schema(
    prototype_function: Kernel, /, *, mutates_args: str | Iterable[str], op_name: str | None = None
) -> str:
    """Return the schema that a function's annotations say. ValueError: one is missing or unsupported."""
    return f"{op_name or ''}{schemas.infer(prototype_function, mutates_args)!s}"


def define(qualname: str, schema: Any, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Define an operator by its schema; the functions come by `impl`."""
    Operator(schemas.read(qualname if "::" in qualname or lib is None else f"{lib.ns}::{qualname}", schema))


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """Register a function for devices ("cpu") or dispatch keys ("CPU", "Autograd"); also as a decorator."""
    if isinstance(qualname, Library):  # impl(lib, "name", "CPU")
        library, plain, key = qualname, types, func or ""
        return _decorate(None, lambda function: library.impl(plain, function, key))
    return register_kernel(qualname, types, func, lib=lib)


def register_kernel(op: Any, device_types: Kinds, func: Kernel | None = None, /, *, lib: Library | None = None) -> Any:
    """Register a function for these devices; None or "default": for all."""
    kinds = ["default"] if device_types is None else [device_types] if isinstance(device_types, str) else device_types
    keys = [_KEYS.get(kind, kind) for kind in kinds]
    return _decorate(func, lambda function: _operator(op, lib).kernels.update(dict.fromkeys(keys, function)))


def register_fake(op: Any, func: Kernel | None = None, /, *, lib: Library | None = None, **options: Any) -> Any:
    """Register the function for tensors without numbers: it returns empty ones of the right shapes."""
    return _decorate(func, lambda function: _operator(op, lib).kernels.update(Meta=function))


impl_abstract = register_fake


def register_autograd(
    op: Any, backward: Kernel, /, *, setup_context: Kernel | None = None, lib: Library | None = None
) -> None:
    """Register backward(ctx, *grads), and setup_context(ctx, inputs, output), which keeps on `ctx` what it needs."""
    operator = _operator(op, lib)
    operator.backward, operator.setup_context = backward, setup_context


def register_vmap(op: Any, func: Kernel | None = None, /, *, lib: Library | None = None) -> Any:
    """Register func(info, in_dims, *args), which returns (results of a whole batch, where the batch lies in them).

    in_dims: where the batch lies in each argument, None for one without. info: `batch_size` and `randomness`.
    """
    return _decorate(func, lambda function: setattr(_operator(op, lib), "vmap", function))


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> Any:
    """Accepted: the operator sees its tensors as they are."""
    return _operator(op, lib)


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """Stand for no function of one's own. Raises RuntimeError where it is called."""
    raise RuntimeError("fallthrough_kernel is a mark for `Library.impl`, and not to be called")


class _Sizes:
    """What a fake may ask for: sizes that depend on numbers."""

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """Return the least size there may be: tensors on meta know their sizes here."""
        return min


def get_ctx() -> _Sizes:
    """Return what a fake asks for sizes that depend on numbers."""
    return _Sizes()


class Library:
    """Defines and implements operators of one namespace. kind: "DEF", "FRAGMENT" or "IMPL"; taken, all may do all."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator by "name(Tensor x) -> Tensor", and return its name."""
        name, bracket, rest = schema.partition("(")
        Operator(schemas.read(f"{self.ns}::{name.strip()}", bracket + rest))
        return name.strip()

    def impl(self, op_name: Any, fn: Kernel, dispatch_key: str = "", **options: Any) -> None:
        """Register the function for one of torch's dispatch keys, or for the library's own."""
        operator = _operator(op_name, self)
        if fn is not fallthrough_kernel:
            key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
            operator.kernels[_KEYS.get(key, key)] = fn

    def _destroy(self) -> None:
        """Forget the operators of this namespace."""
        for name in [name for name in OPERATORS if name.startswith(f"{self.ns}::")]:
            del OPERATORS[name]


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    raise_exception: bool = True,
    **options: Any,
) -> dict[str, str]:
    """Try an operator on sample arguments: does it change what it says, has it the shapes of its fake, a backward?

    Returns "SUCCESS" or the complaint for each of three tests. RuntimeError: a complaint, unless told otherwise.
    """
    operator, named = _operator(op), kwargs or {}
    tests = {
        "test_schema": _check_schema, "test_autograd_registration": _check_backward, "test_faketensor": _check_fake,
    }  # fmt: skip
    found = {}
    for name, test in tests.items():
        complaint = test(operator, args, named)
        if complaint and raise_exception:
            raise RuntimeError(f"opcheck(op, ...): {name} failed with {complaint}")
        found[name] = complaint or "SUCCESS"
    return found


def _check_schema(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    positional, named = operator.schema.bind(detached(args), detached(kwargs))
    every = (
        dict(zip([a.name for a in operator.schema.arguments if not a.keyword_only], positional, strict=True)) | named
    )
    before = detached(every)
    operator.run(positional, named)
    for argument in operator.schema.arguments:
        pairs = zip(tree_leaves(before[argument.name]), tree_leaves(every[argument.name]), strict=True)
        same = all(a.equal(b) for a, b in pairs if isinstance(a, Tensor))
        if not same and not argument.writes:
            return f"Argument {argument.name} is not defined as mutable but was mutated"
    return None


def _check_backward(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    wanted = any(isinstance(x, Tensor) and x.requires_grad for x in tree_leaves((args, kwargs)))
    differentiable = operator.backward is not None or any("Autograd" in key for key in operator.kernels)
    return "no autograd formula, and an input requires grad" if wanted and not differentiable else None


def _check_fake(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    if "Meta" not in operator.kernels:
        return "no fake: use register_fake"
    positional, named = operator.schema.bind(detached(args), detached(kwargs))
    fakes = tree_leaves(operator.kernels["Meta"](*positional, **named))
    reals = tree_leaves(operator.run(positional, named))
    for fake, real in zip(fakes, reals, strict=True):
        if isinstance(real, Tensor) and (fake.shape, fake.dtype) != (real.shape, real.dtype):
            return f"the fake gives {fake.dtype} {tuple(fake.shape)}, the operator {real.dtype} {tuple(real.shape)}"
    return None
