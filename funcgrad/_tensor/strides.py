"""The strides that torch's tensor would have: they say whether `contiguous` and `reshape` copy or share storage.

XLA lays out arrays as it likes; here a tensor is contiguous unless it is a view to which torch gives other strides.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from funcgrad._tensor.aliases import View
from funcgrad._tensor.tensor import Tensor

Strides = tuple[int, ...]


def strides_of(tensor: Tensor) -> Strides:
    """Return the strides in elements."""
    shape, alias = tuple(tensor.shape), tensor._alias
    if type(alias) is not View:
        return contiguous_strides(shape)
    base = alias.base
    return _of_view(alias.op.name, alias.statics, tuple(base.shape), strides_of(base), shape)


def is_contiguous(tensor: Tensor) -> bool:
    """Tell whether the elements lie in storage in their order."""
    if type(tensor._alias) is not View:
        return True
    shape = tuple(tensor.shape)
    return _agree(shape, strides_of(tensor), contiguous_strides(shape))


def storage_order(tensor: Tensor) -> tuple[int, ...] | None:
    """Return the dimensions, those with the longest steps in storage first; None where that is their order already."""
    if is_contiguous(tensor):
        return None
    return _by_steps(tuple(tensor.shape), strides_of(tensor))


@functools.lru_cache(maxsize=4096)
def _by_steps(shape: Strides, strides: Strides) -> tuple[int, ...] | None:
    """Return the dimensions by falling stride; those that repeat storage, or are one long, stay where they are."""
    moving = [d for d, size in enumerate(shape) if size != 1]
    if any(strides[d] == 0 for d in moving):
        return None
    falling = iter(sorted(moving, key=lambda d: -strides[d]))
    order = tuple(next(falling) if d in moving else d for d in range(len(shape)))
    return None if order == tuple(range(len(shape))) else order


def offset_of(tensor: Tensor) -> int:
    """Return where in its storage the tensor begins. A place given by a tensor counts as 0: it is not known here."""
    alias = tensor._alias
    if type(alias) is not View:
        return 0
    start, name, steps = offset_of(alias.base), alias.op.name, strides_of(alias.base)
    if name in ("select", "slice", "narrow") and type(alias.inputs[0]) is int:
        dim = alias.statics[0]
        return start + alias.inputs[0] % max(alias.base.shape[dim], 1) * steps[dim]
    if name == "diagonal":
        offset, dim1, dim2 = (*alias.statics, *(0, 0, 1)[len(alias.statics) :])
        return start + (offset * steps[dim2] if offset >= 0 else -offset * steps[dim1])
    if name == "as_strided" and len(alias.statics) > 2:
        return alias.statics[2] or 0
    return start


@functools.lru_cache(maxsize=1024)
def contiguous_strides(shape: Strides) -> Strides:
    """Return the strides of a contiguous tensor of this shape."""
    return tuple(math.prod(max(n, 1) for n in shape[d + 1 :]) for d in range(len(shape)))


def viewed(shape: Sequence[int], strides: Strides, wanted: Sequence[int]) -> Strides | None:
    """Return the strides with which the same storage shows another shape, or None where only a copy does."""
    if math.prod(shape) == 0:
        return strides if tuple(shape) == tuple(wanted) else contiguous_strides(tuple(wanted))
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


def _agree(shape: Strides, strides: Strides, wanted: Strides) -> bool:
    return 0 in shape or all(a == b or n == 1 for n, a, b in zip(shape, strides, wanted, strict=True))


@functools.lru_cache(maxsize=4096)
def _of_view(name: str, statics: tuple[Any, ...], shape: Strides, strides: Strides, result: Strides) -> Strides:
    rule = _RULES.get(name)
    if rule is not None:
        return rule(shape, strides, result, *statics)
    return viewed(shape, strides, result) or contiguous_strides(result)


def _swapped(shape: Strides, strides: Strides, result: Strides, dim0: int = -1, dim1: int = -2) -> Strides:
    order = list(strides)
    if len(order) > 1:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return tuple(order)


def _permuted(shape: Strides, strides: Strides, result: Strides, dims: Strides) -> Strides:
    return tuple(strides[d] for d in dims)


def _moved(shape: Strides, strides: Strides, result: Strides, source: Strides, destination: Strides) -> Strides:
    rank = len(shape)
    places = {d % rank: s % rank for s, d in zip(source, destination, strict=True)}
    rest = iter(d for d in range(rank) if d not in places.values())
    return tuple(strides[places[d]] if d in places else strides[next(rest)] for d in range(rank))


def _without(shape: Strides, strides: Strides, result: Strides, dim: int) -> Strides:
    dim %= len(shape)
    return strides[:dim] + strides[dim + 1 :]


def _stepped(
    shape: Strides, strides: Strides, result: Strides, dim: int, length: int, step: int = 1, *_: str
) -> Strides:
    dim %= len(shape)
    return (*strides[:dim], strides[dim] * step, *strides[dim + 1 :])


def _expanded(shape: Strides, strides: Strides, result: Strides, *_: Any) -> Strides:
    new = len(result) - len(shape)
    kept = (s if n == m else 0 for n, m, s in zip(shape, result[new:], strides, strict=True))
    return (*[0] * new, *kept)


def _diagonal(
    shape: Strides, strides: Strides, result: Strides, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Strides:
    rank = len(shape)
    rest = (s for d, s in enumerate(strides) if d not in (dim1 % rank, dim2 % rank))
    return (*rest, strides[dim1] + strides[dim2])


def _unfolded(shape: Strides, strides: Strides, result: Strides, dimension: int, size: int, step: int) -> Strides:
    if not shape:
        return (1,)
    dimension %= len(shape)
    return (*strides[:dimension], strides[dimension] * step, *strides[dimension + 1 :], strides[dimension])


_RULES = {
    "transpose": _swapped, "swapaxes": _swapped, "swapdims": _swapped, "t": _swapped, "mT": _swapped, "mH": _swapped,
    "adjoint": _swapped, "H": _swapped, "T": lambda shape, strides, result: strides[::-1], "permute": _permuted,
    "movedim": _moved, "select": _without, "select_at": _without, "slice": _stepped, "narrow": _stepped,
    "expand": _expanded, "broadcast_to": _expanded, "diagonal": _diagonal, "tensor_unfold": _unfolded,
    "alias": lambda shape, strides, result: strides, "whole": lambda shape, strides, result: strides,
    "linalg_diagonal": lambda shape, strides, result, offset=0, dim1=-2, dim2=-1: _diagonal(
        shape, strides, result, offset, dim1, dim2
    ),
    "as_strided": lambda shape, strides, result, size, stride, offset=None: stride,
    "squeeze": lambda shape, strides, result, dim=None: viewed(shape, strides, result),
    "real": lambda shape, strides, result: tuple(2 * s for s in strides),
    "imag": lambda shape, strides, result: tuple(2 * s for s in strides),
}  # fmt: skip
