"""The pickler of a checkpoint: tensors become torch's rebuild calls, our classes are written under torch's names."""

from __future__ import annotations

import codecs
import io
import pickle
from collections import OrderedDict
from types import FunctionType
from typing import Any, BinaryIO, ClassVar

from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor.sparse.tensor import SparseTensor
from funcgrad._tensor.storage import TypedStorage, UntypedStorage
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization import names, rebuild
from funcgrad.serialization.placing import located, shared_by, stored
from funcgrad.serialization.storages import KIND_OF_DTYPE, UNTYPED, StorageKind


class StoredTensor:
    """A tensor whose whole content is one storage of the file, of bytes where only an untyped storage was saved."""

    __slots__ = ("as_bytes", "key", "tensor")

    def __init__(self, key: str, tensor: Tensor, as_bytes: bool) -> None:
        self.key, self.tensor = key, tensor
        self.as_bytes = as_bytes or tensor.dtype not in KIND_OF_DTYPE  # for which torch has no storage class

    @property
    def numel(self) -> int:
        """Elements, or bytes."""
        return self.tensor.shape.numel() * (self.tensor.dtype.itemsize if self.as_bytes else 1)

    @property
    def identity(self) -> tuple[Any, ...]:
        """What the pickle says of the storage."""
        kind = UNTYPED if self.as_bytes else KIND_OF_DTYPE[self.tensor.dtype]
        return ("storage", kind, self.key, str(self.tensor.device), self.numel)


class _Untracked:
    """The data of a parameter: the same tensor, saved as one that needs no gradient."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


_Pickler: Any = pickle._Pickler  # type: ignore[attr-defined]  # the one in C lets nobody choose a global's name


class CheckpointPickler(_Pickler):
    """Writes one object; `storages` then tells what bytes must lie beside it.

    `view_metadata`: end each storage's id with the None that the format before torch 1.6 has there.
    """

    dispatch: ClassVar[dict[type, Any]] = dict(_Pickler.dispatch)

    def __init__(self, file: BinaryIO, protocol: int, view_metadata: bool = False) -> None:
        super().__init__(file, protocol)
        self.storages: dict[int, StoredTensor] = {}
        self.view_metadata = view_metadata
        self._kinds: dict[int, DType | None] = {}  # as what each storage was seen
        self._shared: list[object] = []  # kept, so that no id is used twice

    def persistent_id(self, obj: Any) -> Any:
        if type(obj) is StoredTensor:
            identity = obj.identity
        elif isinstance(obj, UntypedStorage):
            seen_as = obj._whole.dtype if isinstance(obj, TypedStorage) else None
            identity = self._stored(located(obj._whole)[0], seen_as).identity
        else:
            return None
        return (*identity, None) if self.view_metadata else identity

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return _reduced(obj, self._stored)
        if type(obj) is _Untracked:
            return _plain(obj.tensor, False, self._stored)
        return obj.name if type(obj) is StorageKind else NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        known = names.torch_name(obj)
        if known is None:
            try:
                super().save_global(obj, name)
            except pickle.PicklingError as error:
                raise _as_in_c(error, obj) from None
            return
        if self.proto >= 4:
            self.save(known[0])
            self.save(known[1])
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{known[0]}\n{known[1]}\n".encode())
        self.memoize(obj)

    dispatch[FunctionType] = save_global

    def save_bytes(self, obj: bytes) -> None:
        if obj or self.proto >= 3:
            super().save_bytes(obj)
        else:  # Python's own way, a call of `bytes`, is one that torch's weights-only load refuses
            self.save_reduce(codecs.encode, ("", "latin1"), obj=obj)

    dispatch[bytes] = save_bytes

    def _stored(self, root: Tensor, seen_as: DType | None) -> StoredTensor:
        """Return the storage behind a tensor. seen_as: the dtype of what is saved of it, None where that is bytes."""
        shared = shared_by(root)
        if self._kinds.setdefault(id(shared), seen_as) is not seen_as:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        found = self.storages.get(id(shared))
        if found is None:
            self._shared.append(shared)
            found = self.storages[id(shared)] = StoredTensor(
                str(len(self.storages)), stored(root), as_bytes=seen_as is None
            )
        return found


def checkpoint_pickler(module: Any, file: BinaryIO, protocol: int, view_metadata: bool = False) -> CheckpointPickler:
    """Return a pickler that writes tensors as ours does, and all else as the `Pickler` of a module like `pickle`."""
    if module is pickle:
        return CheckpointPickler(file, protocol, view_metadata)
    if issubclass(module.Pickler, _Pickler):
        kind = type("CheckpointPickler", (_Dispatching, module.Pickler), {"dispatch": module.Pickler.dispatch})
        return kind(file, protocol, view_metadata)
    return _Asking(module.Pickler(io.BytesIO(), protocol), file, protocol, view_metadata)


class _Dispatching(CheckpointPickler):
    """With another pickler written in Python behind it, which has functions of its own for kinds of objects (dill)."""

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        is_global = isinstance(obj, (type, FunctionType)) and id(obj) not in self.memo
        if is_global and names.torch_name(obj) is not None:
            self.save_global(obj)
        else:
            super().save(obj, save_persistent_id)


class _Asking(CheckpointPickler):
    """Asks another pickler, made from the one in C, for what such a one can change (cloudpickle)."""

    def __init__(self, other: Any, file: BinaryIO, protocol: int, view_metadata: bool) -> None:
        super().__init__(file, protocol, view_metadata)
        self.reduction = getattr(other, "reducer_override", None)
        if hasattr(other, "dispatch_table"):
            self.dispatch_table = other.dispatch_table

    def reducer_override(self, obj: Any) -> Any:
        reduced = super().reducer_override(obj)
        if reduced is not NotImplemented or self.reduction is None or names.torch_name(obj) is not None:
            return reduced
        return self.reduction(obj)


def _as_in_c(error: pickle.PicklingError, obj: Any) -> Exception:
    """Return what the pickler in C, which torch uses, says of an object that is not found by its name."""
    name = getattr(obj, "__qualname__", "")
    if "it's not found as" not in str(error):
        return error
    if "<locals>" in name:
        return AttributeError(f"Can't pickle local object '{name}'")
    return pickle.PicklingError(f"Can't pickle {obj!r}: attribute lookup {name} on {obj.__module__} failed")


def _reduced(tensor: Tensor, stored: Any) -> tuple[Any, ...]:
    if tensor.is_nested:
        raise NotImplementedError("nested tensors are not saved to files: save values() and offsets()")
    if isinstance(tensor, SparseTensor):
        return rebuild.sparse_tensor, (tensor.layout, rebuild.parts_of(tensor))
    if type(tensor).__reduce_ex__ is not Tensor.__reduce_ex__:
        return tensor.__reduce_ex__(2)
    state = dict(tensor.__dict__)
    if rebuild.is_parameter(tensor):
        made = (_Untracked(tensor), tensor.requires_grad, OrderedDict())
        return (rebuild.parameter_with_state, (*made, state)) if state else (rebuild.parameter, made)
    function, arguments = _plain(tensor, tensor.requires_grad, stored)
    if type(tensor) is Tensor and not state:
        return function, arguments
    return rebuild.from_type, (function, type(tensor), arguments, state)


def _plain(tensor: Tensor, requires_grad: bool, stored: Any) -> tuple[Any, tuple[Any, ...]]:
    if tensor.device.type == "meta":
        return rebuild.meta_tensor, (tensor.dtype, tuple(tensor.shape), tensor.stride(), requires_grad)
    root, place = located(tensor)
    made = (stored(root, root.dtype), place.offset, place.size, place.stride, requires_grad, OrderedDict())
    if tensor.dtype in KIND_OF_DTYPE:
        return rebuild.tensor_v2, made
    return rebuild.tensor_v3, (*made, tensor.dtype)
