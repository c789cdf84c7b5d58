"""torch.storage: the elements behind tensors, typed and as bytes."""

from __future__ import annotations

from funcgrad._tensor.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
