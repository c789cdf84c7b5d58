"""What JSON can say of a loaded object: the same words as record.py's, for funcgrad's tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base.size import Size
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.tensor import Tensor


def described(found: Any) -> Any:
    """Return dtype, shape, need of a gradient and bytes for a tensor; containers part by part."""
    if isinstance(found, Tensor):
        raw = np.ascontiguousarray(to_host(found)).tobytes().hex()
        return ["tensor", str(found.dtype), list(found.shape), found.requires_grad, raw]
    if isinstance(found, dict):
        return {str(key): described(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)) and not isinstance(found, Size):
        return [described(value) for value in found]
    if isinstance(found, set):
        return sorted(found)
    return found if isinstance(found, (bool, int, float, str, type(None))) else repr(found)
