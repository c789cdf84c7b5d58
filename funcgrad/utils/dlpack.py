"""torch.utils.dlpack: arrays of other libraries, read without a copy where JAX can."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.interop import from_dlpack
from funcgrad._tensor.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """Return the capsule through which another library reads the tensor."""
    return tensor.__dlpack__()
