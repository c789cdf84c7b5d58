"""torch.cuda.amp: autocast and GradScaler under their old names, which leave out the kind of device."""

from __future__ import annotations

import functools
from typing import Any

from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.dtypes import float16
from funcgrad._tensor.placement import available
from funcgrad.amp import autocast_mode, grad_scaler
from funcgrad.amp.autocast_mode import warn_of_old_name

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def amp_definitely_not_available() -> bool:
    """Tell whether JAX sees no GPU."""
    return not available("cuda")


class autocast(autocast_mode.autocast):  # noqa: N801 - torch's own spelling
    """amp.autocast("cuda", ...)."""

    def __init__(self, enabled: bool = True, dtype: DType = float16, cache_enabled: bool = True) -> None:
        warn_of_old_name("cuda", "autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """amp.GradScaler("cuda", ...)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        warn_of_old_name("cuda", "GradScaler")
        super().__init__("cuda", *arguments, **options)


def custom_fwd(fwd: Any = None, *, cast_inputs: DType | None = None) -> Any:
    """Return amp.custom_fwd for "cuda"."""
    warn_of_old_name("cuda", "custom_fwd", "args..., device_type='cuda'")
    return autocast_mode.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """Return amp.custom_bwd for "cuda"."""
    warn_of_old_name("cuda", "custom_bwd", "args..., device_type='cuda'")
    return functools.partial(autocast_mode.custom_bwd, device_type="cuda")(bwd)
