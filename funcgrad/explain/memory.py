"""memory(): what holds the live bytes: parameters, gradients, optimizer states, what backward needs, other tensors."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import jax
import numpy as np

from funcgrad._tape.nodes import GradNode
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain.history import saved_values
from funcgrad.nn.parameter import Parameter
from funcgrad.optim.optimizer import Optimizer


class Holder(NamedTuple):
    """Who holds arrays: their number and bytes, and the largest of them."""

    holder: str
    arrays: int
    nbytes: int
    largest: str


class Holders(list[Holder]):
    """What `memory` found; prints as a table."""

    def __repr__(self) -> str:
        rows = [f"{h.holder:<20} {h.arrays:>7} arrays {h.nbytes:>15,} bytes   largest {h.largest}" for h in self]
        return "\n".join([*rows, f"{'all':<20} {sum(h.arrays for h in self):>7} arrays "
                          f"{sum(h.nbytes for h in self):>15,} bytes"])  # fmt: skip

    __str__ = __repr__


def memory() -> Holders:
    """Return who holds live arrays, the most bytes first. An array that several hold counts for the first of them.

    Arrays on the host count too where a tensor has them.
    """
    claimed: dict[int, tuple[str, Any]] = {}  # by array: its holder, and the array
    objects = gc.get_objects()
    tensors = [x for x in objects if issubclass(type(x), Tensor) and hasattr(x, "_variable")]
    _claim(claimed, "parameters", [t for t in tensors if isinstance(t, Parameter)])
    slots = {id(t._slot): t._slot for t in tensors if t._slot is not None}
    _claim(claimed, "gradients", [slot.grad for slot in slots.values() if isinstance(slot.grad, Tensor)])
    for optimizer in (x for x in objects if issubclass(type(x), Optimizer)):
        _claim(claimed, "optimizer states", optimizer.state_tensors())
    nodes = [x for x in objects if issubclass(type(x), GradNode)]
    for node in nodes:
        for value in saved_values(node):
            if value.array is not None:
                claimed.setdefault(id(value.array), ("saved for backward", value.array))
    _claim(claimed, "other tensors", tensors)
    for array in jax.live_arrays():
        claimed.setdefault(id(array), ("JAX arrays and constants", array))
    found: dict[str, list[Any]] = {}
    for holder, array in claimed.values():
        if isinstance(array, np.ndarray) or not array.is_deleted():
            found.setdefault(holder, []).append(array)
    holders = [
        Holder(holder, len(arrays), sum(a.nbytes for a in arrays), _described(max(arrays, key=lambda a: a.nbytes)))
        for holder, arrays in found.items()
    ]
    return Holders(sorted(holders, key=lambda holder: -holder.nbytes))


def _claim(claimed: dict[int, tuple[str, Any]], holder: str, tensors: list[Tensor]) -> None:
    for tensor in tensors:
        array = tensor._variable.value.array
        if array is not None:
            claimed.setdefault(id(array), (holder, array))


def _described(array: Any) -> str:
    return f"{array.dtype}{list(array.shape)}"
