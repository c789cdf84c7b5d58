"""Storages: the bytes that tensors of a file read, what torch calls their kinds, and how a tensor lies in one."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, NamedTuple

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import TYPE_NAMES
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.storage import TypedStorage as Elements
from funcgrad._tensor.tensor import Tensor

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class StorageKind(NamedTuple):
    """What a global such as `torch.FloatStorage` stands for; dtype None is the untyped storage."""

    name: str
    dtype: DType | None


UNTYPED = StorageKind("UntypedStorage", None)
KINDS: dict[str, StorageKind] = {
    f"torch.{name}Storage": StorageKind(f"{name}Storage", kind) for kind, name in TYPE_NAMES.items()
}
KINDS |= {name.replace("torch.", "torch.cuda."): kind for name, kind in KINDS.items()}
KINDS |= {"torch.storage.UntypedStorage": UNTYPED, "torch.UntypedStorage": UNTYPED}
KIND_OF_DTYPE: dict[DType, StorageKind] = {kind.dtype: kind for kind in KINDS.values() if kind.dtype is not None}


class Storage:
    """The bytes of one storage of a file, and the device on which its tensors will live.

    `map_location` functions are given it: `cpu`, `cuda` and `to` return one for another device. `is_shared` tells that
    several tensors of the file read it; these become views of one tensor, `whole`.
    """

    __slots__ = ("bytes", "device", "is_shared", "whole")

    def __init__(self, data: Bytes, device: Any = "cpu", is_shared: bool = False) -> None:
        self.bytes, self.device, self.is_shared = data, device, is_shared
        self.whole: Any = None  # that one tensor, once somebody reads it

    def to(self, device: Any) -> Storage:
        """Return the storage as it will be on `device`."""
        return Storage(self.bytes, device, self.is_shared)

    def cpu(self) -> Storage:
        """Return the storage as it will be in main memory."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Storage:
        """Return the storage as it will be on a GPU: the one numbered `device`, else the current one."""
        return self.to(f"cuda:{device}" if isinstance(device, int) else device or "cuda")

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return len(self.bytes)

    def typed(self, dtype: DType) -> np.ndarray[Any, Any]:
        """Return the elements; RuntimeError where the bytes are no multiple of an element."""
        if len(self.bytes) % dtype.itemsize:
            raise RuntimeError(f"a storage of {len(self.bytes)} bytes can not hold elements of {dtype}")
        if dtype is dtypes.bool_:
            return self.bytes != 0  # other bytes than 0 and 1 would be no bools
        return self.bytes.view(dtype.numpy)


class TypedStorage(Elements):
    """A storage with the dtype under which the file speaks of it, which is None where it names none.

    Its elements, which a file may hold for their own sake, are made a tensor when they are asked for: bytes without a
    dtype, as torch loads them.
    """

    __module__ = "torch.storage"

    def __init__(self, storage: Storage, named: DType | None) -> None:
        self.storage, self.named = storage, named

    @functools.cached_property
    def _whole(self) -> Tensor:  # type: ignore[override]  # made when it is wanted
        kind = self.named or dtypes.uint8
        if self.storage.whole is None or self.storage.whole.dtype is not kind:
            self.storage.whole = from_host(self.storage.typed(kind), dtype=kind, device=self.storage.device)
        return self.storage.whole  # type: ignore[no-any-return]  # a tensor by now


class Geometry(NamedTuple):
    """Where a tensor's elements lie in its storage, counted in elements."""

    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    @classmethod
    def checked(cls, offset: Any, size: Any, stride: Any, available: int) -> Geometry:
        """Return a geometry that stays within `available` elements; RuntimeError for any other."""
        made = cls(offset, tuple(size), tuple(stride))
        numbers = (offset, *made.size, *made.stride)
        if any(type(n) is not int or n < 0 for n in numbers) or len(made.size) != len(made.stride):
            raise RuntimeError(f"mismatch in length or sign of strides and shape: {made}")
        if made.needed > available:
            raise RuntimeError(
                f"setStorage: sizes {list(made.size)}, strides {list(made.stride)}, storage offset {offset} requiring "
                f"a storage size of {made.needed} elements are out of bounds for storage of size {available}"
            )
        return made

    @property
    def needed(self) -> int:
        """The elements that a storage must have at least."""
        if 0 in self.size:
            return 0
        return self.offset + 1 + sum((n - 1) * step for n, step in zip(self.size, self.stride, strict=True))

    @property
    def numel(self) -> int:
        """The elements of the tensor."""
        return math.prod(self.size)

    def unexpanded(self) -> Geometry:
        """Return where the elements lie that an expanded tensor repeats (stride 0)."""
        once = (min(n, 1) if step == 0 else n for n, step in zip(self.size, self.stride, strict=True))
        return Geometry(self.offset, tuple(once), self.stride)

    def read(self, elements: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the tensor's elements, as a view where there are any."""
        if 0 in self.size:
            return np.empty(self.size, elements.dtype)
        width = elements.itemsize
        steps = [step * width for step in self.stride]
        # Not as_strided: numpy would take bfloat16 for raw bytes there.
        return np.ndarray(self.size, elements.dtype, elements.view(np.uint8).data, self.offset * width, steps)


def native_order(data: Bytes, dtype: DType, order: str) -> Bytes:
    """Return bytes written on a machine of byte order `order` ("little", "big") in this machine's order."""
    if order == sys.byteorder:
        return data
    width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
    return data.reshape(-1, width)[:, ::-1].reshape(-1)
