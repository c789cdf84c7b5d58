"""torch.types: names for what torch's functions take."""

from __future__ import annotations

import os
from typing import IO, TypeAlias

from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype
from funcgrad._base.size import Size
from funcgrad._tensor.storage import TypedStorage, UntypedStorage
from funcgrad._tensor.symbolic import SymBool, SymFloat, SymInt

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "SymBool", "SymFloat", "SymInt", "py_sym_types"]

Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Number: TypeAlias = int | float | bool
Storage: TypeAlias = TypedStorage | UntypedStorage
py_sym_types = (SymInt, SymFloat, SymBool)
_dtype, _size = dtype, Size | list[int] | tuple[int, ...]
