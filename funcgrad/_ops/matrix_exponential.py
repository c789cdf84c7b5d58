"""The row of the matrix exponential: a quotient of polynomials of the halved matrix, squared as often."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.decompositions import needs_matrix
from funcgrad._ops.table import Array, op

# The degree of both polynomials, and the 1-norm up to which their quotient is exact to rounding.
# Source: Higham 2005, https://doi.org/10.1137/04061101X, tables 2.3 and 2.1.
_SINGLE = (7, 3.925724783138660)
_DOUBLE = (13, 5.371920351148152)
_SQUARINGS = 32  # what would need more has no digit left


@op(grad="LinalgMatrixExpBackward0", names="linalg.matrix_exp matrix_exp .matrix_exp", keep="residuals")
def matrix_exp(A: Array) -> Array:
    """Return the matrix exponentials: the sums of A^k / k!. Those of norms above 10^10 are NaN."""
    given = A.astype(np.float32) if A.dtype.itemsize == 2 else A
    needs_matrix(given, "linalg.matrix_exp", square=True)
    degree, bound = _DOUBLE if jnp.finfo(given.dtype).bits == 64 else _SINGLE
    norm = jnp.abs(lax.stop_gradient(given)).sum(-2).max(-1, initial=0)
    times = jnp.clip(jnp.ceil(jnp.log2(norm / np.asarray(bound, norm.dtype))), 0, _SQUARINGS + 1)[..., None, None]
    result = _squared(_quotient(given * jnp.exp2(-times).astype(given.dtype), degree), times)
    return jnp.where(times > _SQUARINGS, np.nan, result).astype(A.dtype)


def _quotient(A: Array, degree: int) -> Array:
    """Return the Pade approximant of exp(A): p(-A)^-1 p(A), where p's k-th coefficient is C(m, k) (2m - k)! / (2m)!."""
    numbers = [np.asarray(math.comb(degree, k) / math.perm(2 * degree, k), A.dtype) for k in range(degree + 1)]
    square, power = A @ A, jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)
    even, odd = numbers[0] * power, numbers[1] * power
    for k in range(2, degree, 2):
        power = power @ square if k > 2 else square
        even, odd = even + numbers[k] * power, odd + numbers[k + 1] * power
    odd = A @ odd
    return jnp.linalg.solve(even - odd, even + odd)


def _squared(A: Array, times: Array) -> Array:
    """Return each matrix squared as often as its number says. A scan of fixed length: it can be pulled back through."""
    most = times.max(initial=0)

    def once(matrix: Array, turn: Array) -> tuple[Array, None]:
        return lax.cond(turn < most, lambda: jnp.where(turn < times, matrix @ matrix, matrix), lambda: matrix), None

    return lax.scan(once, A, jnp.arange(_SQUARINGS, dtype=times.dtype))[0]
