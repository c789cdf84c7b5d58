"""Backward passes from and to nested tensors: those of their values, and gradients of their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._tensor.tensor import Tensor


def _values(given: Any) -> Any:
    """Return a nested tensor's values, those of each in a list, and anything else as it is."""
    if isinstance(given, (list, tuple)):
        return [_values(x) for x in given]
    return given._plain() if getattr(given, "is_nested", False) else given


def backward(func: Any, *args: Any, **kwargs: Any) -> None:
    """Start a backward pass from nested tensors."""
    func(*map(_values, args), **{name: _values(x) for name, x in kwargs.items()})


def grad(func: Any, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Return the gradients, those with respect to nested tensors in their form."""
    targets: list[Any] = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    rest = {name: _values(x) for name, x in kwargs.items()}
    found = func(_values(outputs), [_values(x) for x in targets], *map(_values, args), **rest)
    return tuple(x._like(g) if x.is_nested and g is not None else g for x, g in zip(targets, found, strict=True))


DERIVATIVES: dict[str, Callable[..., Any]] = {"backward": backward, "grad": grad}
