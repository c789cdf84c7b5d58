"""When our results count as torch's: same structure, shapes, dtypes and, as far as the precision goes, numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

TOLERANCE = {
    "float8_e4m3fn": 0.07, "float8_e5m2": 0.13, "float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-5, "float64": 1e-7,
    "complex64": 3e-5, "complex128": 1e-7,
}  # fmt: skip
MOST_OF_8_BITS = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}
LARGEST = {"float16": 65504.0, "bfloat16": 3.38e38, "float32": 3.4e38, "complex64": 3.4e38}


class DifferenceError(AssertionError):
    """Ours is not torch's; the message says where and by how much."""


class Yardstick:
    """How near is near enough for the results of one call.

    given: the dtypes of the call's tensors; the coarsest of them counts.
    truth: torch's results in double precision. Where rounding parts ours from torch's in a lower one, ours also counts
    when it is as near to the truth as torch's own is (within a factor of 2).
    """

    def __init__(self, theirs: list[Any], given: Iterable[str], truth: Callable[[], list[Any]] | None) -> None:
        arrays = [x for x in theirs if isinstance(x, np.ndarray)]
        self.coarsest = max((TOLERANCE.get(name, 0.0) for name in given), default=0.0)
        self.size = max((_largest_number(x) for x in arrays), default=1.0)
        self.truth = None if truth is None else functools.cache(truth)

    def bound(self, dtype: np.dtype) -> float:
        """Return the relative tolerance for numbers of a dtype; 0: exactly."""
        own = TOLERANCE.get(dtype.name, 0.0)
        return max(own, self.coarsest) if own else 0.0

    def wrong(self, our: np.ndarray, their: np.ndarray) -> np.ndarray:
        """Return where numbers differ by more than the tolerance; infinite and undefined ones have to agree."""
        bound = self.bound(their.dtype)
        if not bound:
            return our != their
        near = np.isclose(_wide(our), _wide(their), bound, bound * self.size, equal_nan=True)
        if their.dtype.name in MOST_OF_8_BITS:  # torch stops there, or, where the CPU computes in float16, has NaN
            near |= np.isnan(their) & (np.abs(_wide(our)) == MOST_OF_8_BITS[their.dtype.name])
        return ~near

    def exact(self, place: int, their: np.ndarray) -> np.ndarray | None:
        """Return one result in double precision, or None where torch has none."""
        if self.truth is None or their.dtype.name not in LARGEST:
            return None
        found = self.truth()[place]
        return _wide(found) if isinstance(found, np.ndarray) and found.shape == their.shape else None


def compare(ours: list[Any], theirs: list[Any], yardstick: Yardstick, numbers: bool = True) -> None:
    """Raise DifferenceError unless our results are torch's.

    numbers: False compares structure, shapes and dtypes only.
    """
    if len(ours) != len(theirs):
        raise DifferenceError(f"{len(ours)} results, torch has {len(theirs)}")
    for place, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        where = f"result {place}: " if len(ours) > 1 else ""
        if isinstance(their, np.ndarray):
            if our is None and not their.any():
                continue  # a gradient of zeros that one side does not spell out
            array = _of_same_kind(where, our, their)
            if numbers:
                _compare_numbers(where, array, their, yardstick, place)
        elif numbers and not _same(our, their):
            raise DifferenceError(f"{where}{our!r}, torch {their!r}")


def _same(our: Any, their: Any) -> bool:
    if our is None or their is None:
        filled = their if our is None else our
        return our is their or (isinstance(filled, np.ndarray) and not filled.any())
    if type(our) is not type(their):
        return False
    if isinstance(their, (float, complex)):
        return bool(np.isclose(our, their, 1e-5, 1e-6, equal_nan=True))
    return our == their


def _of_same_kind(where: str, our: Any, their: np.ndarray) -> np.ndarray:
    if not isinstance(our, np.ndarray):
        raise DifferenceError(f"{where}{our!r}, torch has a tensor of shape {list(their.shape)}")
    if our.shape != their.shape:
        raise DifferenceError(f"{where}shape {list(our.shape)}, torch {list(their.shape)}")
    if our.dtype != their.dtype:
        raise DifferenceError(f"{where}dtype {our.dtype}, torch {their.dtype}")
    return our


def _compare_numbers(where: str, our: np.ndarray, their: np.ndarray, yardstick: Yardstick, index: int) -> None:
    wrong = yardstick.wrong(our, their)
    if not np.any(wrong):
        return
    exact = yardstick.exact(index, their)
    if exact is not None and _as_good(our, their, exact, yardstick):
        return
    place = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    count = int(np.count_nonzero(wrong))
    raise DifferenceError(
        f"{where}{our[place]} at {list(place)}, torch {their[place]} ({count} of {wrong.size} differ)"
    )


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _largest_number(array: np.ndarray) -> float:
    """Return the largest number, between 0.01 and 100: what differences near 0 are measured against."""
    finite = np.abs(_wide(array[np.isfinite(_wide(array))]))
    return float(np.clip(finite.max(), 0.01, 100.0)) if finite.size else 1.0


def _as_good(our: np.ndarray, their: np.ndarray, exact: np.ndarray, yardstick: Yardstick) -> bool:
    a, b = _wide(our), _wide(their)
    if our.dtype.kind == "c":
        a, b, exact = (np.stack([np.real(x), np.imag(x)]) for x in (a, b, exact))
    fits = (a == exact) | (a == b) | (np.isnan(a) & np.isnan(b)) | (np.isnan(a) & np.isnan(exact))
    with np.errstate(all="ignore"):
        unit = yardstick.bound(their.dtype) * (np.abs(exact) + yardstick.size)
        worst = np.abs(b - exact)
        worst = np.max(worst[np.isfinite(worst)], initial=0.0)
        near = np.abs(a - exact) <= np.maximum(2 * worst, unit)
        overflown = np.isinf(a) & (np.sign(a) == np.sign(exact)) & (np.abs(exact) > 0.99 * LARGEST[their.dtype.name])
    return bool(np.all(fits | near | overflown))
