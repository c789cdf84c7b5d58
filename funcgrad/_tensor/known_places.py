"""Numbers out of range, refused where the host knows them: a program sees their values too late to raise."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._tensor.tensor import Tensor


def known_integers(tensor: Any) -> np.ndarray[Any, Any] | None:
    """Return the int64 numbers of a tensor, not empty, where the host has them."""
    array = tensor._current().value.array if isinstance(tensor, Tensor) else None
    return array if type(array) is np.ndarray and array.dtype == np.int64 and array.size else None


def are_below(size: int, places: np.ndarray[Any, Any]) -> bool:
    """Tell whether all are from 0 to size - 1: read without their sign, negative ones are huge. It takes 2 us."""
    return int(places.view(np.uint64).max()) < size


def check_known_places(input: Any, dim: Any, index: Any) -> None:
    """RuntimeError for a known place that `dim` of the input does not have."""
    size, known = _size(input, dim), known_integers(index)
    if size is None or known is None or are_below(size, known):
        return
    wrong = next(int(place) for place in (known.min(), known.max()) if not 0 <= place < size)
    raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim % input.ndim} with size {size}")


def check_known_rows(input: Any, dim: Any, index: Any) -> None:
    """IndexError, as torch's for whole rows, for a known place that `dim` of the input does not have."""
    size, known = _size(input, dim), known_integers(index)
    if size is not None and known is not None and not are_below(size, known):
        raise IndexError("index out of range in self")


def check_known_classes(input: Any, target: Any, ignore_index: Any) -> None:
    """IndexError for a known target that is no class of the input, whose classes stand in dimension 1 (or 0, alone)."""
    size, known = _size(input, 1 if isinstance(input, Tensor) and input.ndim > 1 else 0), known_integers(target)
    if size is None or known is None or are_below(size, known):
        return
    wrong = known[((known < 0) | (known >= size)) & (known != ignore_index)]
    if wrong.size:
        raise IndexError(f"Target {int(wrong.flat[0])} is out of bounds.")


def check_known_elements(input: Any, index: Any) -> None:
    """IndexError for a known place that the flattened input does not have; negative ones count from the end."""
    if not isinstance(input, Tensor):
        return
    count, wrong = input.numel(), _outside(input.numel(), known_integers(index), wraps=True)
    if wrong is not None:
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {count} elements.")


def check_known_slices(input: Any, dim: Any, index: Any, function: str = "", wraps: bool = False) -> None:
    """IndexError for a known place that `dim` of the input does not have. wraps: negative ones count from the end."""
    size = _size(input, dim)
    wrong = None if size is None else _outside(size, known_integers(index), wraps)
    if wrong is not None:
        raise IndexError(f"{function}index {wrong} is out of bounds for dimension {dim % input.ndim} with size {size}")


def check_known_bags(input: Any, weight: Any) -> None:
    """RuntimeError for a known index that is no row of an embedding's weight."""
    size, known = _size(weight, 0), known_integers(input)
    if size is not None and known is not None and not are_below(size, known):
        place = np.flatnonzero((known < 0) | (known >= size))[0]
        raise RuntimeError(
            f"Index {place} of input takes value {known.flat[place]} which is not in the valid range [0, {size})"
        )


def check_known_targets(input: Any, target: Any) -> None:
    """RuntimeError for a known target of a margin loss that is no class, of those in the last dimension."""
    size, known = _size(input, -1), known_integers(target)
    if size is not None and known is not None and not are_below(size, known):
        raise RuntimeError("target out of range")


def check_known_divisor(input: Any, other: Any) -> None:
    """RuntimeError, as torch's, for a known zero by which integers are divided."""
    if type(other) is not int and isinstance(other, Tensor):
        known = known_integers(other)
        if known is None or known.all():
            return
    elif type(other) is not int or other:
        return
    if type(input) is int or (isinstance(input, Tensor) and not input.dtype.is_differentiable):
        raise RuntimeError("ZeroDivisionError: an integer was divided by zero")


def check_known_lengths(times: int, width: int | None, inputs: Any, targets: Any) -> None:
    """RuntimeError for known lengths of `ctc_loss` beyond those of the input, or of padded targets (None: unpadded)."""
    known = known_integers(inputs)
    if known is not None and not are_below(times + 1, known):
        raise RuntimeError(
            f"Expected input_lengths to have value at most {times}, but got value {known.max()} (while checking "
            "arguments for ctc_loss_allocate_outputs)"
        )
    known = known_integers(targets)
    if width is not None and known is not None and not are_below(width + 1, known):
        raise RuntimeError(
            f"Expected tensor to have size at least {known.max()} at dimension 1, but got size {width} for argument #2 "
            "'targets' (while checking arguments for ctc_loss_allocate_outputs)"
        )


def check_known_range(input: Any, low: Any, high: Any) -> None:
    """RuntimeError for a histogram from or to what is no number, where it is known."""
    ends: Any = (low, high)
    if low == high == 0 and isinstance(input, Tensor):
        array = input._current().value.array
        ends = (array.min(), array.max()) if type(array) is np.ndarray and array.size else ends
    if not np.isfinite(ends).all():
        raise RuntimeError(f"torch.histc: range of [{ends[0]:g}, {ends[1]:g}] is not finite")
    if ends[0] > ends[1]:
        raise RuntimeError("torch.histc: max must be larger than min")


def _outside(size: int, known: np.ndarray[Any, Any] | None, wraps: bool) -> int | None:
    """Return a known place that is not one of `size`."""
    if known is None or are_below(size, known):
        return None
    least = -size if wraps else 0
    return next((int(place) for place in (known.min(), known.max()) if not least <= place < size), None)


def _size(input: Any, dim: Any) -> int | None:
    """Return the size of a dimension; None where there is none: what is wrong then, the row says."""
    if not isinstance(input, Tensor) or type(dim) is not int or not -input.ndim <= dim < input.ndim:
        return None
    return input.shape[dim]
