"""torch.amp: autocast, a GradScaler for float16, and decorators for the two halves of an autograd.Function."""

from __future__ import annotations

from funcgrad.amp import autocast_mode, grad_scaler
from funcgrad.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from funcgrad.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler", "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "grad_scaler", "is_autocast_available",
]  # fmt: skip
