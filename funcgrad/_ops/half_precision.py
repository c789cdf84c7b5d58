"""The half-precision column of the table: rows that compute in float32 what they are given in float16 or bfloat16.

torch's kernels take such numbers to float32, compute, and round each result once. Of a row XLA would round what each of
its operations gives, and sums after each term: 256 ones in bfloat16 stay 256 whatever is added. What is not named does
one operation, or several that torch rounds one by one too, or sees to it itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.backends import on_cpu
from funcgrad._ops.table import TABLE, Array, Op

EVERYWHERE = """
    celu elu gelu glu hardsigmoid hardswish leaky_relu logsigmoid mish selu silu softplus deg2rad exp2 frexp hypot
    acos acosh asin asinh atanh expm1 logaddexp logit
    i0 log10 log2 logaddexp2 rad2deg rsqrt sinc special_i1 addcdiv addcmul lerp
    cummax cummin cumprod cumsum prod trace
    broadcast_tensors cartesian_prod gather kron meshgrid outer repeat repeat_interleave
    take_along_dim tile index_add index_fill masked_scatter scatter_add scatter_reduce interpolate embedding_bag
"""
# XLA's products on accelerators take half-precision factors, add them up in float32 and add a bias as they like.
ON_CPUS = """
    addbmm addmm addmv baddbmm linear multi_dot scaled_dot_product_attention
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
"""


def in_float32(row: Op, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Array, ...]:
    """Compute a row; where all its floats are of one half precision in float32, with results rounded to that."""
    half = half_precision_of(inputs)
    if half is None or asks_for_dtype(row, statics):
        return row.compute(inputs, statics)
    try:
        results = row.compute([_converted(x, half, np.float32) for x in inputs], statics)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return row.compute(inputs, statics)  # what is refused names the dtypes that were given
    return tuple([_converted(x, np.float32, half) for x in results])


def on_cpus_in_float32(row: Op, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Array, ...]:
    """Compute a row in float32 as `in_float32` does, on CPUs."""
    return (in_float32 if on_cpu() else Op.compute)(row, inputs, statics)


def half_precision_of(inputs: Sequence[Any]) -> np.dtype | None:
    """Return the half precision of all floats among the arrays, or None."""
    flat = [x for given in inputs for x in (given if isinstance(given, list) else (given,))]
    kinds = {x.dtype for x in flat if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.inexact)}
    only = kinds.pop() if len(kinds) == 1 else None
    return only if only is not None and only.itemsize == 2 else None


def asks_for_dtype(row: Op, statics: Sequence[Any]) -> bool:
    """Tell whether the call asks for a dtype itself."""
    return any(p.name == "dtype" and given is not None for p, given in zip(row.statics, statics, strict=False))


def _converted(given: Any, kind: Any, wanted: Any) -> Any:
    if isinstance(given, list):
        return [_converted(x, kind, wanted) for x in given]
    return lax.convert_element_type(given, wanted) if isinstance(given, jax.Array) and given.dtype == kind else given


def fill() -> None:
    """Enter the lists into the table."""
    for rule, names in ((in_float32, EVERYWHERE), (on_cpus_in_float32, ON_CPUS)):
        for name in names.split():
            TABLE[name].precision = rule
