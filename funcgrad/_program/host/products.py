"""Products of matrices by one thread.

OpenBLAS, which is numpy's, shares larger ones among threads of its own, as many as there are cores. These wait for each
other awake: where XLA, or another program, has a core, a product of 0.1 ms takes 4. So what is larger is computed in
pieces that it does not share.
"""

from __future__ import annotations

import numpy as np

from funcgrad._program.host.table import Array, Function

# products of two numbers up to which OpenBLAS takes one thread (its interface/gemm.c and gemv.c)
_OF_MATRICES, _OF_A_VECTOR = 1 << 18, 9 << 10


def product(rows: int, inner: int, columns: int) -> Function:
    """Return np.matmul for matrices (rows, inner) and (inner, columns), or for vectors, where one of these is 1."""
    most = _OF_A_VECTOR if 1 in (rows, columns) else _OF_MATRICES
    if rows * inner * columns < most or rows == columns == 1:
        return np.matmul
    step = max(1, (most - 1) // (inner * min(rows, columns)))
    starts = range(0, max(rows, columns), step)

    def by_rows(x: Array, y: Array) -> Array:
        return np.concatenate([np.matmul(x[..., i : i + step, :], y) for i in starts], -1 if y.ndim == 1 else -2)

    def by_columns(x: Array, y: Array) -> Array:
        return np.concatenate([np.matmul(x, y[..., i : i + step]) for i in starts], -1)

    return by_rows if rows >= columns else by_columns
