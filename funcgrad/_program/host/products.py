"""Products of matrices by one thread.

OpenBLAS, which is numpy's, shares larger ones among threads of its own, as many as there are cores. These wait for each
other awake, which takes many times as long where XLA, or another program, has a core (`python -m
tests.benchmarks.products`). So what is larger is computed in pieces that it does not share.
"""

from __future__ import annotations

import numpy as np

from funcgrad._program.host.table import Array, Function

_ALONE = 1 << 18  # products of two numbers up to which OpenBLAS takes one thread (its interface/gemm.c)


def product(rows: int, inner: int, columns: int) -> Function:
    """Return np.matmul for matrices (rows, inner) and (inner, columns). Of a vector it is quick enough as it is."""
    if rows * inner * columns < _ALONE or 1 in (rows, columns):
        return np.matmul
    step = max(1, (_ALONE - 1) // (inner * min(rows, columns)))
    starts = range(0, max(rows, columns), step)

    def by_rows(x: Array, y: Array) -> Array:
        return np.concatenate([np.matmul(x[..., i : i + step, :], y) for i in starts], -2)

    def by_columns(x: Array, y: Array) -> Array:
        return np.concatenate([np.matmul(x, y[..., i : i + step]) for i in starts], -1)

    return by_rows if rows >= columns else by_columns
