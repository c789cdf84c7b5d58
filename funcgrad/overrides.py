"""torch.overrides: classes that answer for torch's functions by `__torch_function__`, and modes that see every call."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import FunctionType
from typing import Any, Self

from funcgrad import fft, linalg, special
from funcgrad._tensor import functions as torch
from funcgrad._tensor import methods, overriding
from funcgrad._tensor.overriding import has_torch_function as has_torch_function
from funcgrad._tensor.overriding import redispatch as redispatch_function
from funcgrad._tensor.overriding import unwrapped, without_innermost
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional, init
from funcgrad.random import functions as random

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "get_default_nowrap_functions", "get_ignored_functions",
    "get_overridable_functions", "get_testing_overrides", "handle_torch_function", "has_torch_function",
    "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like", "is_tensor_method_or_property",
    "redispatch_function", "resolve_name", "wrap_torch_function",
]  # fmt: skip

overriding.arm()  # who imports this has a class that wants to be asked, of Tensor's or of its own
_MODULES = {  # modules whose functions ask, and what torch's names for them start with
    torch: "torch", random: "torch", functional: "torch.nn.functional", init: "torch.nn.init", linalg: "torch.linalg",
    fft: "torch.fft", special: "torch.special",
}  # fmt: skip
_OF_FUNCTIONAL = {  # those that torch.functional has too, by which they are called
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod", "cdist",
    "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank",
    "tensordot", "unique", "unique_consecutive", "unravel_index",
}  # fmt: skip


# Questions


def is_tensor_like(inp: Any) -> bool:
    """Tell whether this is a Tensor, or says that it acts like one."""
    return type(inp) is Tensor or hasattr(type(inp), "__torch_function__")


def has_torch_function_unary(argument: Any) -> bool:
    """Tell whether this argument, or a mode, is to be asked before a function computes."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*arguments: Any) -> bool:
    """Tell whether one of these arguments, or a mode, is to be asked before a function computes."""
    return has_torch_function(arguments)


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Return what the innermost mode, or the first of the arguments that overrides functions, answers for a call.

    public_api: the function as its callers name it. TypeError where everybody answers NotImplemented.
    """
    return overriding.ask(public_api, overriding.overriding_arguments(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Any], Any]:
    """Let a function of one's own ask; dispatcher(*args, **kwargs) returns those of its arguments that are asked."""

    def wrap(function: Any) -> Any:
        @functools.wraps(function)
        def asking(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(asking, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asking

    return wrap


# Modes


class TorchFunctionMode:
    """Within `with mode:` every call of a public function of this thread goes to the mode's `__torch_function__`.

    Inside that method the mode is not active. Modes nest: the innermost is asked, and what it calls asks the next.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a call of `func`: a subclass writes this."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        overriding.arm()
        overriding.state.modes.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        overriding.state.modes.pop()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a mode made of these arguments: an old way to write the constructor."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every function do what it does."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function itself."""
        return func(*args, **(kwargs or {}))


_pop_mode_temporarily = without_innermost


def _get_current_function_mode() -> Any:
    """Return the innermost mode, or None."""
    return overriding.state.modes[-1] if overriding.state.modes else None


# Which functions there are


def get_default_nowrap_functions() -> set[Any]:
    """Return what the default `__torch_function__` answers with plain tensors."""
    return unwrapped()


@functools.cache
def get_ignored_functions() -> set[Any]:
    """Return public functions that ask nobody."""
    return {found for names, found in _public() if not overriding.is_asking(found)}


@functools.cache
def get_overridable_functions() -> dict[Any, list[Any]]:
    """Return the functions that ask, by the module or class that they belong to."""
    whole = sys.modules[__name__.partition(".")[0]]
    found: dict[Any, list[Any]] = {}
    for (owner, name), function in _public():
        if overriding.is_asking(function):
            found.setdefault(whole if _MODULES.get(owner) == "torch" else owner, []).append(function)
            if _is_of_functional(owner, name):
                found.setdefault(whole.functional, []).append(function)
    return found


def _is_of_functional(owner: Any, name: str) -> bool:
    return owner is torch and name in _OF_FUNCTIONAL


@functools.cache
def get_testing_overrides() -> dict[Any, Callable[..., int]]:
    """Return, for each function that asks, one of the same parameters that returns -1: to see which a class lacks."""
    asking = chain.from_iterable(get_overridable_functions().values())
    return {function: made for function in asking if (made := _minus_one(function)) is not None}


def _minus_one(function: Any) -> Any:
    try:
        signature = inspect.signature(overriding.function_of(function))
    except ValueError:  # it takes what it is given
        return None

    def minus_one(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    minus_one.__signature__ = inspect.Signature(plain)  # type: ignore[attr-defined]  # what inspect looks at
    return minus_one


def _public() -> Iterator[tuple[tuple[Any, str], Any]]:
    """Yield the owner, the name and the function of everything public that could ask: methods and short names first."""
    for name in sorted({*methods.method_names(), *vars(Tensor)}, key=lambda name: (len(name), name)):
        found = getattr(Tensor, name, None)
        if isinstance(found, FunctionType):
            yield (Tensor, name), found
        elif isinstance(found, property):
            yield (Tensor, f"{name}.__get__"), found.__get__
    for module, prefix in _MODULES.items():
        of_table = torch.names_under(prefix.removeprefix("torch").lstrip("."))
        for name in sorted({*of_table, *dir(module)}):
            if not name.startswith("_") and isinstance(found := getattr(module, name, None), FunctionType):
                yield (module, name), found


@functools.cache
def _names() -> dict[Any, str]:
    names: dict[Any, str] = {}
    for (owner, name), found in _public():
        prefix = _MODULES.get(owner, "torch.Tensor")
        names.setdefault(found, f"{prefix}.functional.{name}" if _is_of_functional(owner, name) else f"{prefix}.{name}")
    return names


def is_tensor_method_or_property(func: Any) -> bool:
    """Tell whether this is a method of Tensor, or the `__get__` of one of its properties."""
    return func in get_overridable_functions()[Tensor]


def resolve_name(f: Any) -> str | None:
    """Return the dotted name of a public function, or None."""
    return _names().get(f)
