"""Cases of `test_host` in linear algebra: matrices of any form, batches, what cannot be factored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def cases() -> Iterator[tuple[str, Case]]:
    """Yield the names of cases, functions and arguments to compute them with."""
    for dtype in (np.float32, np.float64):
        for n in (1, 2, 7, 40):
            x = np.random.default_rng(n).standard_normal((n, n)).astype(dtype)
            definite, sides = x @ x.T + np.eye(n, dtype=dtype), x[:, :3]
            yield f"cholesky {n} {dtype.__name__}", (lax.linalg.cholesky, (definite,))
            yield f"eigh {n} {dtype.__name__}", (jnp.linalg.eigh, (x + x.T,))
            yield f"lu {n} {dtype.__name__}", (lax.linalg.lu, (x,))
            yield f"solve {n} {dtype.__name__}", (jnp.linalg.solve, (x, sides))
            yield f"slogdet {n} {dtype.__name__}", (jnp.linalg.slogdet, (x,))
            yield f"triangles {n} {dtype.__name__}", (triangles, (x + 9 * np.eye(n, dtype=dtype), sides))
        for shape in ((3, 3), (5, 2), (2, 5), (33, 40), (4, 5, 3), (2, 2, 3, 4)):
            x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
            yield f"qr {shape} {dtype.__name__}", (both_qr, (x,))
            yield f"svd {shape} {dtype.__name__}", (each_svd, (x,))
        x = np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype(dtype)
        yield f"batches {dtype.__name__}", (batches, (x, x @ np.swapaxes(x, -1, -2) + np.eye(4, dtype=dtype)))
        yield f"solve batches {dtype.__name__}", (solved, (x + 9 * np.eye(4, dtype=dtype),))
        bad = np.array([[[1, 0], [0, -1]], [[np.nan, 1], [1, 2]], [[0, 0], [0, 0]]], dtype)
        yield f"what has no factors {dtype.__name__}", (lambda x: (lax.linalg.cholesky(x), lax.linalg.lu(x)), (bad,))


def triangles(x: Any, sides: Any) -> list[Any]:
    """Solve with both triangles of a matrix on either side, transposed and not, whatever is on the diagonal."""
    return [
        lax.linalg.triangular_solve(
            x, sides if left else sides.T, left_side=left, lower=lower, transpose_a=transposed, unit_diagonal=unit
        )
        for left in (True, False)
        for lower in (True, False)
        for transposed in (True, False)
        for unit in (True, False)
    ]


def both_qr(x: Any) -> list[Any]:
    """Factor with as many columns as rows, and with those that are needed."""
    return [lax.linalg.qr(x, full_matrices=full) for full in (True, False)]


def each_svd(x: Any) -> list[Any]:
    """Decompose with all vectors, with those that are needed, without any."""
    return [jnp.linalg.svd(x, full_matrices=full) for full in (True, False)] + [jnp.linalg.svd(x, compute_uv=False)]


def batches(x: Any, definite: Any) -> list[Any]:
    """Factor and decompose several matrices."""
    return [lax.linalg.cholesky(definite), lax.linalg.lu(x), jnp.linalg.eigh(definite)]


def solved(x: Any) -> Any:
    """Solve with several matrices: XLA substitutes by itself, so that digits may differ, as those of the product."""
    return jnp.linalg.solve(x, x @ x[..., :2])


CASES = dict(cases())
