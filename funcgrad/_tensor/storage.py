"""x.storage() and x.untyped_storage(): the elements behind a tensor and its views, as a flat sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from funcgrad._tensor.facts import data_ptr
from funcgrad._tensor.registry import method
from funcgrad._tensor.tensor import Tensor


class UntypedStorage:
    """The bytes behind a tensor: how many, and where."""

    def __init__(self, tensor: Tensor) -> None:
        self._whole = tensor if tensor._base is None else tensor._base

    @property
    def device(self) -> Any:
        return self._whole.device

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._whole.shape.numel() * self._whole.dtype.itemsize

    def data_ptr(self) -> int:
        """Return the address of the array."""
        return data_ptr(self._whole)

    def size(self) -> int:
        """Return the number of elements: of an untyped storage, bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.size()


class TypedStorage(UntypedStorage):
    """The elements behind a tensor, that can be read and written by their place."""

    @property
    def dtype(self) -> Any:
        return self._whole.dtype

    def size(self) -> int:
        """Return the number of elements."""
        return self._whole.shape.numel()

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers."""
        return self._whole.detach().flatten().tolist()  # type: ignore[no-any-return]  # of a 1-d tensor, a list

    def __getitem__(self, place: Any) -> Any:
        return self.tolist()[place]

    def __setitem__(self, place: Any, number: Any) -> None:
        self._whole.detach().view(-1)[place] = number

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())


@method("storage", "_typed_storage")
def storage(self: Tensor) -> TypedStorage:
    """Return the elements of the tensor, or of what it is a view of."""
    return TypedStorage(self)


@method()
def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the bytes of the tensor, or of what it is a view of."""
    return UntypedStorage(self)
