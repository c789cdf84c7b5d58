"""torch.cpu.amp: autocast and GradScaler under their old names, which leave out the kind of device."""

from __future__ import annotations

from typing import Any

from funcgrad._base.dtypes import bfloat16
from funcgrad._base.dtypes import dtype as DType
from funcgrad.amp import autocast_mode, grad_scaler
from funcgrad.amp.autocast_mode import warn_of_old_name

__all__ = ["GradScaler", "autocast"]


class autocast(autocast_mode.autocast):  # noqa: N801 - torch's own spelling
    """amp.autocast("cpu", ...)."""

    def __init__(self, enabled: bool = True, dtype: DType = bfloat16, cache_enabled: bool = True) -> None:
        warn_of_old_name("cpu", "autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """amp.GradScaler("cpu", ...)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        warn_of_old_name("cpu", "GradScaler")
        super().__init__("cpu", *arguments, **options)
