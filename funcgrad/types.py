"""torch.types: names for what torch's functions take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype
from funcgrad._base.layouts import layout
from funcgrad._base.size import Size
from funcgrad._tensor.storage import TypedStorage, UntypedStorage
from funcgrad._tensor.symbolic import SymBool, SymFloat, SymInt
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "BoolLikeType", "Device", "FileLike", "FloatLikeType", "IntLikeType", "Number", "Size", "Storage", "SymBool",
    "SymFloat", "SymInt", "py_sym_types",
]  # fmt: skip


class DeviceObjType:
    """The type of devices in TorchScript. Libraries name it in annotations."""


Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Number: TypeAlias = int | float | bool
Storage: TypeAlias = TypedStorage | UntypedStorage
IntLikeType: TypeAlias = int | SymInt
FloatLikeType: TypeAlias = float | SymFloat
BoolLikeType: TypeAlias = bool | SymBool
py_sym_types = (SymInt, SymFloat, SymBool)

_bool, _bytes, _complex, _float, _int, _str = bool, bytes, complex, float, int, str
_device, _dtype, _layout, _Number = device, dtype, layout, (int, float, bool)
_size, _symsize = Size | list[int] | tuple[int, ...], Size | Sequence[int | SymInt]
_TensorOrTensors, _TensorOrOptionalTensors = Tensor | Sequence[Tensor], Tensor | Sequence[Tensor | None]
