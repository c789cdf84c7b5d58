"""Which elements tensors between the brackets select: by their places, or, masks, by truth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from funcgrad._base import dtypes
from funcgrad._ops.conditions import are_indices
from funcgrad._ops.indexing import require_together
from funcgrad._program.record import note_found
from funcgrad._tape.levels import MASK
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.refused_numbers import require
from funcgrad._tensor.tensor import Tensor


def is_mask(tensor: Tensor) -> bool:
    """Tell whether a tensor selects by truth instead of by place."""
    return tensor.dtype in (dtypes.bool_, dtypes.uint8)


def selection(part: Tensor, selectors: Sequence[tuple[int, Tensor]]) -> tuple[list[Tensor], tuple[int | None, ...]]:
    """Return the integer tensors, and which of them (or none) indexes each dimension; masks are read for places."""
    tensors: list[Tensor] = []
    layout: list[int | None] = []
    unknown: list[int] = []  # those of `tensors` that may be beyond
    for dim, selector in selectors:
        layout += [None] * (dim - len(layout))
        if not is_mask(selector):
            require_integers(selector)
            unknown.append(len(tensors))
        for places in _places(part, dim, selector) if is_mask(selector) else [selector]:
            layout.append(len(tensors))
            tensors.append(places)
    if len(tensors) > 1:
        require_together([places.shape for places in tensors])
    kept = [size for size, which in zip_longest(part.shape, layout) if which is None]
    if 0 in kept or any(0 in places.shape for places in tensors):
        unknown = []  # of nothing nothing is beyond
    elif 0 in part.shape:
        raise IndexError("index is out of bounds for dimension with size 0")
    for which in unknown:  # torch's errors say by number which tensor it is, not of which dimension
        require(are_indices, tensors[which], part, layout.index(which), which)
    return tensors, tuple(layout)


def _places(part: Tensor, dim: int, mask: Tensor) -> list[Tensor]:
    """Return the places at which a mask is true, for each of its dimensions."""
    check_mask(part, dim, mask)
    found = np.nonzero(to_host(mask, MASK))
    note_found()
    return [from_host(places.astype(np.int64), device=mask.device) for places in found]


def require_integers(places: Tensor) -> None:
    """IndexError for a tensor of places that is not of whole numbers of 32 or 64 bits."""
    if places.dtype not in (dtypes.int64, dtypes.int32):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")


def check_mask(part: Tensor, dim: int, mask: Tensor) -> None:
    """IndexError for a mask that has not the shape of the dimensions from `dim` on."""
    for d, length in enumerate(mask.shape):
        if length != part.shape[dim + d]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {d} does not match the shape of the indexed tensor "
                f"{list(part.shape)} at index {dim + d}"
            )
