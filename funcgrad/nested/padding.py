"""Between jagged and padded: values as one rectangle with a filler, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor import functions
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.raggedness import Raggedness
from funcgrad.nested.tensor import NestedTensor, handles


def rectangle(nested: NestedTensor, length: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the entries beside each other, with anything in the gaps, and where they hold something.

    Shape: (B, length, *), the ragged dimension first; (B, length).
    """
    ragged = nested._raggedness
    length = ragged.longest if length is None else length
    places, is_held = ragged.places(length)
    rows = nested._plain().movedim(nested._ragged_idx - 1, 0)
    return rows[places], is_held


def filled(nested: NestedTensor, padding: Any, length: int | None = None) -> Tensor:
    """Return the entries beside each other, with `padding` in the gaps. Shape: (B, length, *)."""
    read, is_held = rectangle(nested, length)
    return read.masked_fill(~held_as(is_held, read), padding)


def held_as(is_held: Tensor, read: Tensor) -> Tensor:
    """Return where a rectangle holds something, with as many dimensions as it has."""
    return is_held.reshape(*is_held.shape, *(1,) * (read.ndim - 2))


def from_rectangle(padded: Tensor, ragged: Raggedness, ragged_idx: int = 1) -> NestedTensor:
    """Return the nested tensor of what a rectangle holds. Shape: padded (B, length, *), the ragged dimension first."""
    rows = padded[ragged.place_in_rectangle]
    return NestedTensor._made(rows.movedim(0, ragged_idx - 1), ragged, ragged_idx)


@handles("to_padded_tensor")
def to_padded_tensor(
    func: Any, input: NestedTensor, padding: float, output_size: Sequence[int] | None = None
) -> Tensor:
    """Return a dense tensor as large as the longest entry, or of `output_size`. RuntimeError: there are holes."""
    if input._raggedness.lengths is not None:
        raise RuntimeError("to_padded_tensor(): not supported for nested tensors with holes")
    wanted = None if output_size is None else output_size[input._ragged_idx]
    padded = filled(input, padding, wanted).movedim(1, input._ragged_idx)
    return padded if output_size is None else resized(padded, output_size, padding)


def resized(dense: Tensor, size: Sequence[int], padding: float) -> Tensor:
    """Return a tensor cut or padded at the end of each dimension."""
    for dim, wanted in enumerate(size):
        missing = wanted - dense.shape[dim]
        if missing < 0:
            dense = dense.narrow(dim, 0, wanted)
        elif missing > 0:
            gap = [*dense.shape]
            gap[dim] = missing
            dense = functions.cat([dense, dense.new_full(gap, padding)], dim)
    return dense
