"""make_tensor: random numbers of any dtype, to test with; drawn from the stream as torch's own draws them."""

from __future__ import annotations

import math
import warnings
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.info import finfo, iinfo
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import randint


def make_tensor(
    *shape: Any, dtype: DType, device: Any = "cpu", low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return numbers drawn evenly from [low, high): by default [-9, 9), for integers to 9, for bool and uint8 from 0.

    exclude_zero: zeros become the smallest positive number (1 for integers). noncontiguous: every second element of a
    tensor that is twice as wide. Raises ValueError for an empty range, or for requires_grad with a dtype that has no
    gradients.
    """
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if requires_grad and not dtype.is_differentiable:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}"
        )
    low, high = _range(dtype, low, high)
    parted = noncontiguous and math.prod(size) > 1
    made = _drawn((*size[:-1], 2 * size[-1]) if parted else size, dtype, device, low, high)
    if parted:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = finfo(dtype).tiny if dtype.is_differentiable else 1
    return made.requires_grad_() if requires_grad else made


def _drawn(size: tuple[int, ...], dtype: DType, device: Any, low: float, high: float) -> Tensor:
    if not dtype.is_differentiable:
        return randint(int(low), int(high), size, device=device, dtype=dtype)
    made = fg.empty(size, dtype=dtypes.float32 if dtype.itemsize == 1 else dtype, device=device)
    reals = fg.view_as_real(made) if dtype.is_complex else made
    if high - low >= finfo(reals.dtype).max:
        reals.uniform_(low / 2, high / 2).mul_(2)
    else:
        reals.uniform_(low, high)
    return made.to(dtype)


def _range(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    """Return the bounds within what a dtype holds. ValueError: there is nothing between them."""
    if dtype is dtypes.bool_:
        least, most = 0.0, 2.0
    else:
        limits: Any = finfo(dtype) if dtype.is_differentiable else iinfo(dtype)
        least, most = limits.min, limits.max + (not dtype.is_differentiable and dtype is not dtypes.int64)
    default_low, default_high = (0, 2) if dtype is dtypes.bool_ else (-9, 9 if dtype.is_differentiable else 10)
    low = default_low if low is None else low
    high = default_high if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low == high and dtype.is_differentiable:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{least}, {most})"
        )
    low, high = min(max(low, least), most), min(max(high, least), most)
    return (low, high) if dtype.is_differentiable else (math.ceil(low), math.ceil(high))
