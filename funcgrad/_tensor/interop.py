"""Arrays in and out: from numpy, Python data, JAX and dlpack, and back. Going in copies; nothing is compiled."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._program.record import array_of
from funcgrad._program.run import put
from funcgrad._program.value import CONSTANT, of_array
from funcgrad._tape.variable import Variable
from funcgrad._tensor.placement import placement
from funcgrad._tensor.tensor import Tensor


def from_host(
    array: np.ndarray[Any, Any], *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor with a copy of a numpy array (cast to `dtype`) on `device`."""
    wanted = dtypes.of_numpy(array.dtype) if dtype is None else dtype
    array = np.ascontiguousarray(array, wanted.numpy).reshape(array.shape)
    return Tensor._leaf(Variable(of_array(put(array, placement(device)))), requires_grad)


def to_host(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Return a writable numpy copy of a tensor's numbers, waiting until they are computed."""
    value = tensor._current().value
    if value.program is CONSTANT and value.slot.host is not None:
        return value.slot.host()
    return np.array(array_of(value))


def from_jax(array: jax.Array, requires_grad: bool = False) -> Tensor:
    """Return a tensor that reads a JAX array (traced ones too) without copying it; it is never donated."""
    return Tensor._leaf(Variable(of_array(array, shared=True)), requires_grad)


def to_jax(tensor: Tensor) -> jax.Array:
    """Return the JAX array behind a tensor without copying it; funcgrad will not reuse its memory any more."""
    value = tensor._current().value
    array = array_of(value)
    value.share()
    return array


def from_data(data: Any, dtype: DType | None, device: Any, requires_grad: bool) -> Tensor:
    """Return a new tensor of numbers, nested sequences, numpy arrays or tensors, with torch's choice of dtype.

    Raises ValueError for ragged sequences, TypeError for what is no number.
    """
    if isinstance(data, Tensor):
        copied = Tensor._leaf(data._current()) if dtype in (None, data.dtype) else data.detach().to(dtype)
        return _placed(copied, device, requires_grad)
    if isinstance(data, jax.Array):
        data = np.asarray(data)
    array = data if isinstance(data, np.ndarray) else host_array(data)
    kind = dtype or (dtypes.of_numpy(array.dtype) if isinstance(data, (np.ndarray, np.generic)) else _inferred(array))
    return from_host(array, dtype=kind, device=device, requires_grad=requires_grad)


def host_array(data: Any) -> np.ndarray[Any, Any]:
    """Return nested Python data (tensors inside are read) as a numpy array."""
    try:
        array = np.array(_without_tensors(data))
    except ValueError as error:
        raise ValueError(f"expected sequences of equal length at each dimension: {error}") from None
    if array.dtype.kind in "OUS":
        raise TypeError(_no_number(data))
    return array


def _no_number(data: Any) -> str:
    if isinstance(data, str):
        return "new(): invalid data type 'str'"
    inner = data
    while isinstance(inner, (list, tuple)) and inner:
        inner = inner[0]
    return f"must be real number, not {type(inner).__name__}"


def _without_tensors(data: Any) -> Any:
    if isinstance(data, Tensor):
        return to_host(data)
    if isinstance(data, (list, tuple)):
        return [_without_tensors(x) for x in data]
    return data if not isinstance(data, range) else list(data)


def _inferred(array: np.ndarray[Any, Any]) -> DType:
    """Python floats become the default dtype, ints int64; an empty list is of floats."""
    if array.size == 0 or array.dtype == np.float64:
        return dtypes.get_default_dtype()
    if array.dtype == np.complex128:
        return dtypes.get_default_dtype().to_complex()
    return dtypes.int64 if array.dtype.kind in "iu" else dtypes.of_numpy(array.dtype)


def _placed(tensor: Tensor, device: Any, requires_grad: bool) -> Tensor:
    moved = tensor if device is None else tensor.to(device=device)
    return moved.requires_grad_() if requires_grad else moved
