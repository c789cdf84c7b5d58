"""The functions that a pickle of torch's names to make its tensors: from storages to Tensors, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import numpy as np

from funcgrad._base import layouts
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.strides import dense_strides
from funcgrad._ops.table import TABLE
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.call import call
from funcgrad._tensor.creation import empty_strided
from funcgrad._tensor.interop import from_host, lying_as
from funcgrad._tensor.sparse.making import sparse_compressed_tensor, sparse_coo_tensor
from funcgrad._tensor.sparse.pattern import Pattern
from funcgrad._tensor.sparse.tensor import SparseTensor
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization.storages import Geometry, Storage, TypedStorage

_MOST_OVERLAP = 64  # a window may read an element several times; a file of 1 kB may not become 1 TB
_SMALL = 1 << 24


class _Registered:
    """What a higher floor has told us: the class of parameters."""

    parameter: type[Tensor] | None = None


def register_parameter(kind: type[Tensor]) -> None:
    """Load torch's parameters as `kind(data, requires_grad)`, and save instances of `kind` as parameters."""
    _Registered.parameter = kind


def is_parameter(tensor: Tensor) -> bool:
    """Tell whether a tensor is of the registered class of parameters, itself and not by a mark."""
    kind = _Registered.parameter
    return kind is not None and isinstance(tensor, kind) and "_is_param" not in tensor.__dict__


def tensor_v2(
    storage: TypedStorage,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any = None,
    metadata: dict[str, bool] | None = None,
) -> Tensor:
    """Make a tensor of the storage's own dtype."""
    if storage.named is None:
        raise UnpicklingError("an untyped storage can not be read without a dtype")
    return _made(storage.storage, storage.named, (storage_offset, size, stride), requires_grad, metadata)


def meta_tensor(dtype: DType, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """Make a tensor without numbers."""
    return empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta", requires_grad=requires_grad)


def tensor_v1(storage: TypedStorage, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """Make a tensor as torch before 0.4 wrote it."""
    return tensor_v2(storage, storage_offset, size, stride, False)


def tensor_v3(
    storage: TypedStorage,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: DType,
    metadata: dict[str, bool] | None = None,
) -> Tensor:
    """Make a tensor of a dtype that has no storage class of its own: uint16, float8, ..."""
    if not isinstance(dtype, DType):
        raise UnpicklingError(f"a tensor needs a dtype, but got {dtype!r}")
    return _made(storage.storage, dtype, (storage_offset, size, stride), requires_grad, metadata)


def parameter(data: Tensor, requires_grad: bool, backward_hooks: Any = None) -> Tensor:
    """Make a parameter; where no class of parameters is registered, a leaf."""
    if not isinstance(data, Tensor):
        raise UnpicklingError(f"a parameter needs a tensor, but got {type(data).__name__}")
    kind: Any = _Registered.parameter
    if kind is None:
        return data.requires_grad_(bool(requires_grad))
    # Nobody else has the data but where it is shared: then the parameter must stay a name of the same storage.
    return kind._leaf(data._current(), bool(requires_grad)) if data._alias is None else kind(data, bool(requires_grad))


def parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Tensor:
    """Make a parameter that carries attributes of the user's."""
    made = parameter(data, requires_grad)
    set_attributes(made, state)
    return made


def from_type(function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    """Make a tensor of a subclass, or one that carries attributes of the user's."""
    if not any(function is known for known in FUNCTIONS.values()):
        raise UnpicklingError(f"Trying to call reduce for unrecognized function {function}")
    made = function(*arguments)
    if not (isinstance(kind, type) and issubclass(kind, Tensor)):
        raise UnpicklingError(f"a tensor can not become {kind}")
    if not isinstance(made, kind):
        made = kind._leaf(made._current(), made.requires_grad)
    set_attributes(made, state)
    return made


def from_other_device(data: Any, dtype: DType, device: Any, requires_grad: bool) -> Tensor:
    """Make a tensor that was saved through main memory, as XLA's are."""
    if not isinstance(data, (Tensor, np.ndarray)) or not isinstance(dtype, DType):
        raise UnpicklingError(f"a tensor needs data and a dtype, but got {type(data).__name__}, {dtype!r:.100}")
    tensor = data if isinstance(data, Tensor) else from_host(data)
    if tensor.dtype is not dtype:
        tensor = call(TABLE["to_dtype"], (tensor,), (dtype,))
    return tensor.requires_grad_(bool(requires_grad))


def set_attributes(tensor: Tensor, state: Any) -> None:
    """Set the attributes that a user gave a tensor; a name of Tensor's own is refused."""
    for part in state if isinstance(state, tuple) else (state,):
        if part is not None and type(part) is not dict:
            raise UnpicklingError(f"the state of a tensor is a dict, but got {type(part)}")
        for name, value in (part or {}).items():
            if hasattr(type(tensor), name):
                raise UnpicklingError(f"the state of a tensor can not replace its own '{name}'")
            vars(tensor)[name] = value


def sparse_tensor(layout: Any, parts: tuple[Any, ...]) -> Tensor:
    """Return the sparse tensor of indices, values and a size, as a layout has them. RuntimeError: they do not fit."""
    if not isinstance(parts, tuple) or len(parts) not in (3, 4) or not isinstance(layout, layouts.layout):
        raise UnpicklingError(f"a sparse tensor is made of a layout and its parts, but got {layout} and {type(parts)}")
    if layout is layouts.sparse_coo:
        indices, values, size, *is_coalesced = parts
        return sparse_coo_tensor(indices, values, size, is_coalesced=bool(is_coalesced and is_coalesced[0]))
    return sparse_compressed_tensor(*parts, layout=layout)


def parts_of(tensor: SparseTensor) -> tuple[Any, ...]:
    """Return what `sparse_tensor` makes it of."""
    pattern, values = tensor._pattern, tensor._values()
    if isinstance(pattern, Pattern):
        return pattern.indices, values, pattern.size, pattern.is_coalesced
    return pattern.compressed, pattern.plain, values, pattern.size


def _unsupported(kind: str) -> Callable[..., Tensor]:
    def refuse(*_: Any) -> Tensor:
        raise RuntimeError(f"the file holds a {kind} tensor, which funcgrad does not have")

    return refuse


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "_rebuild_tensor": tensor_v1,
    "_rebuild_tensor_v2": tensor_v2,
    "_rebuild_tensor_v3": tensor_v3,
    "_rebuild_parameter": parameter,
    "_rebuild_parameter_with_state": parameter_with_state,
    "_rebuild_device_tensor_from_cpu_tensor": from_other_device,
    "_rebuild_device_tensor_from_numpy": from_other_device,
    "_rebuild_sparse_tensor": sparse_tensor,
    "_rebuild_nested_tensor": _unsupported("nested"),
    "_rebuild_qtensor": _unsupported("quantized"),
    "_rebuild_meta_tensor_no_storage": meta_tensor,
    "_rebuild_wrapper_subclass": _unsupported("wrapper subclass"),
}
globals().update(FUNCTIONS)  # where plain pickles look for them, as torch._utils


def _made(
    storage: Storage, dtype: DType, place: tuple[Any, Any, Any], requires_grad: bool, metadata: dict[str, bool] | None
) -> Tensor:
    elements = storage.typed(dtype)
    given = Geometry.checked(*place, len(elements))
    with no_grad():
        once = given.unexpanded()
        if once.numel > max(_MOST_OVERLAP * len(elements), _SMALL):
            raise RuntimeError(f"a tensor of {once.numel} elements overlaps itself in a storage of {len(elements)}")
        is_part = storage.is_shared or once.numel != len(elements)  # its storage() has all that the file has
        tensor = _shared(storage, dtype, once) if is_part else _alone(storage, elements, dtype, once)
        if once.size != given.size:
            tensor = call(TABLE["expand"], (tensor,), (given.size,))
        for bit, row in (("conj", "conj"), ("neg", "neg")):
            if metadata and metadata.get(bit):
                tensor = call(TABLE[row], (tensor,))
        return tensor.requires_grad_() if requires_grad else tensor


def _alone(storage: Storage, elements: np.ndarray[Any, Any], dtype: DType, place: Geometry) -> Tensor:
    """Make a tensor of its own."""
    numbers = place.read(elements)
    return lying_as(from_host(numbers, dtype=dtype, device=storage.device), numbers)


def _shared(storage: Storage, dtype: DType, place: Geometry) -> Tensor:
    """Make a name for a part of the storage, which other tensors may read too."""
    elements = storage.typed(dtype)
    if storage.whole is None:
        whole = place.numel == len(elements) and place.stride == dense_strides(tuple(place.size))
        storage.whole = from_host(elements.reshape(place.size if whole else -1), dtype=dtype, device=storage.device)
    base: Tensor = storage.whole
    if base.dtype is not dtype:
        return _alone(storage, elements, dtype, place)
    if tuple(base.shape) == place.size and place.stride == dense_strides(tuple(place.size)):
        return base.detach()
    return call(TABLE["as_strided"], (base,), (place.size, place.stride, place.offset))
