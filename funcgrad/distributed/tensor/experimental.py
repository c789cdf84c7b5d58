"""torch.distributed.tensor.experimental: plain tensors among DTensors count as replicated, in a block or not."""

from __future__ import annotations

from contextlib import nullcontext

__all__ = ["implicit_replication"]


def implicit_replication() -> nullcontext[None]:
    """Return a block in which DTensors may be combined with plain tensors; here they always may."""
    return nullcontext()
