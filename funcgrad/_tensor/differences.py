"""torch.gradient: what its arguments may be, and one row per dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_dims
from funcgrad._tensor.call import call
from funcgrad._tensor.facts import in_range
from funcgrad._tensor.registry import function
from funcgrad._tensor.tensor import Tensor


@function()
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Estimate the derivative along each of `dim` (default: all) from samples that lie `spacing` apart.

    spacing: one number for all, or for each dimension a number or a vector of coordinates.
    Raises RuntimeError where the numbers of dims and spacings differ or a dimension has too few samples.
    """
    if input.dtype is dtypes.bool_:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = [in_range(input, d) for d in (range(input.ndim) if dim is None else as_dims(dim) or ())]
    repeated = next((d for d in dims if dims.count(d) > 1), None)
    if repeated is not None:
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    if any(input.shape[d] <= edge_order for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    row = TABLE["gradient_along"]
    return tuple(
        call(row, (input, *((gap, 1) if isinstance(gap, Tensor) else (None, gap))), (d, edge_order))
        for d, gap in zip(dims, _gaps(input, spacing, dims, dim is None), strict=True)
    )


def _gaps(input: Tensor, spacing: Any, dims: Sequence[int], is_all: bool) -> list[Any]:
    """Return the spacing of each dimension."""
    if isinstance(spacing, Tensor):
        raise TypeError("gradient(): argument 'spacing' must be a number, or a tuple of numbers or Tensors, not Tensor")
    if not isinstance(spacing, (list, tuple)):
        return [1 if spacing is None else spacing] * len(dims)
    if len(spacing) != len(dims):
        needed = (
            f"a list of length equal to 'self.dim() = {input.ndim}', since dim argument was not given, but got a list "
            f"of length {len(spacing)}"
            if is_all
            else f"it's spacing and dim arguments to have the same length, but got a spacing argument of length "
            f"{len(spacing)} and a dim argument of length {len(dims)}."
        )
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar{',' if is_all else ''} or {needed}"
        )
    devices = {input.device: None, **{gap.device: None for gap in spacing if isinstance(gap, Tensor)}}
    if len(devices) > 1:
        listed = " and ".join(map(str, devices))
        raise RuntimeError(f"torch.gradient expected each tensor to be on the same device, but got devices {listed}!")
    return list(spacing)
