"""Factories: tensors from data, and constants (zeros, ones, full, arange, eye, ...) that cost nothing until they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.table import TABLE
from funcgrad._program.record import array_of
from funcgrad._program.trie import Constant, signature_of
from funcgrad._program.value import Recipe, aval, constant
from funcgrad._tape.variable import Variable
from funcgrad._tensor.front import as_dims, as_dtype, as_spread_dims
from funcgrad._tensor.data import from_data
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.placement import placement
from funcgrad._tensor.tensor import Tensor


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """Return a new leaf with a copy of the data; Python floats become the default dtype, ints int64.

    >>> tensor([[1.0, 2.0]]).shape
    torch.Size([1, 2])
    """
    return from_data(data, as_dtype(dtype), device, requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return `data` as a tensor; a tensor of this dtype and device is returned as it is."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=as_dtype(dtype))
    return from_data(data, as_dtype(dtype), device, False)


asarray = as_tensor


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """Return a tensor with a copy of a numpy array. (torch shares the memory; XLA's arrays never change.)"""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return from_host(ndarray)


def scalar_tensor(s: complex, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a 0-d tensor of one number, by default of the default dtype."""
    return from_data(s, as_dtype(dtype) or dtypes.get_default_dtype(), device, requires_grad)


def _filled(size: tuple[int, ...], fill: complex, dtype: DType, device: Any, requires_grad: bool) -> Tensor:
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {next(n for n in size if n < 0)}: {list(size)}"
        )

    def host() -> np.ndarray[Any, Any]:
        return np.full(size, fill, dtype.numpy)

    return _constant(Recipe(TABLE["full"], (fill,), (size, dtype), host), size, dtype, device, requires_grad)


def _constant(recipe: Recipe, size: tuple[int, ...], dtype: DType, device: Any, requires_grad: bool) -> Tensor:
    value = constant(recipe, aval(tuple(size), dtype.numpy))
    if placement(device) is not None:
        return from_host(to_host(Tensor._of(Variable(value))), device=device, requires_grad=requires_grad)
    if requires_grad:
        array_of(value)
    return Tensor._leaf(Variable(value), requires_grad)


def _size(given: tuple[Any, ...], named: Any) -> tuple[int, ...]:
    return as_dims(named) or () if named is not None else as_spread_dims(given)


def zeros(
    *size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, **named: Any,
) -> Tensor:  # fmt: skip
    """Return a tensor of zeros. Shape: result (*size)."""
    made = _filled(_size(size, named.get("size")), 0, _float_by_default(dtype), device, requires_grad)
    return made if out is None else out.copy_(made)


def ones(
    *size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, **named: Any,
) -> Tensor:  # fmt: skip
    """Return a tensor of ones. Shape: result (*size)."""
    made = _filled(_size(size, named.get("size")), 1, _float_by_default(dtype), device, requires_grad)
    return made if out is None else out.copy_(made)


def empty(*size: Any, memory_format: Any = None, **options: Any) -> Tensor:
    """Return a tensor whose numbers mean nothing (here they are zeros). Shape: result (*size)."""
    return zeros(*size, **options)


def full(
    size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return a tensor of one number; its dtype is that of the number. Shape: result (*size)."""
    number = fill_value.item() if isinstance(fill_value, (Tensor, np.generic)) else fill_value
    made = _filled(as_dims(size) or (), number, as_dtype(dtype) or dtypes.of_number(number), device, requires_grad)
    return made if out is None else out.copy_(made)


def _float_by_default(dtype: Any) -> DType:
    return as_dtype(dtype) or dtypes.get_default_dtype()


def _like(number: complex) -> Callable[..., Tensor]:
    def like(
        input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, memory_format: Any = None,
    ) -> Tensor:  # fmt: skip
        """Return a tensor of one number with the shape, dtype and device of `input`."""
        where = input.device if device is None else device
        return _filled(tuple(input.shape), number, as_dtype(dtype) or input.dtype, where, requires_grad)

    return like


zeros_like, ones_like, empty_like = _like(0), _like(1), _like(0)
zeros_like.__name__, ones_like.__name__, empty_like.__name__ = "zeros_like", "ones_like", "empty_like"


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Tensor:
    """Return a tensor of one number with the shape, dtype and device of `input`."""
    where = input.device if device is None else device
    return full(input.shape, fill_value, dtype=as_dtype(dtype) or input.dtype, device=where, **options)


def empty_strided(size: Any, stride: Any, **options: Any) -> Tensor:
    """Return a tensor of this size; the strides are XLA's business."""
    return zeros(size, **options)


def arange(
    start: Any, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return start, start + step, ... below `end`; int64 for ints, else the default dtype. Shape: result (n,)."""
    first, last = (0, start) if end is None else (start, end)
    numbers = [x.item() if isinstance(x, (Tensor, np.generic)) else x for x in (first, last, step)]
    kind = as_dtype(dtype) or (
        dtypes.int64 if all(isinstance(x, int) for x in numbers) else dtypes.get_default_dtype()
    )
    made = _made_by("arange", (*numbers, kind), device, requires_grad)
    return made if out is None else out.copy_(made)


def _made_by(row: str, statics: tuple[Any, ...], device: Any, requires_grad: bool) -> Tensor:
    """Return the constant that a row without tensor inputs makes of its static arguments."""
    op = TABLE[row]
    values = dict(zip((p.name for p in op.parameters), statics, strict=False))
    inputs = tuple(values[p.name] for p in op.inputs if p.name in values)
    fixed = tuple(values[p.name] for p in op.statics if p.name in values)
    (known,) = signature_of(op, tuple(Constant.of(x) for x in inputs), fixed).avals

    recipe = Recipe(op, inputs, fixed, None)
    return _constant(recipe, tuple(known.shape), known.dtype, device, requires_grad)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
             **_: Any) -> Tensor:  # fmt: skip
    """Return `steps` numbers evenly from `start` to `end`, both included. Shape: result (steps,)."""
    first, last = (float(x) for x in (start, end))
    return _made_by("linspace", (first, last, int(steps), _float_by_default(dtype)), device, requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
        **_: Any) -> Tensor:  # fmt: skip
    """Return ones on the diagonal and zeros elsewhere. Shape: result (n, m)."""
    return _made_by("eye", (int(n), n if m is None else int(m), _float_by_default(dtype)), device, requires_grad)

