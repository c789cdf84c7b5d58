"""x.new_zeros(...) and its kin: new tensors with the dtype and device of one that is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.size import Size
from funcgrad._tensor import creation
from funcgrad._tensor.arguments import as_dtype, as_spread_dims
from funcgrad._tensor.data import from_data
from funcgrad._tensor.registry import function, method
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_copy


def _new(factory: Any, *, is_spread: bool) -> Any:
    name = f"new_{factory.__name__}"
    label = f"{name}(): argument 'size' (position 1)"

    def new_like(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, **options: Any) -> Tensor:
        """Return a new tensor with this one's dtype and device."""
        where = self.device if device is None else device
        given = (as_spread_dims(size, label),) if is_spread and size else size
        return factory(*given, dtype=as_dtype(dtype) or self.dtype, device=where, **options)

    new_like.__name__ = name
    return new_like


for _factory in (creation.zeros, creation.ones, creation.empty):
    method()(_new(_factory, is_spread=True))
for _factory in (creation.full, creation.empty_strided):
    method()(_new(_factory, is_spread=False))


@function("_shape_as_tensor")
def shape_as_tensor(input: Tensor) -> Tensor:
    """Return the sizes of a tensor. Shape: input (*), result (input.ndim,) of int64."""
    return from_data(list(input.shape), dtypes.int64, None, False)


@method()
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a new tensor of data with this one's dtype and device."""
    warn_of_copy(data, "tensor.new_tensor")
    return from_data(data, as_dtype(dtype) or self.dtype, self.device if device is None else device, requires_grad)


@method()
def new(self: Tensor, *data: Any, device: Any = None) -> Tensor:
    """Return a new tensor of this dtype, by sizes or from data (old spelling)."""
    where = self.device if device is None else device
    has_numbers = len(data) == 1 and isinstance(data[0], (list, tuple, np.ndarray, Tensor))
    if has_numbers and not isinstance(data[0], Size):
        return from_data(data[0], self.dtype, where, False)
    return creation.zeros(*(data or (0,)), dtype=self.dtype, device=where)
