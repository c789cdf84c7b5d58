"""torch.storage: the elements behind tensors, typed and as bytes."""

from __future__ import annotations

import io
from typing import Any

from funcgrad._tensor.storage import TypedStorage, UntypedStorage
from funcgrad.serialization import load

__all__ = ["TypedStorage", "UntypedStorage"]


def _load_from_bytes(b: bytes) -> Any:
    """Return the storage that a plain pickle of a tensor holds: PyTorch names this function there."""
    return load(io.BytesIO(b), weights_only=False)
