"""How shapes are stretched to fit each other, and torch's error where they cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that all `shapes` stretch to. Raises RuntimeError where two sizes differ and neither is 1."""
    ndim = max(map(len, shapes), default=0)
    result: list[int] = []
    for position in reversed(range(ndim)):
        size = 1
        for shape in shapes:
            offset = position - (ndim - len(shape))
            here = shape[offset] if offset >= 0 else 1
            if here != 1 and size not in (1, here):
                raise RuntimeError(
                    f"The size of tensor a ({size}) must match the size of tensor b ({here}) "
                    f"at non-singleton dimension {position}"
                )
            size = size if here == 1 else here
        result.append(size)
    return tuple(reversed(result))


def broadcast(*arrays: Any) -> list[Array]:
    """Stretch arrays to their common shape."""
    shape = broadcast_shape(*(array.shape for array in arrays))
    return [array if array.shape == shape else stretched(array, shape) for array in arrays]


def stretched(array: Any, shape: Sequence[int]) -> Array:
    """Stretch one array; 16-bit floats by way of float32, in which their gradient is then summed."""
    if array.dtype.itemsize == 2 and array.dtype.kind in "fV":
        return jnp.broadcast_to(array.astype(np.float32), shape).astype(array.dtype)
    return jnp.broadcast_to(array, shape)
