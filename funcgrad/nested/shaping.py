"""Shapes of nested tensors: what cuts, joins, turns and views them; the batch stays first, the ragged size whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._tensor import functions
from funcgrad._tensor.interop import from_host, host_numbers
from funcgrad._tensor.overriding import name_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.raggedness import Raggedness, RaggedSize
from funcgrad.nested.tensor import NestedTensor, dim_in, handles


def not_ragged(nested: NestedTensor, dim: int, name: str) -> int:
    """Return a dimension's place among the values' ones. RuntimeError for the batch and for the ragged dimension."""
    inner = nested._inner(dim, name)
    if inner == nested._ragged_idx - 1:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    return inner


def shown(shape: Sequence[Any]) -> str:
    """Write a shape as torch does in what it says of nested tensors."""
    return f"({', '.join(map(str, shape))})"


def from_parts(parts: Sequence[Tensor], ragged_idx: int = 1) -> NestedTensor:
    """Return the nested tensor of entries, with their history."""
    ragged = Raggedness.of_sizes([part.shape[ragged_idx - 1] for part in parts], parts[0].device)
    return NestedTensor._made(joined(parts, ragged_idx - 1), ragged, ragged_idx)


def joined(parts: Sequence[Tensor], dim: int) -> Tensor:
    """Join tensors; in numpy where all are there already, since a program would have each of their sizes in it."""
    hosts = [None if part.requires_grad else host_numbers(part._current().value) for part in parts]
    known = [host for host in hosts if host is not None]
    if len(known) < len(parts):
        return functions.cat(list(parts), dim)
    return from_host(np.concatenate(known, dim), dtype=parts[0].dtype, device=parts[0].device)


@handles("__getitem__")
def _get_item(func: Any, input: NestedTensor, index: Any) -> Tensor:
    first, *rest = index if isinstance(index, tuple) else (index,)
    if isinstance(first, int):
        entry = _select(func, input, 0, first)
        return entry[tuple(rest)] if rest else entry
    if first is not Ellipsis:
        raise RuntimeError("slice(): not supported for NestedTensor on dim=0")
    taken = sum(part is not None for part in rest)
    if taken > input.ndim - 1 - input._ragged_idx:
        raise RuntimeError("slice(): not supported for NestedTensor on ragged dim")
    return input._like(func(input._shared(), (Ellipsis, *rest)))


@handles("select")
def _select(func: Any, input: NestedTensor, dim: int, index: int) -> Tensor:
    if dim_in(dim, input.ndim) == 0:
        count = len(input)
        if not -count <= index < count:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {count}")
        ragged, place = input._raggedness, index % count
        start, size = int(ragged.starts[place]), int(ragged.sizes[place])
        return input._shared().narrow(input._ragged_idx - 1, start, size)
    inner = not_ragged(input, dim, "select")
    ragged_idx = input._ragged_idx - (inner < input._ragged_idx - 1)
    return NestedTensor._made(input._shared().select(inner, index), input._raggedness, ragged_idx)


@handles("narrow")
def _narrow(func: Any, input: NestedTensor, dim: int, start: int, length: int) -> NestedTensor:
    return input._like(input._shared().narrow(not_ragged(input, dim, "narrow"), start, length))


@handles("chunk")
def _chunk(func: Any, input: NestedTensor, chunks: int, dim: int = 0) -> tuple[NestedTensor, ...]:
    if dim_in(dim, input.ndim) == 0:
        parts, each = input.unbind(), -(-len(input) // chunks)
        return tuple(from_parts(parts[i : i + each], input._ragged_idx) for i in range(0, len(parts), each))
    inner = not_ragged(input, dim, "chunk")
    return tuple(input._like(part) for part in func(input._shared(), chunks, inner))


@handles("split", "split_with_sizes")
def _split(func: Any, input: NestedTensor, sizes: Any, dim: int = 0) -> tuple[NestedTensor, ...]:
    inner = not_ragged(input, dim, "split")
    return tuple(input._like(part) for part in func(input._shared(), sizes, inner))


@handles("unbind")
def _unbind(func: Any, input: NestedTensor, dim: int = 0) -> tuple[Tensor, ...]:
    return input.unbind(dim)


@handles("cat", "concat", "concatenate", "stack")
def _joined(func: Any, tensors: Sequence[Any], dim: int = 0, **options: Any) -> NestedTensor:
    name = name_of(func)
    first = next(x for x in tensors if isinstance(x, NestedTensor))
    if not all(isinstance(x, NestedTensor) and x._raggedness is first._raggedness for x in tensors):
        shapes = ", ".join(shown(x.shape) for x in tensors)
        raise RuntimeError(f"{name}(): expected nested tensors that are equally ragged, but got shapes {shapes}")
    place = dim_in(dim, first.ndim + (name == "stack"))
    if place == 0:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    if place == first._ragged_idx and name != "stack":
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    joined = func([x._plain() for x in tensors], place - 1, **options)
    moves = name == "stack" and place <= first._ragged_idx
    return NestedTensor._made(joined, first._raggedness, first._ragged_idx + moves)


@handles("transpose", "swapaxes", "swapdims", "transpose_")
def _transpose(func: Any, input: NestedTensor, dim0: int, dim1: int) -> NestedTensor:
    one, other = dim_in(dim0, input.ndim), dim_in(dim1, input.ndim)
    if one == other:
        return input
    if 0 in (one, other):
        raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
    at = input._ragged_idx
    moved = other if at == one else one if at == other else at
    return NestedTensor._made(func(input._shared(), one - 1, other - 1), input._raggedness, moved)


@handles("mT")
def _matrix_transpose(func: Any, input: NestedTensor) -> NestedTensor:
    return _transpose(Tensor.transpose, input, -2, -1)


@handles("permute", "T")
def _permute(func: Any, input: NestedTensor, *dims: Any) -> NestedTensor:
    given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims or range(input.ndim)[::-1]
    order = [dim_in(dim, input.ndim) for dim in given]
    if order[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    values = input._shared().permute([dim - 1 for dim in order[1:]])
    return NestedTensor._made(values, input._raggedness, order.index(input._ragged_idx))


@handles("flatten")
def _flatten(func: Any, input: NestedTensor, start_dim: int = 0, end_dim: int = -1) -> NestedTensor:
    start, end = dim_in(start_dim, input.ndim), dim_in(end_dim, input.ndim)
    if start == end:
        return input
    if start == 0:
        raise RuntimeError("flatten(): not supported for NestedTensor on dim=0")
    if start <= input._ragged_idx <= end:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    at = input._ragged_idx - (end - start if end < input._ragged_idx else 0)
    return NestedTensor._made(func(input._shared(), start - 1, end - 1), input._raggedness, at)


@handles("unflatten")
def _unflatten(func: Any, input: NestedTensor, dim: int, sizes: Any, *rest: Any) -> NestedTensor:
    place = dim_in(dim, input.ndim)
    if place == input._ragged_idx:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {place} "
            f"({input.shape[place]}) in the input tensor"
        )
    inner = input._inner(dim, "unflatten")
    at = input._ragged_idx + (len(sizes) - 1 if place < input._ragged_idx else 0)
    return NestedTensor._made(func(input._shared(), inner, sizes), input._raggedness, at)


@handles("view", "reshape", "expand")
def _view(func: Any, input: NestedTensor, *sizes: Any, **options: Any) -> NestedTensor:
    given = list(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], (int, RaggedSize)) else sizes)
    shape = list(options.pop("shape", options.pop("size", given)))
    at = _place_of_ragged(input, shape)
    if at is None or not _holds_as_many(input, shape, at):
        raise RuntimeError(f"{name_of(func)}(): cannot view shape {shown(input.shape)} as {shape}")
    if name_of(func) == "expand":
        shape = [own if size == -1 else size for size, own in zip(shape, input.shape, strict=True)]
    inner = shape[1:]
    inner[at - 1] = input._plain().shape[input._ragged_idx - 1]
    return NestedTensor._made(func(input._shared(), inner), input._raggedness, at)


def _place_of_ragged(input: NestedTensor, shape: Sequence[Any]) -> int | None:
    """Return where a new shape has the ragged size, by its symbol or by -1; None where it cannot be kept."""
    before = input.shape[1 : input._ragged_idx]
    if len(shape) < 2 or shape[0] not in (len(input), -1) or (shape[0] == -1 and shape.count(-1) > 1 and before):
        return None
    symbols = [i for i, size in enumerate(shape) if isinstance(size, RaggedSize)]
    if symbols:
        return symbols[0] if shape[symbols[0]] == input._raggedness.symbol else None
    sizes, product = list(shape[1:]), 1
    for place, size in enumerate(sizes, 1):
        if size == -1 and product == before.numel():
            return place
        product *= size
    return None


def _holds_as_many(input: NestedTensor, shape: Sequence[Any], at: int) -> bool:
    """Tell whether the dimensions beside the ragged one can be these: an expanded size counts as one."""
    own = [size for place, size in enumerate(input.shape) if place not in (0, input._ragged_idx)]
    new = [size for place, size in enumerate(shape) if place not in (0, at)]
    return new.count(-1) > 0 or math.prod(new) % max(math.prod(own), 1) == 0


@handles("view_as", "expand_as", "reshape_as")
def _view_as(func: Any, input: NestedTensor, other: Tensor) -> NestedTensor:
    return _view(Tensor.view, input, *other.shape)


@handles("squeeze")
def _squeeze(func: Any, input: NestedTensor, *dims: Any) -> NestedTensor:
    given = list(dims[0] if dims and not isinstance(dims[0], int) else dims)
    if not given:
        raise RuntimeError("squeeze(): For NJT, squeeze() needs a dim")
    places = sorted(not_ragged(input, dim, "squeeze") for dim in given)
    values = input._shared()
    gone = [place for place in places if values.shape[place] == 1]
    at = input._ragged_idx - sum(place < input._ragged_idx - 1 for place in gone)
    return NestedTensor._made(values.squeeze(tuple(gone)) if gone else values, input._raggedness, at)


@handles("unsqueeze")
def _unsqueeze(func: Any, input: NestedTensor, dim: int) -> NestedTensor:
    place = dim_in(dim, input.ndim + 1)
    if place == 0:
        raise RuntimeError("unsqueeze(): not supported for NestedTensor on dim=0")
    at = input._ragged_idx + (place <= input._ragged_idx)
    return NestedTensor._made(input._shared().unsqueeze(place - 1), input._raggedness, at)


@handles("contiguous", "clone")
def _contiguous(func: Any, input: NestedTensor, **options: Any) -> NestedTensor:
    """Return the values in one piece, the holes between entries left out."""
    if name_of(func) == "clone":
        return input._like(input._plain().clone())
    if input._raggedness.lengths is not None:
        return from_parts(input.unbind(), input._ragged_idx)
    return input._like(input._plain().contiguous())


@handles("broadcast_tensors")
def _broadcast_tensors(func: Any, *tensors: Any) -> tuple[Any, ...]:
    return tuple(tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors)


@handles("numel", "nelement")
def _numel(func: Any, input: NestedTensor) -> int:
    return input.numel()


@handles("is_same_size")
def _is_same_size(func: Any, input: Tensor, other: Tensor) -> bool:
    return input.shape == other.shape
