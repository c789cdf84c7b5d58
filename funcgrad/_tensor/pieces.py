"""Functions that return several views of one dimension: split, chunk, unbind and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from funcgrad._ops.pieces import named_split_pieces
from funcgrad._ops.table import TABLE
from funcgrad._tape.nodes import rename_node
from funcgrad._tensor.aliases import View
from funcgrad._tensor.arguments import as_dims, as_some_int, tensors_of
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.facts import in_range
from funcgrad._tensor.forms import refused_forms
from funcgrad._tensor.indexing import slice_of
from funcgrad._tensor.refused_numbers import number_in
from funcgrad._tensor.refused_sizes import refused_size
from funcgrad._tensor.registry import both, function
from funcgrad._tensor.tensor import Tensor


def as_one_call(views: Sequence[Tensor], node: str) -> tuple[Tensor, ...]:
    """Return views that one call gave: their nodes have torch's name of it, and none of them is to be written to."""
    for place, each in enumerate(views):
        view = each._alias
        if type(view) is View:
            view.place = place
    return _called(views, node)


def _called(views: Sequence[Tensor], node: str) -> tuple[Tensor, ...]:
    for each in views:
        rename_node(each._variable.node, node)
    return tuple(views)


@both()
def split(
    tensor: Tensor, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None
) -> tuple[Tensor, ...]:
    """Return views of pieces of one dimension: all of one size but the last, or of the sizes given."""
    given = split_size if split_size_or_sections is None else split_size_or_sections
    if given is None:
        raise TypeError("split() missing 1 required positional argument: 'split_size_or_sections'")
    pieces = _pieces(tensor, given, dim)
    return as_one_call(pieces, "SplitBackward0" if _is_step(given) else "SplitWithSizesBackward0")


@both()
def unsafe_split(tensor: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return what `split` returns, to be written to at the caller's risk: here it is seen in the tensor."""
    return _called(_pieces(tensor, split_size, dim), "UnsafeSplitBackward0")


def _is_step(given: Any) -> bool:
    return isinstance(given, int) or (isinstance(given, Tensor) and given.numel() == 1)


def _pieces(input: Tensor, given: Any, dim: int) -> list[Tensor]:
    """Return views of pieces of one dimension, of the size or the sizes given."""
    if not input.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = in_range(input, dim)
    size = input.shape[dim]
    if _is_step(given):
        step = int(given)
        if step < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
        if step == 0 and size > 0:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
        sections = [min(step, size - at) for at in range(0, size, step)] if size else [0]
    else:
        sections = list(_sections(given))
        if any(length < 0 for length in sections):
            raise RuntimeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sections}"
            )
        if sum(sections) != size:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}"
                f"), but got split_sizes={sections}"
            )
    starts = accumulate(sections, initial=0)
    return [call(TABLE["slice"], (input, at), (dim, n)) for at, n in zip(starts, sections, strict=False)]


def _sections(given: Any) -> tuple[int, ...]:
    label = "split_with_sizes(): argument 'split_sizes' (position 2)"
    if not isinstance(given, (tuple, list)):
        raise refused_size(given, label)
    return as_dims(given, label) or ()


@both()
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of pieces of one dimension, of the sizes given."""
    return split(input, list(split_sizes), dim)


@both()
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return what `split_with_sizes` returns, to be written to at the caller's risk."""
    return _called(_pieces(input, list(split_sizes), dim), "UnsafeSplitWithSizesBackward0")


@both()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most `chunks` views of equal size (the last may be smaller) of one dimension."""
    return _chunked(split, input, chunks, dim)


@both()
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return what `chunk` returns, to be written to at the caller's risk."""
    return _chunked(unsafe_split, input, chunks, dim)


def _chunked(cut: Callable[..., tuple[Tensor, ...]], input: Tensor, chunks: int, dim: int) -> tuple[Tensor, ...]:
    chunks = as_some_int(chunks, "chunk(): argument 'chunks' (position 1)")
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input.shape[in_range(input, dim)]
    step = -(-size // chunks)
    return cut(input, step, dim) if size else tuple(input for _ in range(chunks))


@both()
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None,
    tensor_indices_or_sections: Tensor | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Return views of one dimension: as many as said, nearly equal; or cut at the indices given."""
    if not input.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    spellings = (indices_or_sections, indices, sections, tensor_indices_or_sections)
    given = next((x for x in spellings if x is not None), None)
    if given is None or isinstance(given, bool):
        raise refused_forms("tensor_split", [("", input)] + [("", given)] * (given is not None))
    dim = in_range(input, dim)
    size = input.shape[dim]
    given = given.tolist() if isinstance(given, (Tensor, np.integer)) else given
    if isinstance(given, int):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        small, larger = divmod(size, given)
        cuts = np.cumsum([small + (i < larger) for i in range(given)])[:-1].tolist()
    else:
        cuts = list(given)
    ends = [*cuts, size]
    return tuple(slice_of(input, dim, slice(a, b)) for a, b in zip([0, *cuts], ends, strict=True))


@both()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the views that one dimension is made of."""
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = in_range(input, dim, "unbind(): argument 'dim' (position 1)")
    views = [call(TABLE["select"], (input, i), (dim,)) for i in range(input.shape[dim])]
    return as_one_call(views, "UnbindBackward0")


@function()
def _chunk_cat(tensors: Any, dim: int, num_chunks: int, *, out: Any = None) -> Tensor:
    """Return the tensors, each padded with zeros and cut into chunks along `dim`, joined chunk by chunk.

    Shape: result (*before `dim`, num_chunks, n).
    """
    listed = tensors_of(tensors, "_chunk_cat(): argument 'tensors' (position 1)")
    along = _checked_chunks(listed, dim, num_chunks)
    parts = []
    for tensor in listed:
        before, size, after = tensor.shape[:along], tensor.shape[along], tensor.shape[along + 1 :]
        missing = -size % num_chunks
        lacking = tensor.new_zeros((*before, missing, *after))
        whole = call(TABLE["cat"], (tensor, lacking), (along,)) if missing else tensor
        parts.append(whole.reshape((*before, num_chunks, -1)))
    joined = call(TABLE["cat"], tuple(parts), (along + 1,))
    return joined if out is None else write_out(out, joined)


def _checked_chunks(listed: Any, dim: int, num_chunks: int) -> int:
    """Return the dimension counted from the front. RuntimeError for tensors that cannot be cut into these chunks."""
    if num_chunks < 1:
        raise RuntimeError(f"_chunk_cat expects positive num_chunks, got {num_chunks}")
    if not listed:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if not all(tensor.numel() for tensor in listed):
        raise RuntimeError("_chunk_cat expects non-empty tensor")
    ranks = {tensor.ndim for tensor in listed}
    if dim < 0 and len(ranks) > 1:
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    if dim >= min(ranks):
        raise RuntimeError(f"_chunk_cat expects dim < ndim for all input tensors, got dim={dim} and {min(ranks)}")
    along = in_range(listed[0], dim)
    if len({tuple(tensor.shape[:along]) for tensor in listed}) > 1:
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    return along


def _split_along(name: str) -> None:
    def split_along(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Return views of one dimension: as many equal ones as said, or cut at the indices given."""
        is_number = isinstance(number_in(indices_or_sections), int)
        if not is_number and not isinstance(indices_or_sections, (list, tuple, np.integer)):
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got (Tensor, "
                f"{type(indices_or_sections).__name__}), but expected one of:\n * (Tensor input, int sections)\n"
                " * (Tensor input, tuple of ints indices)\n"
            )
        given = indices_or_sections if isinstance(indices_or_sections, (list, tuple)) else int(indices_or_sections)
        dim, pieces = named_split_pieces(name, input.shape, given)
        return tuple(slice_of(input, dim, slice(start, start + length)) for start, length in pieces)

    split_along.__name__ = name
    both(name)(split_along)


for _name in ("hsplit", "vsplit", "dsplit"):
    _split_along(_name)
