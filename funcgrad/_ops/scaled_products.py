"""Rows: products of matrices of 8-bit floats, each with its scales beside it."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.products import mm
from funcgrad._ops.table import Array, DType, op


@op(names="_scaled_mm")
def scaled_mm(
    input: Array,
    mat2: Array,
    scale_a: Array,
    scale_b: Array,
    bias: Array | None = None,
    scale_result: Array | None = None,
    out_dtype: DType | None = None,
    use_fast_accum: bool = False,
) -> Array:
    """(input * scale_a) @ (mat2 * scale_b) + bias, computed in float32, in the dtype of `input` or in `out_dtype`.

    What a result without an infinity cannot hold becomes its largest number.

    Shape: input (n, m), mat2 (m, p), result (n, p); scales of one element, or (n, 1) and (1, p); bias (p,).
    """
    rows, columns = input.shape[0], mat2.shape[-1]
    single = scale_a.size == scale_b.size == 1
    if not single and (scale_a.shape, scale_b.shape) != ((rows, 1), (1, columns)):
        raise ValueError(
            "Invalid scaling configuration: both scales have to have one element, or scale_a to be of shape "
            f"({rows}, 1) and scale_b of shape (1, {columns}); given {scale_a.shape} and {scale_b.shape}"
        )
    left, right = (x.astype(jnp.float32) * s.astype(jnp.float32) for x, s in ((input, scale_a), (mat2, scale_b)))
    product = mm(left, right)
    whole = product if bias is None else product + bias.astype(jnp.float32)
    wanted = input.dtype if out_dtype is None else out_dtype.numpy
    if not np.isinf(np.array(np.inf).astype(wanted)):
        whole = jnp.clip(whole, float(jnp.finfo(wanted).min), float(jnp.finfo(wanted).max))
    return whole.astype(wanted)
