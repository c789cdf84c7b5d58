"""Places and classes out of range, refused where the host knows them: a program sees their values too late to raise."""

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


def _size(input: Any, dim: Any) -> int | None:
    """Return the size of a dimension; None where there is none: what is wrong then, the row says."""
    if not isinstance(input, Tensor) or type(dim) is not int or not -input.ndim <= dim < input.ndim:
        return None
    return input.shape[dim]
