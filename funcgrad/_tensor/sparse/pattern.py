"""Where the values of a sparse tensor stand: by coordinates, or compressed by row or column, in blocks or not.

A pattern never changes, and tensors that are computed from each other share it. What is asked of it (which places
meet, where rows begin) is worked out on the host, once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from funcgrad._base import dtypes, layouts
from funcgrad._base.size import Size
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor

Numbers = np.ndarray[Any, Any]
Sizes = Sequence[int]


class Pattern:
    """Coordinates of values. Shape: indices (sparse dimensions, n)."""

    layout = layouts.sparse_coo

    def __init__(self, size: Sizes, indices: Tensor, is_coalesced: bool) -> None:
        """is_coalesced: whether places are sorted, and none comes twice."""
        self.size, self.indices, self.is_coalesced = Size(size), indices, is_coalesced

    @staticmethod
    def of(size: Sizes, places: Numbers, like: Pattern | Compressed, is_coalesced: bool = True) -> Pattern:
        """Return the pattern of these places, on the device where another one is."""
        made = Pattern(size, from_host(places, dtype=dtypes.int64, device=like.device), is_coalesced)
        made.places = places
        return made

    @cached_property
    def places(self) -> Numbers:
        """The indices, for the host."""
        return to_host(self.indices)

    @property
    def device(self) -> Any:
        """Where the indices are."""
        return self.indices.device

    @property
    def sparse_dim(self) -> int:
        """How many dimensions the indices have."""
        return self.indices.shape[0]

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.indices.shape[1]

    def values_shape(self) -> tuple[int, ...]:
        """Return the shape of the values."""
        return (self.count, *self.size[self.sparse_dim :])

    @cached_property
    def flat(self) -> Numbers:
        """The places as numbers, in row-major order of the sparse dimensions."""
        return flattened(self.places, self.size[: self.sparse_dim])

    @cached_property
    def is_sorted(self) -> bool:
        """Whether each place comes behind the one before, be it known as coalesced or not."""
        return self.is_coalesced or bool((np.diff(self.flat) > 0).all())

    @cached_property
    def merged(self) -> tuple[Pattern, Tensor]:
        """The coalesced pattern, and which of its places each value goes to."""
        unique, inverse = np.unique(self.flat, return_inverse=True)
        sizes = self.size[: self.sparse_dim]
        places = np.stack(np.unravel_index(unique, sizes)) if sizes else np.empty((0, len(unique)), np.int64)
        return Pattern.of(self.size, places, self), from_host(inverse, device=self.device)


class Compressed:
    """Rows (or columns) that begin at `compressed` and have values in the places `plain`; of blocks, by block.

    Shape: compressed (rows + 1,), plain (n,).
    """

    def __init__(self, layout: Any, size: Sizes, compressed: Tensor, plain: Tensor, block: Sizes = ()) -> None:
        """block: height and width, of a layout of blocks."""
        self.layout, self.size, self.block = layout, Size(size), tuple(block)
        self.compressed, self.plain = compressed, plain

    @property
    def by_row(self) -> bool:
        """Whether it is rows that are compressed."""
        return self.layout in (layouts.sparse_csr, layouts.sparse_bsr)

    @property
    def device(self) -> Any:
        """Where the indices are."""
        return self.plain.device

    @property
    def count(self) -> int:
        """How many values, or blocks, there are."""
        return self.plain.shape[0]

    @cached_property
    def coordinates(self) -> Pattern:
        """The pattern of the single values, in their order."""
        counts = np.diff(to_host(self.compressed))
        outer, inner = np.repeat(np.arange(len(counts)), counts), to_host(self.plain)
        places = np.stack((outer, inner) if self.by_row else (inner, outer))
        if self.block:
            height, width = self.block
            inside = np.stack(np.divmod(np.arange(height * width), width))
            places = (places * np.array(self.block)[:, None])[:, :, None] + inside[:, None, :]
            places = places.reshape(2, -1)
        flat = flattened(places, self.size[:2])
        return Pattern.of(self.size, places, self, bool((np.diff(flat) > 0).all()))

    def transposed(self) -> Compressed:
        """Return the pattern of the transposed matrix, for the same values (of blocks: transposed ones)."""
        rows, columns, *inner = self.size
        size = (columns, rows, *inner)
        return Compressed(_TRANSPOSED[self.layout], size, self.compressed, self.plain, self.block[::-1])


_TRANSPOSED = {
    layouts.sparse_csr: layouts.sparse_csc, layouts.sparse_csc: layouts.sparse_csr,
    layouts.sparse_bsr: layouts.sparse_bsc, layouts.sparse_bsc: layouts.sparse_bsr,
}  # fmt: skip


def flattened(places: Numbers, sizes: Sizes) -> Numbers:
    """Return coordinates as numbers, in row-major order. Shape: places (dimensions, n), result (n,)."""
    steps = [math.prod(sizes[d + 1 :]) for d in range(len(sizes))]
    return np.asarray(steps, np.int64) @ places if steps else np.zeros(places.shape[1], np.int64)
