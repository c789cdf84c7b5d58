"""Strides and orders of dimensions, as torch's tensors have them: how views step through their base, what lies how.

An order names the dimensions, those with the longest steps first; None: as they come (torch's "contiguous").
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Dims: TypeAlias = tuple[int, ...]
Order: TypeAlias = Dims | None

PICTURES = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}  # torch.channels_last, torch.channels_last_3d


@functools.lru_cache(maxsize=4096)
def dense_strides(shape: Dims, order: Order = None) -> Dims:
    """Return the strides of a tensor that fills its memory in this order."""
    steps, step = [0] * len(shape), 1
    for d in reversed(order or range(len(shape))):
        steps[d] = step
        step *= max(shape[d], 1)
    return tuple(steps)


@functools.lru_cache(maxsize=4096)
def order_of(shape: Dims, strides: Dims) -> Order:
    """Return the order of these strides. Dimensions that repeat memory (stride 0) stay where they are."""
    moving = [d for d, stride in enumerate(strides) if stride]
    falling = iter(sorted(moving, key=lambda d: -strides[d]))
    order = tuple(next(falling) if stride else d for d, stride in enumerate(strides))
    longer = [d for d in order if shape[d] != 1]
    return None if longer == sorted(longer) else order


def agree(shape: Dims, strides: Dims, wanted: Dims) -> bool:
    """Tell whether two strides walk through a tensor of this shape alike."""
    return 0 in shape or all(a == b or n == 1 for n, a, b in zip(shape, strides, wanted, strict=True))


def is_channels_last(shape: Dims, strides: Dims) -> bool:
    """Tell whether torch takes a tensor for pictures (or volumes) with channels last. Source: c10/MemoryFormat.h."""
    if len(shape) not in PICTURES or strides[1] == 0 or 0 in shape:
        return False
    least = 0
    for d in reversed(PICTURES[len(shape)]):
        if strides[d] < least or (d == 0 and least == strides[1]):
            return False
        least = strides[d] * max(shape[d], 1)
    return True


def viewed(shape: Sequence[int], strides: Dims, wanted: Sequence[int]) -> Dims | None:
    """Return the strides with which the same storage shows another shape, or None where only a copy does."""
    if math.prod(shape) == 0:
        return strides if tuple(shape) == tuple(wanted) else dense_strides(tuple(wanted))
    if not shape:
        return (1,) * len(wanted)
    found: list[int] = []
    left = list(wanted)
    base, count = strides[-1], 1  # of the run of old dimensions that follow each other without a gap
    for d in reversed(range(len(shape))):
        count *= shape[d]
        if d > 0 and (shape[d - 1] == 1 or strides[d - 1] == count * base):
            continue
        taken = 1
        while left and (taken < count or left[-1] == 1):
            found.append(taken * base)
            taken *= left.pop()
        if taken != count:
            return None
        base, count = strides[d - 1], 1
    return None if left else tuple(reversed(found))


# Views: (name of the row, its statics, the base's shape and strides, the view's shape) -> the view's strides


@functools.lru_cache(maxsize=4096)
def strides_of_view(name: str, statics: tuple[Any, ...], shape: Dims, strides: Dims, result: Dims) -> Dims | None:
    """Return the strides of a view; None where no view shows its base so, only a copy."""
    rule = _OF_VIEWS.get(name)
    return viewed(shape, strides, result) if rule is None else rule(shape, strides, result, *statics)


def _swapped(shape: Dims, strides: Dims, result: Dims, dim0: int = -1, dim1: int = -2) -> Dims:
    order = list(strides)
    if len(order) > 1:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return tuple(order)


def _moved(shape: Dims, strides: Dims, result: Dims, source: Dims, destination: Dims) -> Dims:
    rank = len(shape) or 1
    places = {d % rank: s % rank for s, d in zip(source, destination, strict=True)}
    rest = iter(d for d in range(rank) if d not in places.values())
    return tuple(strides[places[d]] if d in places else strides[next(rest)] for d in range(len(shape)))


def _without(shape: Dims, strides: Dims, result: Dims, dim: int) -> Dims:
    dim %= len(shape)
    return strides[:dim] + strides[dim + 1 :]


def _with_one(shape: Dims, strides: Dims, result: Dims, dim: int) -> Dims:
    dim %= len(shape) + 1
    return (*strides[:dim], shape[dim] * strides[dim] if dim < len(shape) else 1, *strides[dim:])


def _stepped(shape: Dims, strides: Dims, result: Dims, dim: int, length: int, step: int = 1, *_: str) -> Dims:
    dim %= len(shape)
    return (*strides[:dim], strides[dim] * step, *strides[dim + 1 :])


def _expanded(shape: Dims, strides: Dims, result: Dims, *_: Any) -> Dims:
    new = len(result) - len(shape)
    kept = (s if n == m else 0 for n, m, s in zip(shape, result[new:], strides, strict=True))
    return (*[0] * new, *kept)


def _diagonal(shape: Dims, strides: Dims, result: Dims, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Dims:
    rank = len(shape)
    rest = (s for d, s in enumerate(strides) if d not in (dim1 % rank, dim2 % rank))
    return (*rest, strides[dim1] + strides[dim2])


def _unfolded(shape: Dims, strides: Dims, result: Dims, dimension: int, size: int, step: int) -> Dims:
    if not shape:
        return (1,)
    dimension %= len(shape)
    return (*strides[:dimension], strides[dimension] * step, *strides[dimension + 1 :], strides[dimension])


_OF_VIEWS: dict[str, Callable[..., Dims | None]] = {
    "transpose": _swapped, "swapaxes": _swapped, "swapdims": _swapped, "t": _swapped, "mT": _swapped, "mH": _swapped,
    "adjoint": _swapped, "H": _swapped, "T": lambda shape, strides, result: strides[::-1],
    "permute": lambda shape, strides, result, dims: tuple(strides[d] for d in dims),
    "movedim": _moved, "select": _without, "select_at": _without, "slice": _stepped, "narrow": _stepped,
    "expand": _expanded, "broadcast_to": _expanded, "diagonal": _diagonal, "tensor_unfold": _unfolded,
    **dict.fromkeys(("alias", "whole", "conj"), lambda shape, strides, result: strides),
    "linalg_diagonal": lambda shape, strides, result, offset=0, dim1=-2, dim2=-1: _diagonal(
        shape, strides, result, offset, dim1, dim2
    ),
    "as_strided": lambda shape, strides, result, size, stride, offset=None: stride,
    "unsqueeze": _with_one,
    "squeeze": lambda shape, strides, result, dim=None: viewed(shape, strides, result),
    "real": lambda shape, strides, result: tuple(2 * s for s in strides),
    "imag": lambda shape, strides, result: tuple(2 * s for s in strides),
    "view_as_real": lambda shape, strides, result: (*(2 * s for s in strides), 1),
    "view_as_complex": lambda shape, strides, result: tuple(s // 2 for s in strides[:-1]),
    "view_dtype": lambda shape, strides, result, dtype: strides if shape == result else dense_strides(result),
}  # fmt: skip
