"""Where `Module.to` is told to move parameters: a device, a dtype, or another tensor's, in any of torch's orders."""

from __future__ import annotations

from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.layouts import memory_format as MemoryFormat
from funcgrad._tensor.tensor import Tensor

_NAMES = {"device", "dtype", "non_blocking", "copy", "tensor", "memory_format"}
_ORDERS = """
 * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, \
torch.memory_format memory_format = None)
 * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)
 * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)
"""


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Device | None, DType | None, bool, MemoryFormat | None]:
    """Read `to`'s arguments as (device, dtype, non_blocking, memory_format). TypeError: one is nothing of these."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    if not kwargs.keys() <= _NAMES or not isinstance(dtype, DType | None):
        raise TypeError(f"to() received {_combination(args, kwargs)}")
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
            raise TypeError(f"to() received {_combination(args, kwargs)}")
    non_blocking = bool(kwargs.get("non_blocking", switches[0] if switches else False))
    return None if device is None else Device(device), dtype, non_blocking, kwargs.get("memory_format")


def _combination(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return what torch says of arguments that stand in none of the orders."""
    given = ", ".join([type(x).__name__ for x in args] + [f"{name}={type(x).__name__}" for name, x in kwargs.items()])
    return f"an invalid combination of arguments - got ({given}{', ' if kwargs else ''}), but expected one of:{_ORDERS}"
