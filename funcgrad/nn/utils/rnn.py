"""Sequences of different lengths in one batch: padded to the longest, or packed without padding."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.naming import c_class_name
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import from_host, host_numbers, is_on_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F

Host = np.ndarray[Any, Any]


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Sequences sorted by length, step after step: `data` has all elements of step 0, then of step 1, ...

    `batch_sizes` says how many sequences reach each step; the indices sort the batch and put it back.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        """Return a packed sequence of these fields; `data` may be the pair (data, batch_sizes)."""
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu" and sorted_indices is not None:
            batch_sizes = batch_sizes.cpu()
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequence with its data in another dtype or on another device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        indices = [None if x is None else x.to(data.device) for x in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *indices)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequence on the accelerator."""
        return self.to("cuda" if not args else args[0])

    def cpu(self) -> PackedSequence:
        """Return the sequence on the CPU."""
        return self.to("cpu")

    def double(self) -> PackedSequence:
        """Return the sequence with float64 data."""
        return self.to(dtype=dtypes.float64)

    def float(self) -> PackedSequence:
        """Return the sequence with float32 data."""
        return self.to(dtype=dtypes.float32)

    def half(self) -> PackedSequence:
        """Return the sequence with float16 data."""
        return self.to(dtype=dtypes.float16)

    def long(self) -> PackedSequence:
        """Return the sequence with int64 data."""
        return self.to(dtype=dtypes.int64)

    def int(self) -> PackedSequence:
        """Return the sequence with int32 data."""
        return self.to(dtype=dtypes.int32)

    def pin_memory(self) -> PackedSequence:
        """Return the sequence: JAX moves arrays itself."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Tell whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Return False: JAX moves arrays itself."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the permutation that undoes this one."""
    if permutation is None:
        return None
    return from_host(np.argsort(to_host(permutation), kind="stable"), device=permutation.device)


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | list[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a batch of padded sequences. Shape: input (T, B, *), or (B, T, *) if `batch_first`; lengths (B).

    Raises RuntimeError where `enforce_sorted` and the lengths do not decrease, or where one of them is not positive.
    """
    if not isinstance(input, Tensor):
        raise TypeError(
            f"_pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not {c_class_name(input)}"
        )
    counts = _host_lengths(lengths)
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if counts.ndim != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {counts.ndim}D cpu Long tensor"
        )
    padded = input.transpose(0, 1) if batch_first else input
    if counts.shape != (padded.shape[1],):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {counts.size} (batch_size={padded.shape[1]})"
        )
    if counts.min(initial=1) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    order = None
    if enforce_sorted:
        if (np.diff(counts) > 0).any():
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if "
                "you do not need ONNX exportability."
            )
    else:
        order = np.argsort(-counts, kind="stable")
        counts = counts[order]
    batch_sizes = (counts[None, :] > np.arange(counts[0])[:, None]).sum(1)
    data = packed_of(padded, batch_sizes, order)
    indices = (None, None) if order is None else (order, np.argsort(order, kind="stable"))
    placed = [None if x is None else from_host(x, device=input.device) for x in indices]
    return PackedSequence(data, from_host(batch_sizes, device="cpu"), *placed)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return (padded batch, lengths). Shape: (T, B, *), or (B, T, *) if `batch_first`; T: longest or `total_length`."""
    batch_sizes = to_host(sequence.batch_sizes)
    length = len(batch_sizes)
    if total_length is not None and total_length < length:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {length}"
        )
    lengths, order = lengths_of(batch_sizes), None
    if sequence.unsorted_indices is not None:
        unsorted = to_host(sequence.unsorted_indices)
        order, lengths = np.argsort(unsorted, kind="stable"), lengths[unsorted]
    padded = padded_of(sequence.data, batch_sizes, order, total_length or length, padding_value)
    if batch_first:
        padded = padded.transpose(0, 1) if order is None else padded.transpose(0, 1).contiguous()  # torch sorts back
    return padded, from_host(lengths, device="cpu")


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences of different lengths, padded to the longest. Shape: each (L, *), result (T, B, *), (B, T, *).

    All are of the first one's kind: the others' other dimensions are broadcast to its own.
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    listed = list(sequences)
    if not listed:
        raise RuntimeError("received an empty list of sequences")
    for place, sequence in enumerate(listed):
        if not isinstance(sequence, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {c_class_name(sequence)}")
        if not sequence.dim():
            raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    longest = max(sequence.shape[0] for sequence in listed)
    if all(_is_near(sequence, like=listed[0]) for sequence in listed):
        whole = _padded_on_host(listed, longest, padding_value, padding_side == "left")
        return from_host(whole if batch_first else whole.swapaxes(0, 1))
    padded, first = [], listed[0]
    for given in listed:
        sequence = given
        if given.shape[1:] != first.shape[1:] or given.dtype is not first.dtype:
            sequence = first.new_empty((len(given), *first.shape[1:])).copy_(given)
        extra = longest - sequence.shape[0]
        sides = (extra, 0) if padding_side == "left" else (0, extra)
        widths = (0, 0) * (sequence.dim() - 1) + sides
        padded.append(F.pad(sequence, widths, value=padding_value) if extra else sequence)
    return fg.stack(padded, dim=0 if batch_first else 1)


def _is_near(tensor: Tensor, like: Tensor) -> bool:
    is_alike = tensor.dtype is like.dtype and tensor.shape[1:] == like.shape[1:]
    return is_alike and not tensor.requires_grad and is_on_host(tensor._current().value)


def _padded_on_host(listed: list[Tensor], longest: int, value: float, at_end: bool) -> Host:
    """Pad by numpy what the host has: as instructions, each set of lengths would be a program of its own."""
    arrays = [np.asarray(host_numbers(sequence._current().value)) for sequence in listed]
    whole = np.full((len(arrays), longest, *arrays[0].shape[1:]), value, arrays[0].dtype)
    for row, array in zip(whole, arrays, strict=True):
        row[longest - len(array) if at_end else 0 :][: len(array)] = array
    return whole


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Return the sequences of a padded batch, each in its own length."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [sequence[: int(count)] for sequence, count in zip(batch, _host_lengths(lengths), strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths. Shape: each (L, *)."""
    lengths = [sequence.shape[0] for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a packed batch, each in its own length."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def packed_of(padded: Tensor, batch_sizes: Host, order: Host | None = None) -> Tensor:
    """Return the data of a packed sequence. Shape: padded (T, B, *), whose columns `order` sorts; result (N, *)."""
    steps, columns = _places(batch_sizes)
    columns = columns if order is None else order[columns]
    places = from_host(steps * padded.shape[1] + columns, device=padded.device)
    return padded.flatten(0, 1).index_select(0, places)


def padded_of(
    data: Tensor, batch_sizes: Host, order: Host | None = None, length: int | None = None, value: float = 0.0
) -> Tensor:
    """Return packed data as a padded batch: the reverse of `packed_of`."""
    steps, columns = _places(batch_sizes)
    rows, width = length or len(batch_sizes), int(batch_sizes[0])
    columns = columns if order is None else order[columns]
    flat = data.new_full((rows * width, *data.shape[1:]), value)
    flat = flat.index_copy(0, from_host(steps * width + columns, device=data.device), data)
    return flat.reshape((rows, width, *data.shape[1:]))


def lengths_of(batch_sizes: Host) -> Host:
    """Return how long each sequence is, the longest first."""
    return (np.arange(batch_sizes[0])[:, None] < batch_sizes[None, :]).sum(1)


def _host_lengths(lengths: Any) -> Host:
    if isinstance(lengths, Tensor):
        return to_host(lengths).astype(np.int64)
    return np.array([int(x) for x in lengths], np.int64)


def _places(batch_sizes: Host) -> tuple[Host, Host]:
    """Return the step and the column of each element of packed data."""
    steps = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
    columns = np.array(list(itertools.chain.from_iterable(map(range, batch_sizes))), np.int64)
    return steps, columns
