"""When our results count as torch's: same structure, shapes, dtypes and, as far as the precision goes, numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-5, "float64": 1e-7, "complex64": 3e-5, "complex128": 1e-7}


class DifferenceError(AssertionError):
    """Ours is not torch's; the message says where and by how much."""


def compare(
    ours: list[Any], theirs: list[Any], truth: Callable[[], list[Any]] | None = None, numbers: bool = True
) -> None:
    """Raise DifferenceError unless our results are torch's.

    truth: torch's results in double precision. Where rounding parts ours from torch's in a lower one, ours also counts
    when it is as near to the truth as torch's own is (within a factor of 2).
    numbers: False compares structure, shapes and dtypes only.
    """
    if len(ours) != len(theirs):
        raise DifferenceError(f"{len(ours)} results, torch has {len(theirs)}")
    for i, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        where = f"result {i}: " if len(ours) > 1 else ""
        if isinstance(their, np.ndarray):
            _compare_arrays(where, our, their, None if truth is None else (lambda i=i: truth()[i]), numbers)
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


def _compare_arrays(where: str, our: Any, their: np.ndarray, truth: Callable[[], Any] | None, numbers: bool) -> None:
    if our is None and not their.any():
        return  # a gradient of zeros that one side does not spell out
    if not isinstance(our, np.ndarray):
        raise DifferenceError(f"{where}{our!r}, torch has a tensor of shape {list(their.shape)}")
    if our.shape != their.shape:
        raise DifferenceError(f"{where}shape {list(our.shape)}, torch {list(their.shape)}")
    if our.dtype != their.dtype:
        raise DifferenceError(f"{where}dtype {our.dtype}, torch {their.dtype}")
    if numbers and not close(our, their) and not _as_good(our, their, truth):
        raise DifferenceError(where + _first_difference(our, their))


def close(our: np.ndarray, their: np.ndarray) -> bool:
    """Tell whether numbers agree as far as their dtype's precision goes; infinite and undefined ones exactly."""
    bound = TOLERANCE.get(their.dtype.name)
    if bound is None:
        return bool(np.array_equal(our, their))
    a, b = _wide(our), _wide(their)
    return bool(np.allclose(a, b, bound, bound * _size(b), equal_nan=True))


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _size(array: np.ndarray) -> float:
    """Return the largest number in an array, between 0.01 and 1: what differences near 0 are measured against."""
    finite = np.abs(array[np.isfinite(array)])
    return float(np.clip(finite.max(), 0.01, 1.0)) if finite.size else 1.0


def _as_good(our: np.ndarray, their: np.ndarray, truth: Callable[[], Any] | None) -> bool:
    if truth is None or their.dtype.name in ("float64", "complex128") or their.dtype.name not in TOLERANCE:
        return False
    exact = truth()
    if not isinstance(exact, np.ndarray) or exact.shape != their.shape:
        return False
    a, b, exact = _wide(our), _wide(their), _wide(exact)
    if our.dtype.kind == "c":
        a, b, exact = (np.stack([np.real(x), np.imag(x)]) for x in (a, b, exact))
    fits = (a == exact) | (a == b) | (np.isnan(a) & np.isnan(b)) | (np.isnan(a) & np.isnan(exact))
    with np.errstate(all="ignore"):
        unit = TOLERANCE[their.dtype.name] * (np.abs(exact) + _size(exact))
        worst = np.abs(b - exact)
        worst = np.max(worst[np.isfinite(worst)], initial=0.0)
        near = np.abs(a - exact) <= np.maximum(2 * worst, unit)
        overflown = np.isinf(a) & (np.sign(a) == np.sign(exact)) & (np.abs(exact) > 0.99 * _largest(their.dtype))
    return bool(np.all(fits | near | overflown))


def _largest(dtype: np.dtype) -> float:
    return 65504.0 if dtype.name == "float16" else 3.38e38


def _first_difference(our: np.ndarray, their: np.ndarray) -> str:
    bound = TOLERANCE.get(their.dtype.name, 0.0)
    a, b = (_wide(our), _wide(their)) if bound else (our, their)
    wrong = ~np.isclose(a, b, bound, bound * _size(b), equal_nan=True) if bound else a != b
    place = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    count = int(np.count_nonzero(wrong))
    return f"{our[place]} at {list(place)}, torch {their[place]} ({count} of {wrong.size} differ)"
