"""Raggedness: which rows of the values belong to which entry, shared by all nested tensors that are equally ragged."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor

_count = itertools.count(1).__next__


class RaggedSize:
    """The size of a ragged dimension, "j1": equal only to itself, since it stands for several lengths."""

    __slots__ = ("_factor", "_number")

    def __init__(self, number: int, factor: int = 1) -> None:
        self._number, self._factor = number, factor

    def __repr__(self) -> str:
        return f"j{self._number}" if self._factor == 1 else f"{self._factor}*j{self._number}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedSize) and (self._number, self._factor) == (other._number, other._factor)

    def __hash__(self) -> int:
        return hash((self._number, self._factor))

    def __mul__(self, other: int) -> RaggedSize:
        return RaggedSize(self._number, self._factor * other) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def __ge__(self, other: Any) -> bool:
        return self._is_at_least(other)

    def __gt__(self, other: Any) -> bool:
        return self._is_at_least(other + 1)

    def __lt__(self, other: Any) -> bool:
        return not self._is_at_least(other)

    def __le__(self, other: Any) -> bool:
        return not self._is_at_least(other + 1)

    def _is_at_least(self, other: Any) -> bool:
        if isinstance(other, int) and other <= 2:  # torch takes it for granted that it is
            return True
        raise ValueError("ge: relation is indeterminate")

    def __int__(self) -> int:
        raise ValueError(f"{self} stands for the lengths of several entries: see offsets(), or unbind()")

    __index__ = __int__


class Raggedness:
    """Offsets of the entries in the values, their lengths where there are holes, and the same numbers in numpy.

    Shape: offsets (B + 1,), lengths (B,) or None. `starts` and `sizes` read the offsets, unless they are given.
    """

    def __init__(
        self, offsets: Tensor, lengths: Tensor | None = None, sizes: np.ndarray[Any, Any] | None = None
    ) -> None:
        self.offsets, self.lengths = offsets, lengths
        self.symbol = RaggedSize(_count())
        self._sizes = sizes
        self._places: dict[int, tuple[Tensor, Tensor]] = {}
        self._entries: dict[int, Tensor] = {}

    @staticmethod
    def of(offsets: Tensor, lengths: Tensor | None = None) -> Raggedness:
        """Return the raggedness of these very tensors, the same one each time."""
        key = offsets if lengths is None else lengths
        known = vars(key).get("_raggedness")
        if known is None or known.offsets is not offsets:
            known = vars(key)["_raggedness"] = Raggedness(offsets, lengths)
        return known

    @staticmethod
    def of_sizes(sizes: Any, device: Any) -> Raggedness:
        """Return the raggedness of entries that follow each other. sizes: their lengths."""
        counted = np.asarray(sizes, np.int64)
        offsets = from_host(np.concatenate([[0], np.cumsum(counted)]).astype(np.int64), device=device)
        return Raggedness(offsets, None, counted)

    @property
    def batch_size(self) -> int:
        """How many entries there are."""
        return self.offsets.shape[0] - 1

    @functools.cached_property
    def starts(self) -> np.ndarray[Any, Any]:
        """Where each entry begins."""
        if self.lengths is None and self._sizes is not None:
            return np.concatenate([[0], np.cumsum(self._sizes)])[:-1]
        return to_host(self.offsets)[:-1]

    @functools.cached_property
    def sizes(self) -> np.ndarray[Any, Any]:
        """How long each entry is."""
        if self._sizes is not None:
            return self._sizes
        return np.diff(to_host(self.offsets)) if self.lengths is None else to_host(self.lengths)

    @property
    def longest(self) -> int:
        """The length of the longest entry."""
        return int(self.sizes.max(initial=0))

    def entries(self, total: int) -> Tensor:
        """Return the entry that each row of values belongs to. Shape: (total,)."""
        if total not in self._entries:
            found = np.searchsorted(self.starts, np.arange(total), "right") - 1
            self._entries[total] = self._on_device(found.clip(0))
        return self._entries[total]

    def places(self, length: int) -> tuple[Tensor, Tensor]:
        """Return where each place of a padded tensor is read, and whether it holds anything. Shapes: (B, length)."""
        if length not in self._places:
            steps = np.arange(length)[None]
            is_held = steps < self.sizes[:, None]
            places = np.where(is_held, self.starts[:, None] + steps, 0)
            self._places[length] = self._on_device(places), self._on_device(is_held)
        return self._places[length]

    @functools.cached_property
    def place_in_rectangle(self) -> tuple[Tensor, Tensor]:
        """The entry of each row, and its step in it: where it stands in a padded tensor. Shapes: (total,)."""
        entries = np.repeat(np.arange(self.batch_size), self.sizes)
        steps = np.concatenate([np.zeros(0, np.int64), *map(np.arange, self.sizes)])
        return self._on_device(entries), self._on_device(steps)

    def _on_device(self, array: np.ndarray[Any, Any]) -> Tensor:
        kept = array if array.dtype == np.bool_ else array.astype(np.int64)
        return from_host(kept, device=self.offsets.device)
