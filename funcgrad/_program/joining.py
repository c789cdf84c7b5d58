"""What numpy does with small arrays that the host has: put them together, show them in another shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._ops.table import TABLE
from funcgrad._program.value import Aval

Numbers = np.ndarray[Any, Any]


def _joined(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    """Join along a dimension; empty 1-D tensors are left out, as by the row."""
    fitting = [array for array in arrays if array.shape != (0,)] or arrays
    return np.concatenate(fitting, statics[0] if statics else 0, dtype=result.dtype.numpy, casting="unsafe")


def _stacked(arrays: Sequence[Numbers], statics: tuple[Any, ...], result: Aval) -> Numbers:
    """Join along a new dimension: by joining along the one before which it comes, as long as there is one."""
    axis = range(len(result.shape))[statics[0] if statics else 0]
    if axis == arrays[0].ndim:
        return np.stack(arrays, axis, dtype=result.dtype.numpy, casting="unsafe")
    return np.concatenate(arrays, axis, dtype=result.dtype.numpy, casting="unsafe").reshape(result.shape)


SMALL = 1 << 16  # bytes; a larger array had better be on the device, once, than travel in each new shape
SHAPING = tuple(TABLE[name] for name in ("view", "reshape", "squeeze", "unsqueeze", "flatten"))
BY_NUMPY: dict[str, Callable[[Sequence[Numbers], tuple[Any, ...], Aval], Numbers]] = {"cat": _joined, "stack": _stacked}
