"""Old spellings: Tensor(2, 3), FloatTensor(...), LongTensor([...]), cuda.FloatTensor, and isinstance with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import TYPE_NAMES, c_type_name
from funcgrad._base.devices import device as Device
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.size import Size
from funcgrad._tensor.creation import zeros
from funcgrad._tensor.data import from_data
from funcgrad._tensor.placement import available, is_on
from funcgrad._tensor.tensor import Tensor


def make(cls: Any, *data: Any, device: Any = None, dtype: DType | None = None) -> Tensor:
    """Return what torch's old constructor does: sizes give zeros, a sequence its numbers, a tensor a view of itself."""
    kind = dtype or dtypes.get_default_dtype()
    if not data:
        return zeros(0, dtype=kind, device=device)
    if all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in data):
        return zeros(*(int(n) for n in data), dtype=kind, device=device)
    given = data[0]
    if len(data) > 1 or isinstance(given, (bool, float, complex)):
        raise TypeError(f"new(): data must be a sequence (got {', '.join(type(x).__name__ for x in data)})")
    if isinstance(given, Size):
        return zeros(given, dtype=kind, device=device)
    if isinstance(given, Tensor) and _is_of(given, dtype, device):
        return given[...] if given.requires_grad else given.detach()
    if isinstance(given, Tensor) and dtype is not None:
        raise TypeError(f"expected {_options(kind, device or 'cpu')} (got {_options(given.dtype, given.device)})")
    return from_data(given, kind, device, False)


def _options(dtype: DType, device: Any) -> str:
    """Write a tensor's dtype and device as torch's C++ side does in error messages."""
    return (
        f"TensorOptions(dtype={c_type_name(dtype)}, device={device}, layout=Strided, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _is_of(tensor: Tensor, dtype: DType | None, device: Any) -> bool:
    return (dtype is None or tensor.dtype is dtype) and (device is None or is_on(tensor.device, Device(device)))


class _TypeOfTensor(type):
    """Lets `isinstance(x, FloatTensor)` ask for the dtype (and the device)."""

    dtype: DType
    is_cuda: bool

    def __instancecheck__(cls, instance: Any) -> bool:
        if not isinstance(instance, Tensor) or instance.dtype is not cls.dtype:
            return False
        return instance.is_cuda if cls.is_cuda else not instance.is_cuda or _names_no_device(instance)


def _names_no_device(tensor: Tensor) -> bool:
    """Tell whether a tensor on the GPU is there because it is nowhere else: PyTorch would have it on the CPU."""
    return tensor._current().value.aval.placement is None


def _type_named(name: str, dtype: DType, module: str) -> Any:
    is_cuda = module == "torch.cuda"

    def new(cls: Any, *data: Any, device: Any = None) -> Tensor:
        if is_cuda and not available("cuda"):
            raise TypeError(f"type {module}.{name} not available. Torch not compiled with CUDA enabled.")
        return make(cls, *data, device="cuda" if is_cuda else device, dtype=dtype)

    return _TypeOfTensor(name, (), {"__new__": new, "dtype": dtype, "is_cuda": is_cuda, "__module__": module})


_NAMES = {f"{name}Tensor": dtype for dtype, name in TYPE_NAMES.items() if not dtype.is_complex}
TYPES = {name: _type_named(name, dtype, "torch") for name, dtype in _NAMES.items()}
CUDA_TYPES = {name: _type_named(name, dtype, "torch.cuda") for name, dtype in _NAMES.items()}
