"""Rows that read and write at places given by tensors of integers: gather, index, index_put, masks.

Places out of range cannot be seen while a program is recorded; the functions refuse them with torch's error, at once or
when results are read (`conditions`). A row itself, which JAX's transformations run, goes on, everywhere the same way:
reading there gives NaN (an integer dtype's smallest number, False), writing there does nothing, and no gradient comes
from there. Negative places count from the end where torch lets them, else they are out of range.
Where two writes meet in one place, one of them wins; both get the gradient, as in torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import require_parts, scalar_name
from funcgrad._ops.conditions import are_elements, are_parts, are_slices
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, Arrays, Indices, Mask, Operand, Scalar, op

_ALL = np.s_[:]


def not_negative(index: Array, size: int) -> Array:
    """Put negative places out of range, where torch does not let them count from the end; int32 where that suffices."""
    kept = jnp.where((index < 0) | (index > size), size, index)
    return kept.astype(np.int32) if size < np.iinfo(np.int32).max else kept


def read_at(input: Array, places: Any) -> Array:
    """Read at `places` (numpy's rules); out of range gives NaN or the dtype's smallest number, and no gradient."""
    fill = False if input.dtype == bool else None
    return input.at[places].get(mode="fill", fill_value=fill)


def write_at(input: Array, places: Any, new: Array) -> Array:
    """Write `new` at `places`; out of range is left out. The gradient is read back at every place."""
    # unique_indices only picks the plain gradient (gather) here: JAX would else search for the write that won.
    return input.at[places].set(new, mode="drop", unique_indices=True)


def add_at(input: Array, places: Any, new: Array) -> Array:
    """Add `new` at `places`, each as often as it is named; out of range is left out. Truth values: or."""
    if input.dtype == bool:
        return input.at[places].max(new, mode="drop")
    return input.at[places].add(new, mode="drop")


def along(index: Array, dim: int, size: int) -> tuple[Any, ...]:
    """Return numpy's index for torch's gather and scatter: `index` along `dim`, its own position along the others."""
    grid: list[Any] = []
    for d, length in enumerate(index.shape):
        shape = [1] * index.ndim
        shape[d] = length
        grid.append(jnp.arange(length, dtype=np.int32).reshape(shape))
    grid[dim] = not_negative(index, size)
    return tuple(grid)


def _at_dim(input: Array, dim: int, index: Array) -> tuple[Any, ...]:
    return (_ALL,) * dim + (index,) + (_ALL,) * (input.ndim - dim - 1)


def integers(index: Array, name: str) -> None:
    """Raise torch's error for places, if there are any, that are no int32 or int64."""
    if index.size and index.dtype not in (np.int32, np.int64):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def _gathered(input: Array, dim: int, index: Array) -> Array:
    size = input.shape[dim]
    if index.size == 0:
        return jnp.zeros(index.shape, input.dtype)
    cut = [n if d == dim else m for d, (n, m) in enumerate(zip(input.shape, index.shape, strict=True))]
    fill = False if input.dtype == bool else None
    part = lax.slice(input, [0] * input.ndim, cut)
    return jnp.take_along_axis(part, not_negative(index, size), dim, mode="fill", fill_value=fill)


@op(grad="GatherBackward0", names="")
def gather(input: Array, dim: int, index: Indices, *, sparse_grad: bool = False) -> Array:
    """Return input[i][index[i][j]] for dim = 1, and so on. Shape: that of `index`."""
    dim = dim_of(input.ndim, dim)
    integers(index, "gather")
    if index.size == 0:
        return jnp.zeros(index.shape, input.dtype)
    if max(input.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if input.ndim == 0 or index.ndim == 0:
        return _gathered(input.reshape(-1), 0, index.reshape(-1)).reshape(index.shape)
    for d, (n, m) in enumerate(zip(input.shape, index.shape, strict=True)):
        if d != dim and m > n and index.size:
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no larger than self "
                f"{list(input.shape)} apart from dimension {dim}"
            )
    return _gathered(input, dim, index)


@op(grad="GatherBackward0", names="")
def gather_rows(input: Array, dim: int, index: Indices, *, sparse_grad: bool = False) -> Array:
    """Do what `gather` does, with the one column of places, `index`, that is the same for all others."""
    integers(index, "gather")
    dim = dim_of(input.ndim, dim)
    return read_at(input, _at_dim(input, dim, not_negative(index.reshape(-1), input.shape[dim])))


def _take_along_node(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
    whole = not statics or statics[0] is None
    return ("GatherBackward0", ("ViewBackward0" if whole else "ExpandBackward0", "input"))


@op(grad=_take_along_node)
def take_along_dim(input: Array, indices: Indices, dim: int | None = None) -> Array:
    """Gather along `dim`, where places wrap, the other dimensions broadcast; without `dim`, from the flat tensor."""
    if indices.dtype != np.int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {scalar_name(indices)}")
    if dim is None:
        return _gathered(input.reshape(-1), 0, _from_front(indices.reshape(-1), input.size))
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = dim_of(input.ndim, dim)
    shape = list(broadcast_shape(*((*x.shape[:dim], 1, *x.shape[dim + 1 :]) for x in (input, indices))))
    shape[dim] = input.shape[dim]
    whole = jnp.broadcast_to(input, shape)
    shape[dim] = indices.shape[dim]
    return _gathered(whole, dim, jnp.broadcast_to(_from_front(indices, input.shape[dim]), shape))


def _from_front(indices: Array, size: int) -> Array:
    """Count from the front; torch counts on from either end, so that no place is out of range."""
    return jnp.remainder(indices, size) if size else indices


@op(grad="IndexSelectBackward0", demands=(are_parts.of("index", "input", "dim"),))
def index_select(input: Array, dim: int, index: Indices) -> Array:
    """Return the parts of one dimension that a vector of places names."""
    dim = dim_of(input.ndim, dim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    index = index.reshape(-1)
    if index.dtype not in (np.int32, np.int64):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if input.ndim == 0:
        if index.size != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
        return read_at(input.reshape(1), not_negative(index, 1)).reshape(())
    return read_at(input, _at_dim(input, dim, not_negative(index, input.shape[dim])))


def _check_copied(input: Array, dim: int, index: Array, source: Array) -> None:
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if source.ndim == 0 and index.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.size})")
    if source.ndim != input.ndim and source.ndim and input.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {scalar_name(index)}")
    if input.dtype != source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{scalar_name(input)} and (source) {scalar_name(source)}"
        )
    kept = [x.shape[:dim] + x.shape[dim + 1 :] for x in (input, source)]
    if kept[0] != kept[1]:
        slices = [" ".join(map(str, shape)) for shape in kept]
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{slices[0]} at dimension {dim} and source slice shape: {slices[1]} at dimension 0."
        )
    if source.ndim and index.size != source.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({source.shape[dim]})"
        )


@op(grad="IndexAddBackward0", names="index_add .index_add .index_add_")
def index_add(input: Array, dim: int, index: Indices, source: Array, *, alpha: Scalar = 1) -> Array:
    """Return `input` with alpha * source[i] added to its part at index[i] of one dimension."""
    dim = dim_of(input.ndim, dim)
    require_parts(input, dim, index, source, "index_add")
    index = index.reshape(-1)
    scaled = source if isinstance(alpha, int) and alpha == 1 else (alpha * source).astype(input.dtype)
    if input.ndim == 0:
        return add_at(input.reshape(1), (not_negative(index, 1),), scaled.reshape(-1)).reshape(())
    return add_at(input, _at_dim(input, dim, not_negative(index, input.shape[dim])), scaled)


@op(
    grad="IndexCopyBackward0",
    names="index_copy .index_copy .index_copy_",
    demands=(are_slices.of("index", "input", "dim", wraps=False, function="index_copy_(): "),),
)
def index_copy(input: Array, dim: int, index: Indices, source: Array) -> Array:
    """Return `input` with source[i] at index[i] of one dimension."""
    dim = dim_of(input.ndim, dim)
    _check_copied(input, dim, index, source)
    index = index.reshape(-1)
    if input.ndim == 0:
        return write_at(input.reshape(1), (not_negative(index, 1),), source.reshape(-1)).reshape(())
    return write_at(input, _at_dim(input, dim, not_negative(index, input.shape[dim])), source)


@op(
    grad=lambda shapes, statics: "IndexFillBackward1" if isinstance(shapes[2], tuple) else "IndexFillBackward0",
    names="index_fill .index_fill .index_fill_",
    demands=(are_slices.of("index", "input", "dim", wraps=True, function=""),),
)
def index_fill(input: Array, dim: int, index: Indices, value: Operand) -> Array:
    """Return `input` with one number at the named places of one dimension."""
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    number = jnp.asarray(value)
    if number.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {number.ndim} dimension(s)."
        )
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    dim, index = dim_of(input.ndim, dim), index.reshape(-1)
    number = lax.convert_element_type(number, input.dtype)
    if input.ndim == 0:
        return write_at(input.reshape(1), (index,), number).reshape(())
    hit = jnp.zeros(input.shape[dim], bool).at[index].set(True, mode="drop")
    return jnp.where(hit.reshape((-1,) + (1,) * (input.ndim - dim - 1)), number, input)


@op(grad="TakeBackward0", demands=(are_elements.of("index", "input"),))
def take(input: Array, index: Indices) -> Array:
    """Return the elements of the flattened tensor at the named places. Shape: that of `index`."""
    if index.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {scalar_name(index)}")
    return read_at(input.reshape(-1), index)


@op(grad="PutBackward0", names="put .put .put_", demands=(are_elements.of("index", "input"),))
def put(input: Array, index: Indices, source: Array, accumulate: bool = False) -> Array:
    """Return `input` with `source` written (or added) at the named places of the flattened tensor.

    Shape: index (*), source with as many elements, result as `input`.
    """
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {scalar_name(index)}")
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    if input.dtype != source.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {scalar_name(input)} and "
            f"source.dtype = {scalar_name(source)}"
        )
    change = add_at if accumulate else write_at
    return change(input.reshape(-1), index.reshape(-1), source.reshape(-1)).reshape(input.shape)


def _masked(input: Array, mask: Array, name: str) -> tuple[Array, Array]:
    if mask.dtype != bool:
        raise RuntimeError(f"{name} only supports boolean masks, but got mask with dtype {scalar_name(mask)}")
    shape = np.broadcast_shapes(input.shape, mask.shape)
    return jnp.broadcast_to(input, shape), jnp.broadcast_to(mask, shape)


@op(grad="MaskedScatterBackward0", names="masked_scatter .masked_scatter .masked_scatter_")
def masked_scatter(input: Array, mask: Mask, source: Array) -> Array:
    """Return `input` with the elements of `source`, in order, where `mask` is true."""
    if input.dtype != source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{scalar_name(input)} and "
            f"{scalar_name(source)}"
        )
    input, mask = _masked(input, mask, "masked_scatter_")
    place = jnp.cumsum(mask.reshape(-1)) - 1
    if source.size == 0:  # all that is true is out of range of what stands in its place
        source, place = jnp.zeros(1, source.dtype), place + 1
    return jnp.where(mask, read_at(source.reshape(-1), place).reshape(input.shape), input)


def require_together(shapes: Sequence[tuple[int, ...]]) -> None:
    """IndexError for places whose shapes cannot be broadcast together."""
    try:
        jnp.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(list(shape)) for shape in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
        ) from None


def _places(input: Array, indices: Arrays, layout: Sequence[int | None]) -> tuple[Any, ...]:
    if len(layout) > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim}")
    for index in indices:
        if index.dtype.kind not in "iu":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    require_together([index.shape for index in indices])
    return tuple(_ALL if which is None else indices[which] for which in layout)


@op(grad="IndexBackward0", names="")
def index(input: Array, indices: Arrays, layout: tuple[int | None, ...]) -> Array:
    """Return input[...] with indices[layout[d]] in dimension d, all of it where layout[d] is None.

    The tensors broadcast; their dimensions come where the first tensor stood, or in front where a full dimension parts
    them, as in numpy. Negative places count from the end.
    """
    return read_at(input, _places(input, indices, layout))


def _fits_places(input: Array, places: Any, values: Array) -> Array:
    if values.dtype != input.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {scalar_name(input)} for the destination "
            f"and {scalar_name(values)} for the source."
        )
    shape = index_shape(input.shape, places)
    extra = values.ndim - len(shape)
    if extra > 0 and math.prod(values.shape[:extra]) == 1:
        values = values.reshape(values.shape[extra:])
    try:
        return jnp.broadcast_to(values, shape)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        ) from None


def index_shape(shape: Sequence[int], places: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape of what `places` (full slices and arrays) select from a tensor of this shape."""
    taken = [d for d, place in enumerate(places) if place is not _ALL]
    if not taken:
        return tuple(shape)
    rest = [length for d, length in enumerate(shape) if d not in taken]
    picked: Any = jnp.broadcast_shapes(*(places[d].shape for d in taken))
    start = taken[0] if taken[-1] - taken[0] < len(taken) else 0  # in front where full dimensions stand between them
    return (*rest[:start], *picked, *rest[start:])


@op(grad="IndexPutBackward0", names="")
def index_put(
    input: Array, indices: Arrays, values: Array, layout: tuple[int | None, ...], accumulate: bool = False
) -> Array:
    """Return `input` with `values` (broadcast) written, or added, where `index` with this layout would read."""
    places = _places(input, indices, layout)
    values = _fits_places(input, places, values)
    return (add_at if accumulate else write_at)(input, places, values)


@op(grad="IndexPutBackward0", names="")
def masked_set(input: Array, mask: Mask, value: Array, dim: int = 0) -> Array:
    """Return `input` with `value` where `mask`, whose dimensions are those from `dim` on, is true.

    `value` broadcasts to one selected part: to the dimensions behind the mask's, with those before `dim`.
    """
    after = input.ndim - dim - mask.ndim
    for d, length in enumerate(mask.shape):
        if after < 0 or length != input.shape[dim + d]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {d} does not match the shape of the indexed tensor "
                f"{list(input.shape)} at index {dim + d}"
            )
    value = lax.convert_element_type(value, input.dtype)
    lead = value.ndim - after
    if lead > 0:  # the dimension that counts selected parts must be 1: it becomes the mask's dimensions
        before = value.shape[: max(lead - 1, 0)]
        value = value.reshape(*before, *(1,) * mask.ndim, *value.shape[lead:])
    return jnp.where(mask.reshape(mask.shape + (1,) * after), value, input)


@op(grad="IndexPutBackward0", names="")
def masked_move(input: Array, mask: Mask, source: Array, dim: int = 0) -> Array:
    """Return `input` with what `source`, of its shape, has where `mask`, of dimensions from `dim` on, is true."""
    after = input.ndim - dim - mask.ndim
    return jnp.where(mask.reshape(mask.shape + (1,) * after), source, input)


@op(names="nonzero_static .nonzero_static")
def nonzero_static(input: Array, *, size: int, fill_value: int = -1) -> Array:
    """Return the places of the first `size` nonzero elements, one a row; missing rows hold `fill_value`."""
    if input.size == 0:
        return jnp.full((size, input.ndim), fill_value, np.int64)
    found = jnp.nonzero(input, size=size, fill_value=fill_value) if input.ndim else ()
    return jnp.stack(found, -1).astype(np.int64) if found else jnp.zeros((size, 0), np.int64)
