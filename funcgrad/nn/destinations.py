"""Where `Module.to` is told to move parameters: a device, a dtype, or another tensor's, in any of torch's orders."""

from __future__ import annotations

from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.layouts import memory_format as MemoryFormat
from funcgrad._tensor.tensor import Tensor


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Device | None, DType | None, bool, MemoryFormat | None]:
    """Read `to`'s arguments as (device, dtype, non_blocking, memory_format). TypeError: one is nothing of these."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    switches = []
    for value in [*args, kwargs["tensor"]] if "tensor" in kwargs else args:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, DType):
            dtype = value
        elif isinstance(value, bool):
            switches.append(value)
        elif isinstance(value, (str, int, Device)):
            device = value
        elif value is not None:
            raise TypeError(f"to() takes a dtype, a device or a tensor, not {type(value).__name__}")
    non_blocking = bool(kwargs.get("non_blocking", switches[0] if switches else False))
    return None if device is None else Device(device), dtype, non_blocking, kwargs.get("memory_format")
