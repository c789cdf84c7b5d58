"""Reductions of nested tensors, and softmax: over the ragged dimension each entry by itself, else as of the values."""

from __future__ import annotations

import math
from typing import Any

from funcgrad._base.info import finfo, iinfo
from funcgrad._tensor.overriding import name_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.padding import filled, from_rectangle, held_as, rectangle
from funcgrad.nested.shaping import from_parts
from funcgrad.nested.tensor import NestedTensor, dim_in, handles


def _least(input: NestedTensor) -> Any:
    """Return a number that no maximum is."""
    if not input.dtype.is_floating_point:
        return iinfo(input.dtype).min if input.dtype.name != "bool" else False
    return -math.inf


def _greatest(input: NestedTensor) -> Any:
    if not input.dtype.is_floating_point:
        return iinfo(input.dtype).max if input.dtype.name != "bool" else True
    return math.inf


_FILLERS: dict[str, Any] = {
    "sum": 0, "mean": 0, "prod": 1, "any": False, "all": True, "amax": _least, "max": _least, "argmax": _least,
    "amin": _greatest, "min": _greatest, "argmin": _greatest,
}  # fmt: skip


@handles(*_FILLERS)
def _reduced(func: Any, input: NestedTensor, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
    """Reduce all, the ragged dimension (a dense result), others (a nested one), or the batch and the ragged one."""
    name = name_of(func)
    if isinstance(dim, Tensor):
        raise NotImplementedError(f"aten.{name}: of two tensors, see maximum() and minimum()")
    if input._raggedness.lengths is not None and (dim is None or _covers(input, dim)):
        input = from_parts(input.unbind(), input._ragged_idx)  # what lies in holes does not count
    if dim is None:
        return func(input._plain(), **options)
    dims = sorted({dim_in(d, input.ndim) for d in ([dim] if isinstance(dim, int) else dim)})
    ragged = input._ragged_idx
    if len(dims) == input.ndim:
        return func(input._plain(), **options)
    if 0 in dims:
        if ragged not in dims:
            raise RuntimeError(
                f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for "
                "nested tensors"
            )
        result = func(input._plain(), [d - 1 for d in dims if d], keepdim, **options)
        return result.unsqueeze(0) if keepdim else result
    if ragged not in dims:
        inner = [d - 1 for d in dims]
        at = ragged if keepdim else ragged - sum(d < ragged for d in dims)
        return _nested(func(input._plain(), inner[0] if len(inner) == 1 else inner, keepdim, **options), input, at)
    if len(dims) > 1:
        raise RuntimeError(
            f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested tensors"
        )
    return _of_entries(func, name, input, keepdim, options)


def _covers(input: NestedTensor, dim: Any) -> bool:
    return input._ragged_idx in [dim_in(d, input.ndim) for d in ([dim] if isinstance(dim, int) else dim)]


def _nested(result: Any, input: NestedTensor, ragged_idx: int) -> Any:
    if isinstance(result, tuple):
        kind: Any = type(result)
        return kind(*(NestedTensor._made(x, input._raggedness, ragged_idx) for x in result))
    return NestedTensor._made(result, input._raggedness, ragged_idx)


def _of_entries(func: Any, name: str, input: NestedTensor, keepdim: bool, options: dict[str, Any]) -> Any:
    filler = _FILLERS[name](input) if callable(_FILLERS[name]) else _FILLERS[name]
    padded = filled(input, filler).movedim(1, input._ragged_idx)
    if name == "mean":
        sizes = input._raggedness.offsets.diff() if input._raggedness.lengths is None else input._raggedness.lengths
        total = padded.sum(input._ragged_idx, keepdim, **options)
        return total / sizes.to(total.dtype).reshape(-1, *(1,) * (total.ndim - 1))
    return func(padded, input._ragged_idx, keepdim, **options)


@handles("softmax", "log_softmax", "softmin")
def _softmax(func: Any, input: NestedTensor, dim: int | None = None, *rest: Any, **options: Any) -> NestedTensor:
    place = dim_in(input.ndim - 1 if dim is None else dim, input.ndim)
    if place == 0:
        raise RuntimeError(
            f"{name_of(func)}(): not supported when reducing across the batch dimension for NestedTensor"
        )
    if place != input._ragged_idx:
        return input._like(func(input._plain(), place - 1, *rest, **options))
    read, is_held = rectangle(input)
    least = finfo(input.dtype).min if name_of(func) != "softmin" else finfo(input.dtype).max
    shares = func(read.masked_fill(~held_as(is_held, read), least), 1, *rest, **options)
    return from_rectangle(shares, input._raggedness, input._ragged_idx)
