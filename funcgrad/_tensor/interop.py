"""Arrays in and out: from numpy, Python data, JAX and dlpack, and back. Going in copies; nothing is compiled."""

from __future__ import annotations

from typing import Any

import jax
import jax.core
import jax.dlpack
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.table import TABLE
from funcgrad._program.record import array_of
from funcgrad._program.run import put
from funcgrad._program.value import CONSTANT, of_array
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import View
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
    return np.array(value.array if type(value.array) is np.ndarray else array_of(value))


_SMALL = 1 << 16  # bytes; a larger array stays on its device, and one element of it is computed there


def numbers_here(tensor: Tensor) -> np.ndarray[Any, Any] | None:
    """Return the numbers, to read only, of a tensor that is here, or of an element x[i] of one; None: something must run.

    So that a loop over labels, indices or actions, `for i in indices: int(i)`, runs no program for each of them.
    """
    array = tensor._current().value.array
    if type(array) is np.ndarray:
        return array
    if array is not None:
        is_near = not isinstance(array, jax.core.Tracer) and (array.nbytes <= _SMALL or tensor.device.type == "cpu")
        return np.asarray(array) if is_near else None
    view = tensor._alias
    if type(view) is not View or view.op is not TABLE["select"]:
        return None
    base, (index,), (dim,) = numbers_here(view.base), view.inputs, view.statics
    return None if base is None or type(index) is not int else base[(slice(None),) * dim + (index,)]


def from_jax(array: jax.Array, requires_grad: bool = False) -> Tensor:
    """Return a tensor that reads a JAX array (traced ones too) without copying it; it is never donated."""
    return Tensor._leaf(Variable(of_array(array, shared=True)), requires_grad)


def to_jax(tensor: Tensor) -> jax.Array:
    """Return the JAX array behind a tensor without copying it; funcgrad will not reuse its memory any more."""
    value = tensor._current().value
    array = array_of(value)
    value.share()
    return array


def from_dlpack(ext_tensor: Any) -> Tensor:
    """Return a tensor that reads another library's array (anything with `__dlpack__`), without a copy where JAX can."""
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach()
    with jax.enable_x64(True):
        return from_jax(jax.dlpack.from_dlpack(ext_tensor))
