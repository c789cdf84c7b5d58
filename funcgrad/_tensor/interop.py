"""Arrays in and out: from numpy, Python data, JAX and dlpack, and back. Going in copies; nothing is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.dlpack
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.errors import BatchIsRead
from funcgrad._ops.strides import order_of
from funcgrad._ops.table import TABLE
from funcgrad._program.faults import raise_fault
from funcgrad._program.joining import SMALL
from funcgrad._program.record import array_of, numbers_of, share
from funcgrad._program.run import put
from funcgrad._program.value import (
    CONSTANT,
    META,
    LiftedValue,
    MetaValue,
    TracedValue,
    Value,
    aval_of,
    meta,
    of_array,
)
from funcgrad._program.waiting import on_host
from funcgrad._tape.variable import Variable
from funcgrad._tensor.placement import device_of, placement
from funcgrad._tensor.tensor import Tensor


def from_host(
    array: np.ndarray[Any, Any], *, dtype: DType | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor with a copy of a numpy array (cast to `dtype`) on `device`."""
    if dtype is not None and array.dtype != dtype.numpy:
        array = in_dtype(array, dtype)
    array = np.ascontiguousarray(array, dtypes.of_numpy(array.dtype).numpy).reshape(array.shape)
    return Tensor._leaf(Variable(value_on(array, placement(device))), requires_grad)


def in_dtype(array: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    """Cast as torch does, without numpy's warnings of what does not fit: it is infinite, or the largest float8."""
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype is dtypes.float8_e4m3fn:
            array = np.clip(array.astype(np.result_type(array, np.float32)), -448, 448)
        elif dtype is dtypes.float8_e8m0fnu:
            array = np.maximum(np.abs(array.astype(np.float32)), np.float32(2.0**-127))
        return array.astype(dtype.numpy)


def lying_as(made: Tensor, array: np.ndarray[Any, Any]) -> Tensor:
    """Say of a tensor just made of an array that its dimensions lie in memory as numpy has them; returns it."""
    if not array.flags.c_contiguous:
        value = made._variable.value
        steps = tuple([step // max(array.itemsize, 1) for step in array.strides])
        value.aval = value.aval.in_order(order_of(array.shape, steps))
    return made


def refuse_backwards(array: np.ndarray[Any, Any]) -> None:
    """ValueError for an array that numpy reads from its end."""
    if min(array.strides, default=0) < 0:
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )


def value_on(array: np.ndarray[Any, Any], placed: Any) -> Value:
    """Return the Value of a copy of a numpy array on a JAX device (None: the default one; META: without numbers)."""
    return meta(aval_of(array)) if placed is META else of_array(put(array, placed))


def to_host(tensor: Tensor, batched: str = "") -> np.ndarray[Any, Any]:
    """Return a writable numpy copy of a tensor's numbers, waiting until they are computed.

    batched: what to say, rather than that there is no storage, where vmap maps over them.
    """
    value = tensor._current().value
    if value.program is CONSTANT and value.slot.host is not None:
        return value.slot.host()
    if type(value.array) is np.ndarray:
        return np.array(value.array)
    try:
        copied = np.array(on_host(numbers_of(value)))
    except BatchIsRead as error:
        error.args = (batched,) if batched else error.args
        raise
    raise_fault()
    return copied


def host_numbers(value: Value) -> np.ndarray[Any, Any] | None:
    """Return a value's numbers, to read only, where the host has or can make them; None where something must run."""
    array = value.array
    if array is None:
        return value.slot.host() if value.program is CONSTANT and value.slot.host is not None else None
    return on_host(array) if is_on_host(value) else None


def numbers_on_host(tensor: Tensor) -> np.ndarray[Any, Any] | None:
    """Return a tensor's numbers, to read only, where the host has them and no gradient is wanted; else None."""
    value = tensor._current().value
    return host_numbers(value) if is_on_host(value) and not tensor.requires_grad else None


def rows_on_host(values: Sequence[Value]) -> np.ndarray[Any, Any] | None:
    """Return the numbers of x[i], x[j], ... as one array; None where they are not all of one x that the host has."""
    select, places = TABLE["select"], []
    for value in values:
        if value.program is not CONSTANT or value.slot.op is not select or value.slot.statics != (0,):
            return None
        if value.slot.inputs[0] is not values[0].slot.inputs[0]:
            return None
        places.append(value.slot.inputs[1])
    numbers = host_numbers(values[0].slot.inputs[0])
    return None if numbers is None else numbers[places]


def is_on_host(value: Value) -> bool:
    """Tell whether the host has a value's numbers, so that a part of them can be taken without running anything."""
    if type(value) is not Value:
        return False
    array = value.array
    if array is None:
        return value.program is CONSTANT and value.slot.op is TABLE["select"]
    return type(array) is np.ndarray or (value.aval.placement is None and device_of(None).type == "cpu")


def is_short_text(variable: Variable) -> bool:
    """Tell whether it is a few whole numbers, as places in a vocabulary are, that the host has or can make."""
    value = variable.value
    if variable.aval.differentiable or variable.aval.nbytes > SMALL:
        return False
    return is_on_host(value) or (value.program is CONSTANT and value.slot.host is not None)


def can_be_read(tensor: Tensor) -> bool:
    """Tell whether there are numbers to look at: not on the meta device, nor inside of JAX's transformations."""
    return not isinstance(tensor._current().value, (LiftedValue, MetaValue, TracedValue))


_DLPACK_CPU = (1, 0)  # kDLCPU, the first
_WORTH_MOVING = 1 << 16  # bytes; less goes along with the call of the program that reads it


def runs_on_host() -> bool:
    """Tell whether programs run on the CPU, where host arrays are already where they are needed."""
    return device_of(None).type == "cpu"


def move_ahead(tensor: Tensor) -> None:
    """Begin to copy a large host array to the accelerator where programs run; the copy goes on in the background."""
    value = tensor._current().value
    if type(value.array) is np.ndarray and value.array.nbytes >= _WORTH_MOVING:
        array_of(value)


def from_jax(array: jax.Array, requires_grad: bool = False) -> Tensor:
    """Return a tensor that reads a JAX array (traced ones too) without copying it; it is never donated."""
    return Tensor._leaf(Variable(of_array(array, shared=True)), requires_grad)


def to_jax(tensor: Tensor) -> jax.Array:
    """Return the JAX array behind a tensor without copying it; funcgrad will not reuse its memory any more."""
    value = tensor._current().value
    array = array_of(value)
    share(value)
    return array


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Return a tensor that reads another library's array (anything with `__dlpack__`), without a copy where JAX can.

    A bare capsule, the older form, does not say where it is: on the CPU.
    """
    if isinstance(ext_tensor, Tensor):
        found = ext_tensor.detach()
    else:
        with jax.enable_x64(True):
            given = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
            found = from_jax(jax.dlpack.from_dlpack(given, copy=copy))
    found = found if device is None else found.to(device)
    return found.clone() if copy and found._variable.value.is_shared else found


class _Capsule:
    """A DLPack capsule on the CPU, as what has one to give. https://dmlc.github.io/dlpack/latest/python_spec.html"""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_CPU
