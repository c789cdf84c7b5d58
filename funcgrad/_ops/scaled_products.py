"""Rows: products of matrices of 8-bit numbers: floats, each with its scales beside it, and integers."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.checks import c_name
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


@op(names="_int_mm")
def int_mm(input: Array, mat2: Array) -> Array:
    """input @ mat2 for matrices of 8-bit integers, in int32. Shape: input (n, m), mat2 (m, p), result (n, p)."""
    for name, matrix in (("self", input), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"int_mm_out_cpu: Expected {name} to be of dimension 2 but got {matrix.ndim}")
    if input.shape[1] != mat2.shape[0]:
        sizes = f"{input.shape[1]} and {mat2.shape[0]}"
        raise RuntimeError(f"int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got {sizes}")
    if str(input.dtype) not in ("int8", "uint8"):
        raise RuntimeError(f"int_mm_out_cpu: Expected self dtype to be int8 or uint8 but got {c_name(input)}")
    if str(mat2.dtype) != "int8":
        raise RuntimeError(f"int_mm_out_cpu: Expected mat2 dtype to be of type int8 but got {c_name(mat2)}")
    return jnp.matmul(input.astype(jnp.int32), mat2.astype(jnp.int32))
