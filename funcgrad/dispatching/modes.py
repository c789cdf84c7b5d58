"""TorchDispatchMode: within it each call reaches `__torch_dispatch__` as the functions of aten that torch makes of it.

Seen is what a script calls, by the schemas of aten (`schemas`) and by what torch composes of others (`composed`). What
is computed inside of a backward pass and of an optimizer's step is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from funcgrad import ops
from funcgrad._tape.modes import is_grad_enabled
from funcgrad._tensor import overriding
from funcgrad._tensor.packets import Overload, packet
from funcgrad._tensor.placement import get_default_device
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.composed import RULES, UNTOLD
from funcgrad.dispatching.schemas import bound, schemas_of

_NAMES = {  # methods whose functions aten has by another name
    "__and__": "bitwise_and", "__eq__": "eq", "__floordiv__": "floor_divide", "__invert__": "bitwise_not",
    "__ipow__": "pow_", "__or__": "bitwise_or", "__pow__": "pow", "__xor__": "bitwise_xor",
    "absolute": "abs", "clip": "clamp", "divide": "div", "greater": "gt", "greater_equal": "ge", "less": "lt",
    "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne", "subtract": "sub",
    "true_divide": "div", "concat": "cat", "concatenate": "cat", "moveaxis": "movedim", "swapaxes": "transpose",
    "swapdims": "transpose",
}  # fmt: skip
_MADE_ANYWHERE = {
    "arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randint", "randn", "randperm", "zeros",
}  # fmt: skip
_MADE_ALIKE = {
    "empty_like", "full_like", "new_empty", "new_full", "new_ones", "new_zeros", "ones_like", "rand_like",
    "randint_like", "randn_like", "zeros_like",
}  # fmt: skip
_KEEP_THEIR_RESULT = {  # for backward, as a detached tensor, which a mode sees
    "_log_softmax", "_scaled_dot_product_flash_attention_for_cpu", "_softmax", "amax", "amin", "cumprod", "exp", "exp2",
    "expm1", "linalg_vector_norm", "logcumsumexp", "logsumexp", "prod", "reciprocal", "relu", "rsqrt", "sigmoid",
    "sqrt", "std", "tan", "tanh",
}  # fmt: skip
_KEEP_THE_ONE = {"max", "min"}  # those of all elements do


class TorchDispatchMode:
    """Within `with mode:` this thread's calls go to the mode's `__torch_dispatch__`, by aten's functions.

    Inside of that method the mode is not active. Modes nest: what the innermost calls is seen by the next.
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._layers: list[Layer] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a call of `func`, torch.ops.aten.add.Tensor: a subclass writes this."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        layers = self.__dict__.setdefault("_layers", [])  # a subclass need not call our __init__
        layers.append(self._layer_of(self))
        layers[-1].enter()
        return self

    def __exit__(self, *error: object) -> None:
        self._layers.pop().leave()

    @staticmethod
    def _layer_of(mode: TorchDispatchMode) -> Layer:
        """Return what takes public calls apart for a mode: a subclass may want others."""
        return Layer(mode)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a mode made of these arguments: an old way to write the constructor."""
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that lets every function do what it does."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function itself."""
        return func(*args, **(kwargs or {}))


def current_mode() -> TorchDispatchMode | None:
    """Return the innermost mode, or None."""
    layers = [mode for mode in overriding.state.modes if isinstance(mode, Layer)]
    return layers[-1].mode if layers else None


@contextmanager
def no_modes() -> Iterator[None]:
    """Give a block in which none of the modes is active."""
    before = overriding.state.modes
    overriding.state.modes = [mode for mode in before if not isinstance(mode, Layer)]
    try:
        yield
    finally:
        overriding.state.modes = before


class Layer(overriding.Layer):
    """Takes public calls apart and tells its mode of the parts. calls: how."""

    calls: type[Calls]

    def __init__(self, mode: TorchDispatchMode) -> None:
        self.mode = mode

    def told(self, overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the mode answers."""
        return self.mode.__torch_dispatch__(overload, (), args, kwargs)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a public function; first its arguments' classes are asked."""
        return NotImplemented if types else self.calls(self, func).public(args, kwargs or {})


class Calls:
    """Calls aten's functions of the mode for one public call: `calls.view(x, [2, 3])`."""

    composed_last = True

    def __init__(self, layer: Layer, func: Any) -> None:
        self._layer, self._func = layer, func

    def public(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what a public function gives, by the rule for it, by its schema, or by what it calls itself."""
        name = self.name()
        rule = self.rule_of(name)
        result = NotImplemented if rule is None else rule(self, *args, **kwargs)
        if result is NotImplemented and name not in UNTOLD and schemas_of(name):
            result = self._by_schema(name, args, dict(kwargs))
        return self.itself(*args, **kwargs) if result is NotImplemented else result

    def name(self) -> str:
        """Return aten's name of the public function."""
        return name_of(self._func)

    def rule_of(self, name: str) -> Any:
        """Return the rule for a public function, or None."""
        return RULES.get(name)

    def itself(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the public function computes; the public ones that it calls are seen."""
        overriding.state.modes.append(self._layer)
        try:
            return overriding.redispatch(self._func, (), args, kwargs)
        finally:
            overriding.state.modes.remove(self._layer)
            overriding.state.skips = False

    def silently(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the public function computes, of which the mode is told nothing."""
        return self._func(*args, **kwargs)

    def _by_schema(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        requires_grad = name in _MADE_ANYWHERE | _MADE_ALIKE and kwargs.pop("requires_grad", False)
        if kwargs.get("inplace") and schemas_of(f"{name}_"):
            name, kwargs = f"{name}_", {word: x for word, x in kwargs.items() if word != "inplace"}
        call = bound(name, args, kwargs, composed_last=self.composed_last)
        if call is None:
            return NotImplemented
        _find(call.overload, self._func)
        result = self._run(call.overload, call.args, call.kwargs | _said_by_python(name, call.kwargs))
        return result.requires_grad_() if requires_grad else result

    def __getattr__(self, name: str) -> Any:
        def calling(*args: Any, **kwargs: Any) -> Any:
            call = bound(name, args, kwargs, composed_last=self.composed_last)
            assert call is not None, f"aten::{name} does not take {args} {kwargs}"
            _find(call.overload, None)
            return self._run(call.overload, call.args, call.kwargs)

        return calling

    def exactly(self, name: str, overload: str, *args: Any, **kwargs: Any) -> Any:
        """Return what the mode answers for this overload, where the arguments alone mean another."""
        found = getattr(packet(name), overload)
        _find(found, None)
        return self._run(found, args, kwargs)

    def _run(self, overload: Overload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = self._layer.told(overload, args, kwargs)
        kept = _kept_of(overload, args, result)
        if kept is not None:
            detach = packet("detach").default
            _find(detach, None)
            self._layer.mode.__torch_dispatch__(detach, (Tensor,), (kept,), {})
        return result


Layer.calls = Calls


def name_of(func: Any) -> str:
    name = overriding.name_of(func)
    return _NAMES.get(name, name)


def _find(overload: Overload, public: Any) -> None:
    """Let the packet have its function; where aten's own is not here, the public one is."""
    found = overload.overloadpacket
    if found.function is None and getattr(ops.aten, found.__name__, found).function is None:
        found.function = public


def _said_by_python(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what torch's functions of Python say besides: where the result lies, and that it is not pinned."""
    if name in _MADE_ANYWHERE:
        return {"device": given.get("device", get_default_device()), "pin_memory": given.get("pin_memory", False)}
    return {"pin_memory": given.get("pin_memory", False)} if name in _MADE_ALIKE else {}


def _kept_of(overload: Overload, args: Sequence[Any], result: Any) -> Tensor | None:
    """Return the result that torch's node of this call saves, if one is made."""
    name = overload.overloadpacket.__name__.removesuffix("_") if is_grad_enabled() else ""
    if name not in _KEEP_THEIR_RESULT and not (name in _KEEP_THE_ONE and isinstance(result, Tensor) and len(args) == 1):
        return None
    first = result[0] if isinstance(result, (list, tuple)) else result
    requires = any(isinstance(x, Tensor) and x.requires_grad for x in args)
    return first if requires and isinstance(first, Tensor) and first.is_floating_point() else None
