"""x.storage() and x.untyped_storage(): the elements behind a tensor and its views, as a flat sequence."""

from __future__ import annotations

import functools
import os
from abc import ABC
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import TYPE_NAMES
from funcgrad._base.warning import warn_once
from funcgrad._ops.strides import dense_strides
from funcgrad._tensor import creation
from funcgrad._tensor.arguments import as_dims
from funcgrad._tensor.facts import data_ptr
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.registry import FUNCTIONS, METHODS, method
from funcgrad._tensor.strides import in_storage_order, is_contiguous, offset_of
from funcgrad._tensor.tensor import Tensor

_TYPED_STORAGE = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
    "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()"
)


class UntypedStorage:
    """The bytes behind a tensor: how many, and where."""

    _dtype = dtypes.uint8

    def __init__(self, given: Any = 0) -> None:
        self._whole: Tensor = _elements(given, self._dtype)

    @staticmethod
    def from_file(filename: str | os.PathLike[str], shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Return the first bytes of a file; parts are read when they are asked for. Writing changes no file."""
        if shared:
            raise RuntimeError("from_file(): a storage that writes to its file is not supported: pass shared=False")
        return _FileStorage(filename, nbytes)

    @property
    def device(self) -> Any:
        """Where the elements are."""
        return self._whole.device

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._whole.shape.numel() * self._whole.dtype.itemsize

    def __sizeof__(self) -> int:
        """Return the bytes that it takes, those behind it included."""
        return object.__sizeof__(self) + self.nbytes()

    def data_ptr(self) -> int:
        """Return the address of the array."""
        return data_ptr(self._whole)

    def is_shared(self) -> bool:
        """Tell whether `share_memory_` was called on a tensor of this storage."""
        return self._whole.is_shared()

    def size(self) -> int:
        """Return the number of elements: of an untyped storage, bytes."""
        return self.nbytes()

    def untyped(self) -> UntypedStorage:
        """Return the storage as bytes."""
        return UntypedStorage(self._whole) if isinstance(self, TypedStorage) else self

    def element_size(self) -> int:
        """Return the bytes of an element: 1, unless the storage says what its elements are."""
        return self._row().dtype.itemsize

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers: bytes of an untyped storage."""
        return self.__array__().tolist()  # type: ignore[no-any-return]  # of one dimension, a list

    def fill_(self, value: Any) -> Self:
        """Write one number to all elements: of an untyped storage, to each byte. Tensors of this storage see it."""
        self._row().fill_(value)
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> Self:
        """Write the elements of another storage: bytes to bytes, numbers to numbers. RuntimeError: of another size."""
        if source.nbytes() != self.nbytes() and len(source) != len(self):
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        self._row().copy_(source._row())
        return self

    def clone(self) -> Self:
        """Return a storage of its own with the same elements."""
        kind: Any = type(self) if isinstance(self, TypedStorage) else UntypedStorage
        return kind(self._whole.detach().clone())  # type: ignore[no-any-return]  # the kind that it is

    def _row(self) -> Tensor:
        """Return the elements, bytes of an untyped storage, as a tensor of one dimension that shares them."""
        row: Any = in_storage_order(self._whole.detach()).view(-1)  # its stub lacks the view of another dtype
        return row if isinstance(self, TypedStorage) else row.view(self._dtype)

    def __len__(self) -> int:
        return self.size()

    def __setitem__(self, place: Any, number: Any) -> None:
        self._row()[place] = number

    def __getitem__(self, place: Any) -> Any:
        """Return a byte as a number, or a storage with a copy of some."""
        found = self.__array__()[place]
        return UntypedStorage(from_host(found)) if isinstance(place, slice) else int(found)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return a copy of the elements: bytes of an untyped storage. Shape: (size,)."""
        array = to_host(self._whole).reshape(-1)
        found = array if isinstance(self, TypedStorage) else array.view(np.uint8)
        return found if dtype is None else found.astype(dtype)

    def __repr__(self) -> str:
        whole: Any = self._whole.detach().flatten()  # its stub lacks the view of another dtype
        shown = "".join(f" {number}\n" for number in whole.view(self._dtype).tolist())
        return f"{shown}[torch.storage.{type(self).__name__}(device={self.device}) of size {self.size()}]"


def _elements(given: Any, dtype: Any) -> Tensor:
    """Return a whole tensor: the given one or what it is a view of, one of these numbers, or of so many zeros."""
    if isinstance(given, Tensor):
        return given._whole
    if isinstance(given, (list, tuple, range)):
        return creation.tensor(given, dtype=dtype)
    return creation.zeros(int(given), dtype=dtype)


class _FileStorage(UntypedStorage):
    """The bytes of a file, which stay there until a part is asked for."""

    def __init__(self, filename: str | os.PathLike[str], nbytes: int) -> None:
        self._bytes = np.memmap(filename, np.uint8, "r", shape=(nbytes,)) if nbytes else np.empty(0, np.uint8)

    @functools.cached_property
    def _whole(self) -> Tensor:  # type: ignore[override]  # read when it is wanted
        return from_host(self._bytes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._bytes if dtype is None else self._bytes.astype(dtype)


class TypedStorage(UntypedStorage):
    """The elements behind a tensor, that can be read and written by their place."""

    _dtype = dtypes.float32

    def __init__(self, given: Any = 0, *, dtype: Any = None) -> None:
        self._whole = _elements(given, dtype or self._dtype)

    @property
    def dtype(self) -> Any:
        """What the elements are."""
        return self._whole.dtype

    def size(self) -> int:
        """Return the number of elements."""
        return self._whole.shape.numel()

    def __repr__(self) -> str:
        shown = "".join(f" {number}\n" for number in self)
        kind = f"torch.storage.TypedStorage(dtype={self.dtype}, device={self.device})"
        return f"{shown}[{kind} of size {self.size()}]"

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers."""
        return self._whole.detach().flatten().tolist()  # type: ignore[no-any-return]  # of a 1-d tensor, a list

    def __getitem__(self, place: Any) -> Any:
        return self.tolist()[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())


@method()
def storage(self: Tensor) -> TypedStorage:
    """Return the elements of the tensor, or of what it is a view of. Warns: torch means to drop typed storages."""
    warn_once(_TYPED_STORAGE)
    return TypedStorage(self)


METHODS["_typed_storage"] = lambda self: TypedStorage(self)


@method()
def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the bytes of the tensor, or of what it is a view of."""
    return UntypedStorage(self)


@method()
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = ()) -> Tensor:
    """Make this name share the elements of a tensor or storage, or no elements.

    size, stride, storage_offset: which of the elements, as in `as_strided`, from the tensor's first; by default a
    tensor's own, and all of a storage in a row. RuntimeError: an element lies outside of the storage, or a part is
    wanted of a tensor that is not contiguous.
    """
    self._check_writable()
    if source is None:
        self.data = Tensor(0)
        return self
    if isinstance(source, UntypedStorage):
        source = _in_a_row(source, self.dtype)
    if size is not None:
        if not is_contiguous(source):
            raise RuntimeError("passed in tensor to be used as storage must be contiguous")
        shape, start = as_dims(size) or (), offset_of(source) + storage_offset
        source = source.detach().as_strided(shape, stride or dense_strides(tuple(shape)), start)
    self.data = source
    return self


def _in_a_row(storage: UntypedStorage, dtype: Any) -> Tensor:
    """Return the elements as a tensor of one dimension: of this dtype where the storage does not say what they are."""
    row: Any = storage._row()
    return row if isinstance(storage, TypedStorage) else row.view(dtype)


def _storage_of(dtype: Any, name: str) -> type[TypedStorage]:
    return type(
        f"{name}Storage", (TypedStorage,), {"_dtype": dtype, "__module__": "torch", "__doc__": TypedStorage.__doc__}
    )


FUNCTIONS.update((f"{name}Storage", _storage_of(dtype, name)) for dtype, name in TYPE_NAMES.items())
FUNCTIONS["TypedStorage"], FUNCTIONS["UntypedStorage"] = TypedStorage, UntypedStorage


class StorageBase(ABC):  # noqa: B024  # asked about, never derived from
    """What storages of bytes are instances of, and typed ones are not."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        return issubclass(subclass, UntypedStorage) and not issubclass(subclass, TypedStorage)


FUNCTIONS["StorageBase"] = StorageBase


@method()
def storage_type(self: Tensor) -> Any:
    """Return the class of the tensor's typed storage."""
    return FUNCTIONS[f"{TYPE_NAMES[self.dtype]}Storage"]
