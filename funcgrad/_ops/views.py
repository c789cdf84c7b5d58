"""Rows that show all elements of a tensor in another shape or order, and how writing to a view changes its base."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name, tensor_type_name
from funcgrad._ops.broadcasting import stretched
from funcgrad._ops.dims import dim_of, dims_of
from funcgrad._ops.table import Array, Dims, DType, op


def reshape_back(base: Array, new: Array, *_: Any) -> Array:
    """Write through a view that keeps all elements in their order."""
    return lax.reshape(new, base.shape)


def inferred_size(count: int, size: Sequence[int]) -> Dims:
    """Return `size` with its -1 replaced, so that it holds `count` elements; RuntimeError where it cannot."""
    listed = list(size)
    for position, length in enumerate(listed):
        if length < -1:
            raise RuntimeError(f"invalid shape dimension {length} at index {position} of shape {listed}")
    if listed.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    known = math.prod(length for length in listed if length != -1)
    if -1 in listed and known == 0 and count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {listed} because the unspecified dimension size -1 can be "
            "any value and is ambiguous"
        )
    if known != count if -1 not in listed else known == 0 or count % known:
        raise RuntimeError(f"shape '{listed}' is invalid for input of size {count}")
    return tuple(count // known if length == -1 else length for length in listed)


@op(grad="ViewBackward0", names=".view", write_back=reshape_back)
def view(input: Array, size: Dims) -> Array:
    """Return the same elements in shape `size`, where one -1 is inferred. RuntimeError where the count differs."""
    return lax.reshape(input, inferred_size(input.size, size))


@op(grad="ViewBackward0", names="reshape .reshape", write_back=reshape_back)
def reshape(input: Array, shape: Dims) -> Array:
    """Return the same elements in shape `shape`, where one -1 is inferred. RuntimeError where the count differs."""
    return lax.reshape(input, inferred_size(input.size, shape))


@op(grad="ReshapeAliasBackward0", names="", write_back=reshape_back)
def reshape_alias(input: Array, shape: Dims) -> Array:
    """Return the same elements in shape `shape`, where a view of torch's shows them so, but not all as they lie."""
    return lax.reshape(input, shape)


@op(grad=("UnsafeViewBackward0", ("CloneBackward0", "input")), names="")
def reshaped_copy(input: Array, shape: Dims) -> Array:
    """Return the same elements in shape `shape`, where no view of torch's would show them so."""
    return lax.reshape(input, shape)


@op(grad="ViewBackward0", write_back=reshape_back)
def ravel(input: Array) -> Array:
    """Return all elements in one dimension."""
    return lax.reshape(input, (input.size,))


@op(grad="ViewBackward0", write_back=reshape_back)
def flatten(input: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Join the dimensions from `start_dim` to `end_dim` to one. Shape: a 0-d tensor gives (1,)."""
    start, end = dim_of(input.ndim, start_dim), dim_of(input.ndim, end_dim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    joined = math.prod(input.shape[start : end + 1])
    return lax.reshape(input, (*input.shape[:start], joined, *input.shape[end + 1 :]))


@op(grad="ViewBackward0", write_back=reshape_back)
def unflatten(input: Array, dim: int, sizes: Dims) -> Array:
    """Part one dimension into several, one of which may be -1. RuntimeError where they do not multiply up to it."""
    dim = dim_of(input.ndim, dim)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    length = input.shape[dim]
    known = math.prod(size for size in sizes if size != -1)
    if known != length if -1 not in sizes else known == 0 or length % known:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({length}) in the "
            "input tensor"
        )
    return lax.reshape(input, (*input.shape[:dim], *inferred_size(length, sizes), *input.shape[dim + 1 :]))


def _squeeze_node(shapes: Any, statics: Sequence[Any]) -> str:
    dim = statics[0] if statics else None
    if dim is None:
        return "SqueezeBackward0"
    return "SqueezeBackward1" if isinstance(dim, int) or len(dim) == 1 else "SqueezeBackward2"


@op(grad=_squeeze_node, names="squeeze .squeeze .squeeze_", write_back=reshape_back)
def squeeze(input: Array, dim: Dims | None = None) -> Array:
    """Leave out the dimensions of size 1, or those of them that `dim` names."""
    dims = range(input.ndim) if dim is None else (dims_of(input, dim) if dim != () else ())
    return lax.reshape(input, tuple(n for d, n in enumerate(input.shape) if not (d in dims and n == 1)))


@op(grad="UnsqueezeBackward0", names="unsqueeze .unsqueeze .unsqueeze_", write_back=reshape_back)
def unsqueeze(input: Array, dim: int) -> Array:
    """Put in a dimension of size 1 at `dim`."""
    return lax.expand_dims(input, (dim_of(input.ndim + 1, dim),))


@op(grad="AliasBackward0", names="", write_back=lambda base, new: new)
def alias(input: Array) -> Array:
    """Return the tensor itself as a view."""
    return input


@op(grad="SliceBackward0", names="", write_back=lambda base, new: new)
def whole(input: Array) -> Array:
    """Return a slice that has all of the tensor."""
    return input


def _swapped(input: Array, dim0: int, dim1: int) -> Array:
    first, second = dim_of(input.ndim, dim0), dim_of(input.ndim, dim1)
    return jnp.swapaxes(input, first, second) if input.ndim else input


def _swap_back(base: Array, new: Array, dim0: int, dim1: int) -> Array:
    return _swapped(new, dim0, dim1)


@op(grad="TransposeBackward0", names="transpose .transpose .transpose_", write_back=_swap_back)
def transpose(input: Array, dim0: int, dim1: int) -> Array:
    """Swap two dimensions."""
    return _swapped(input, dim0, dim1)


@op(grad="TransposeBackward0", names="swapaxes .swapaxes .swapaxes_", write_back=_swap_back)
def swapaxes(input: Array, axis0: int, axis1: int) -> Array:
    """Swap two dimensions; another name of `transpose`."""
    return _swapped(input, axis0, axis1)


@op(grad="TransposeBackward0", names="swapdims .swapdims .swapdims_", write_back=_swap_back)
def swapdims(input: Array, dim0: int, dim1: int) -> Array:
    """Swap two dimensions; another name of `transpose`."""
    return _swapped(input, dim0, dim1)


@op(grad="TBackward0", names="t .t .t_", write_back=lambda base, new: new.T)
def t(input: Array) -> Array:
    """Swap the dimensions of a matrix; a tensor of fewer dimensions stays. RuntimeError for more than two."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return input.T


@op(grad="PermuteBackward0", names=".T", write_back=lambda base, new: new.T)
def T(input: Array) -> Array:
    """Turn the order of all dimensions around."""
    return input.T


def _is_matrix(input: Array, name: str) -> None:
    if input.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor."
        )


def _transposed(input: Array) -> Array:
    return input if input.ndim == 0 else jnp.swapaxes(input, -1, -2)


def _adjoint_back(base: Array, new: Array) -> Array:
    return jnp.conj(_transposed(new))


@op(grad="TransposeBackward0", names=".mT", write_back=lambda base, new: _transposed(new))
def mT(input: Array) -> Array:  # noqa: N802 - torch's own spelling
    """Swap the last two dimensions. RuntimeError for a vector."""
    _is_matrix(input, "mT")
    return _transposed(input)


@op(grad="TransposeBackward0", names=".mH", write_back=_adjoint_back)
def mH(input: Array) -> Array:  # noqa: N802 - torch's own spelling
    """Swap the last two dimensions and conjugate. RuntimeError for a vector."""
    _is_matrix(input, "mH")
    return jnp.conj(_transposed(input))


@op(grad="TransposeBackward0", write_back=_adjoint_back)
def adjoint(input: Array) -> Array:
    """Swap the last two dimensions and conjugate. RuntimeError for a vector."""
    _is_matrix(input, "adjoint()")
    return jnp.conj(_transposed(input))


@op(grad="TransposeBackward0", names=".H", write_back=_adjoint_back)
def H(input: Array) -> Array:
    """Swap the dimensions of a matrix and conjugate. RuntimeError for what is no matrix."""
    if input.ndim not in (0, 2):
        hint = " For batches of matrices, consider using tensor.mH" if input.ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor.{hint}")
    return jnp.conj(_transposed(input))


def _order(input: Array, dims: Dims) -> Dims:
    if len(dims) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = tuple(dim_of(input.ndim, d) for d in dims)
    if len(set(order)) < len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return order


def _inverse(order: Sequence[int]) -> Dims:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


@op(grad="PermuteBackward0", write_back=lambda base, new, dims: lax.transpose(new, _inverse(_order(base, dims))))
def permute(input: Array, dims: Dims) -> Array:
    """Put the dimensions in the order `dims`."""
    return lax.transpose(input, _order(input, dims))


def _moved_order(input: Array, source: Dims, destination: Dims) -> Dims:
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number "
            f"of dims as destination ({list(destination)} dims)"
        )
    places = []
    for role, dims in (("source", source), ("destination", destination)):
        places.append([dim_of(input.ndim, d) for d in dims])
        if len(set(places[-1])) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{role}` ({list(dims)})")
    moved = dict(zip(places[1], places[0], strict=True))
    rest = iter(d for d in range(input.ndim) if d not in places[0])
    return tuple(moved[d] if d in moved else next(rest) for d in range(input.ndim))


def _move_back(base: Array, new: Array, source: Dims, destination: Dims) -> Array:
    return lax.transpose(new, _inverse(_moved_order(base, source, destination)))


@op(grad="PermuteBackward0", names="movedim .movedim moveaxis .moveaxis", write_back=_move_back)
def movedim(input: Array, source: Dims, destination: Dims) -> Array:
    """Move the dimensions `source` to the places `destination`; the others keep their order."""
    return lax.transpose(input, _moved_order(input, source, destination))


def expanded_size(shape: Sequence[int], size: Dims, dtype: DType) -> Dims:
    """Return the sizes that `expand` makes of a shape. Raises RuntimeError where it cannot, which names the dtype."""
    new = len(size) - len(shape)
    if new < 0:
        raise RuntimeError(
            f"expand({tensor_type_name(dtype)}{{{list(shape)}}}, size={list(size)}): the number of sizes "
            f"provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    result = []
    for d, wanted in reversed(list(enumerate(size))):  # as torch goes, which tells of the last that does not fit
        has = shape[d - new] if d >= new else 1
        if wanted == -1 and d < new:
            raise RuntimeError(
                f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {d}"
            )
        wanted = has if wanted == -1 else wanted
        if wanted < 0 or (has != wanted and has != 1):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({has}) at non-singleton "
                f"dimension {d}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
        result.append(wanted)
    return tuple(reversed(result))


def _expand_back(base: Array, new: Array, *_: Any) -> Array:
    """Return the base with what was written to any of its copies: the first of them that differs from it counts."""
    if new.size <= base.size:
        return lax.reshape(new, base.shape) if new.size == base.size else base
    old = base.reshape((1,) * (new.ndim - base.ndim) + base.shape)
    repeated = [d for d, (before, now) in enumerate(zip(old.shape, new.shape, strict=True)) if before != now]
    changed = ~((new == old) | ((new != new) & (old != old)))  # NaN for NaN is no change
    ends = range(-len(repeated), 0)
    copies, differs = (
        jnp.moveaxis(x, repeated, ends).reshape(*(n for d, n in enumerate(x.shape) if d not in repeated), -1)
        for x in (new, changed)
    )
    place = jnp.argmax(differs, -1, keepdims=True)
    return jnp.take_along_axis(copies, place, -1).reshape(base.shape)


def expanded(input: Array, size: Dims) -> Array:
    """Broadcast `input` to `size` by torch's rules of `expand`."""
    return stretched(input, expanded_size(input.shape, size, dtypes.of_numpy(input.dtype)))


@op(grad="ExpandBackward0", names=".expand", write_back=_expand_back)
def expand(input: Array, size: Dims) -> Array:
    """Repeat dimensions of size 1 (and new leading ones) up to `size` without a copy; -1 keeps a dimension."""
    return expanded(input, size)


@op(grad="ExpandBackward0", write_back=_expand_back)
def broadcast_to(input: Array, size: Dims) -> Array:
    """Repeat dimensions of size 1 (and new leading ones) up to `size` without a copy."""
    return expanded(input, size)


def _bits(input: Array, dtype: DType) -> Array:
    target = dtype.numpy
    if input.dtype == target:
        return input
    raw = input.astype(jnp.uint8) if input.dtype == bool else input
    if raw.dtype.kind == "c":
        raw = jnp.stack([raw.real, raw.imag], -1).reshape(*raw.shape[:-1], 2 * raw.shape[-1])
    if dtype.is_complex:
        parts = _bits(raw, dtype.to_real())
        return lax.complex(parts[..., ::2], parts[..., 1::2])
    ratio = target.itemsize / raw.dtype.itemsize
    kind = jnp.uint8 if target.kind == "b" else target
    if ratio > 1:
        raw = raw.reshape(*raw.shape[:-1], raw.shape[-1] // int(ratio), int(ratio))
    moved = lax.bitcast_convert_type(raw, kind)
    moved = moved.reshape(*moved.shape[:-2], math.prod(moved.shape[-2:])) if ratio < 1 else moved
    return moved.astype(bool) if target.kind == "b" else moved


@op(names="", write_back=lambda base, new, dtype: _bits(new, dtypes.of_numpy(base.dtype)))
def view_dtype(input: Array, dtype: DType) -> Array:
    """Read the same bits as another dtype; the last dimension shrinks or grows with the size of an element."""
    had, wants = input.dtype.itemsize, dtype.itemsize
    told = f"to view {scalar_type_name(dtypes.of_numpy(input.dtype))} as {scalar_type_name(dtype)}"
    if had != wants and input.ndim == 0:
        raise RuntimeError(f"self.dim() cannot be 0 {told} (different element sizes)")
    if wants > had and input.shape[-1] % (wants // had):
        raise RuntimeError(
            f"self.size(-1) must be divisible by {wants // had} {told} "
            f"(different element sizes), but got {input.shape[-1]}"
        )
    return _bits(input, dtype)
