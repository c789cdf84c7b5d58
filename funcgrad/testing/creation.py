"""make_tensor: random numbers of any dtype, to test with."""

from __future__ import annotations

from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import rand, randint


def make_tensor(
    *shape: Any, dtype: DType, device: Any = "cpu", low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn evenly from [low, high): by default [-9, 9), for bool and uint8 from 0.

    exclude_zero: zeros become the smallest positive number (1 for integers). noncontiguous: every second element of a
    tensor that is twice as wide. Raises ValueError for an empty range, or for requires_grad with a dtype that has no
    gradients.
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low, high = _range(dtype, low, high)
    if requires_grad and not dtype.is_differentiable:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype}")
    if dtype.is_differentiable:
        real = dtypes.float32 if dtype.name in ("complex64", "float16", "bfloat16") else dtypes.float64
        real = dtypes.float32 if dtype is dtypes.float32 else real
        parts = [rand(size, dtype=real, device=device) * (high - low) + low for _ in range(1 + dtype.is_complex)]
        made = fg.complex(*parts) if dtype.is_complex else parts[0].to(dtype)
    else:
        made = randint(int(low), int(high), size, device=device).to(dtype)
    if exclude_zero:
        smallest = dtype.numpy.type(1) if not dtype.is_differentiable else 2.0**-14
        made = fg.where(made == 0, fg.full_like(made, float(smallest)), made)
    if noncontiguous and made.numel() > 1:
        made = made.repeat_interleave(2, dim=-1)[..., ::2]
    return made.requires_grad_() if requires_grad else made


def _range(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    is_from_zero = dtype.name in ("bool", "uint8")
    low = (0 if is_from_zero else -9) if low is None else low
    high = (2 if dtype.name == "bool" else 10 if not dtype.is_differentiable else 9) if high is None else high
    if low > high or (low == high and not dtype.is_differentiable):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    return low, high
