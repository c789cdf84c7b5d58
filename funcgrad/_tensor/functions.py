"""The plain functions of the public namespace: factories, hand-written fronts, and the table's, made at first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base import dtypes, promotion
from funcgrad._ops import table as _table  # noqa: F401 - the rows are entered by funcgrad._ops
from funcgrad._tape.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from funcgrad._tensor import creation, front, legacy, methods, overloads
from funcgrad._tensor.creation import (
    arange,
    as_tensor,
    asarray,
    empty,
    empty_like,
    empty_strided,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    scalar_tensor,
    tensor,
    zeros,
    zeros_like,
)
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "Tensor", "arange", "as_tensor", "asarray", "can_cast", "empty", "empty_like", "empty_strided", "enable_grad", "eye",
    "from_numpy", "full", "full_like", "inference_mode", "is_complex", "is_floating_point", "is_grad_enabled",
    "is_inference_mode_enabled", "is_tensor", "linspace", "lookup", "no_grad", "numel", "ones", "ones_like",
    "promote_types", "public", "result_type", "scalar_tensor", "set_grad_enabled", "tensor", "zeros", "zeros_like",
]  # fmt: skip

methods.METHODS.update(overloads.METHODS)
methods.install(dict(vars(creation)))
Tensor.make = legacy.make

promote_types = promotion.promote_types
can_cast = promotion.can_cast


def is_tensor(obj: Any) -> bool:
    """Tell whether this is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Tell whether the dtype is a floating-point one."""
    return input.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Tell whether the dtype is a complex one."""
    return input.dtype.is_complex


def numel(input: Tensor) -> int:
    """Return how many elements the tensor has."""
    return input.shape.numel()


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """Return the dtype that an arithmetic op on both would compute in."""
    return promotion.result_type(_ranked(x) for x in (tensor1, tensor2))


def _ranked(x: Any) -> tuple[int, dtypes.dtype]:
    if not isinstance(x, Tensor):
        return promotion.NUMBER, dtypes.of_number(x)
    return (promotion.DIMENSIONED if x.ndim else promotion.ZERO_DIM), x.dtype


def lookup(prefix: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that makes the table's functions under `prefix` ("" or "nn.functional") at first use."""
    start = f"{prefix}." if prefix else ""

    def get(name: str) -> Any:
        place = f"{start}{name}"
        if place in overloads.FUNCTIONS:
            return overloads.FUNCTIONS[place]
        if place in front.places() and "." not in name:
            return front.made(place)
        module = f"torch.{prefix}" if prefix else "torch"
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return get


def names_under(prefix: str) -> list[str]:
    """Return the names of the table's functions under `prefix`."""
    start = f"{prefix}." if prefix else ""
    found = {p[len(start) :] for p in (*front.places(), *overloads.FUNCTIONS) if p.startswith(start)}
    return sorted(name for name in found if name and "." not in name)


def public(prefix: str) -> dict[str, Any]:
    """Return all of the table's functions under `prefix`, by name."""
    get = lookup(prefix)
    return {name: get(name) for name in names_under(prefix)}


__getattr__ = lookup("")
