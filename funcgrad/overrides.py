"""torch.overrides: the questions that libraries ask of tensor-like arguments; nothing overrides functions here."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor import methods
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
    "is_tensor_like", "is_tensor_method_or_property", "resolve_name",
]  # fmt: skip


def is_tensor_like(inp: Any) -> bool:
    """Tell whether this is a Tensor, or says that it acts like one."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def has_torch_function(relevant_args: Any) -> bool:
    """Tell whether an argument overrides torch's functions: none does, since functions do not ask for it here."""
    return False


def has_torch_function_unary(argument: Any) -> bool:
    """Tell whether the argument overrides torch's functions: it does not."""
    return False


def has_torch_function_variadic(*arguments: Any) -> bool:
    """Tell whether an argument overrides torch's functions: none does."""
    return False


def handle_torch_function(public_api: Any, relevant_args: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function itself."""
    return public_api(*args, **kwargs)


def is_tensor_method_or_property(func: Any) -> bool:
    """Tell whether a function is a method of Tensor."""
    return getattr(func, "__name__", None) in methods.method_names()


def resolve_name(f: Any) -> str | None:
    """Return the dotted name of a public function, or None."""
    name = getattr(f, "__name__", None)
    if name is None:
        return None
    return f"torch.Tensor.{name}" if is_tensor_method_or_property(f) else f"torch.{name}"
