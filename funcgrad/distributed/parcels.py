"""Arrays as the bytes that processes leave for each other, and how several are reduced to one."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from funcgrad._tape.modes import no_grad
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.reductions import RedOpType, ReduceOp

Array: TypeAlias = "np.ndarray[Any, Any]"
_HEAD = 4  # bytes that say how long the description is


def packed(arrays: Sequence[Array]) -> bytes:
    """Return arrays as bytes: what they are, then their elements."""
    head = json.dumps([(array.dtype.name, array.shape) for array in arrays]).encode()
    return b"".join([len(head).to_bytes(_HEAD, "little"), head, *[array.tobytes() for array in arrays]])


def unpacked(sent: bytes) -> list[Array]:
    """Return the arrays, to read only."""
    start = _HEAD + int.from_bytes(sent[:_HEAD], "little")
    found = []
    for name, shape in json.loads(sent[_HEAD:start]):
        dtype, count = np.dtype(name), math.prod(shape)
        found.append(np.frombuffer(sent, dtype, count, start).reshape(shape))
        start += count * dtype.itemsize
    return found


_JOINED: dict[RedOpType, Callable[[Any, Any], Any]] = {
    ReduceOp.SUM: np.add,
    ReduceOp.AVG: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
    ReduceOp.BAND: np.bitwise_and,
    ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
}


def reduced(op: Any, arrays: Sequence[Array]) -> Array:
    """Return what the processes have as one, in the order of their ranks (op: a kind of `ReduceOp`, SUM if None).

    RuntimeError: other shapes or dtypes, or a kind that does not take these.
    """
    first, *others = arrays
    for other in others:
        if (other.shape, other.dtype) != (first.shape, first.dtype):
            raise RuntimeError(
                f"the processes gave tensors of other kinds: {first.dtype} {first.shape}, {other.dtype} {other.shape}"
            )
    kind = ReduceOp.SUM if op is None else op
    if kind not in _JOINED:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with Gloo")
    try:
        with np.errstate(all="ignore"):
            found = functools.reduce(_JOINED[kind], arrays)
            found = np.divide(found, len(arrays)) if kind is ReduceOp.AVG and others else found
    except TypeError:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with tensors of {first.dtype}") from None
    return np.asarray(found, first.dtype)


def written(tensor: Tensor, array: Array) -> None:
    """Write an array to a tensor, as a collective does: nobody differentiates that."""
    with no_grad():
        tensor.copy_(from_host(array, device=tensor.device).reshape(tensor.shape))
