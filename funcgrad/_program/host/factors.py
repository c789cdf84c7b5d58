"""Linear algebra of small matrices, by the functions of LAPACK that XLA calls on a CPU: the same digits, no compile.

JAX's executables are of one size each, and a matrix that grows by a row (a Gaussian process, a basis) is another size
each time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad._program.host.table import Array, Function, NotForHost, rule

FACTORS = ("cholesky", "eigh", "lu", "qr", "svd", "triangular_solve")
_MATRICES = 16  # of a batch, one after the other
_HOW_MUCH = -1  # asks LAPACK how many elements it wants to work in: it goes by blocks as it has room


def products_of(equation: Any) -> int:
    """Return how many products of two numbers it takes, about."""
    *batch, rows, columns = equation.invars[0].aval.shape
    others = math.prod(equation.invars[-1].aval.shape[-2:]) if equation.primitive.name == "triangular_solve" else 0
    return math.prod(batch) * max(rows * columns * min(rows, columns), others * rows)


def _lapack(name: str, equation: Any) -> Function:
    """Return LAPACK's function for the dtype of an equation, which has no empty matrices: LAPACK complains of them."""
    if any(0 in variable.aval.shape for variable in equation.invars):
        raise NotForHost("empty matrices")
    kind = equation.invars[0].aval.dtype.char
    if kind not in "fd":
        raise NotForHost(f"{name} of dtype {equation.invars[0].aval.dtype}")
    module = import_module("scipy.linalg.blas" if name == "trsm" else "scipy.linalg.lapack")
    return getattr(module, {"f": "s", "d": "d"}[kind] + name)  # type: ignore[no-any-return]


def _of_each(function: Function, equation: Any) -> Function:
    """Return what does the same to each matrix of a batch."""
    shapes = [variable.aval.shape for variable in equation.invars]
    batch, results = shapes[0][:-2], [variable.aval for variable in equation.outvars]
    if math.prod(batch) > _MATRICES:
        raise NotForHost("many matrices")
    if not batch:
        return function

    def of_each(*arrays: Array) -> Any:
        whole = [np.empty(result.shape, result.dtype) for result in results]
        for place in np.ndindex(batch):
            found = function(*[array[place] for array in arrays])
            for result, part in zip(whole, found if len(whole) > 1 else [found], strict=True):
                result[place] = part
        return tuple(whole) if len(whole) > 1 else whole[0]

    return of_each


def _refuse(equation: Any, **options: Any) -> None:
    """Raise NotForHost unless the options are these."""
    for name, value in options.items():
        if equation.params.get(name, value) != value:
            raise NotForHost(f"{equation.primitive.name} with {name}={equation.params[name]}")


def _unless(failed: int, *arrays: Array) -> Sequence[Array]:
    """Return the arrays, full of NaN where LAPACK failed."""
    if failed:
        for array in arrays:
            array.fill(np.nan)
    return arrays


@rule("cholesky")
def cholesky(equation: Any) -> Function:
    """Factor what is on and below the diagonal; above it is what was there."""
    potrf = _lapack("potrf", equation)

    def factored(matrix: Array) -> Array:
        factor, failed = potrf(matrix, lower=1, clean=0)
        return _unless(failed, factor)[0]

    return _of_each(factored, equation)


@rule("triangular_solve")
def triangular_solve(equation: Any) -> Function:
    """Solve with each matrix of a batch."""
    options, trsm = equation.params, _lapack("trsm", equation)
    side, lower = int(not options["left_side"]), int(options["lower"])
    transposed, unit = int(options["transpose_a"]), int(options["unit_diagonal"])
    return _of_each(lambda a, b: trsm(1.0, a, b, side, lower, transposed, unit), equation)


@rule("lu")
def lu(equation: Any) -> Function:
    """Give the factors in one matrix, which rows were exchanged in turn, and where each row comes from."""
    getrf = _lapack("getrf", equation)

    def factored(matrix: Array) -> tuple[Array, Array, Array]:
        factors, pivots, failed = getrf(matrix)
        _unless(failed < 0, factors)
        rows = list(range(len(matrix)))
        for i, other in enumerate(pivots.tolist()):
            rows[i], rows[other] = rows[other], rows[i]
        return factors, pivots, np.array(rows, np.int32)

    return _of_each(factored, equation)


@rule("qr")
def qr(equation: Any) -> Function:
    """Factor into a matrix with orthogonal columns, as many as rows or just those that are needed, and a triangle."""
    _refuse(equation, pivoting=False)
    rows, columns = equation.invars[0].aval.shape[-2:]
    geqrf, orgqr = _lapack("geqrf", equation), _lapack("orgqr", equation)
    wide = equation.outvars[0].aval.shape[-1]
    reflections = min(rows, columns)

    def factored(matrix: Array) -> tuple[Array, Array]:
        *_, room, _ = geqrf(matrix, lwork=_HOW_MUCH)
        packed, scales, _, _ = geqrf(matrix, lwork=int(room[0]))
        reflectors = np.zeros((rows, wide), matrix.dtype, "F")
        reflectors[:, :reflections] = packed[:, :reflections]
        _, room, _ = orgqr(reflectors, scales, lwork=_HOW_MUCH)
        columns_of_q, _, _ = orgqr(reflectors, scales, lwork=int(room[0]))
        return columns_of_q, np.triu(packed[:wide])

    return _of_each(factored, equation)


@rule("eigh")
def eigh(equation: Any) -> Function:
    """Give the eigenvectors as columns, and the eigenvalues from the least on."""
    _refuse(equation, algorithm=None, subset_by_index=None)
    lower, size = int(equation.params["lower"]), equation.invars[0].aval.shape[-1]
    syevd = _lapack("syevd", equation)
    room, other_room, _ = _lapack("syevd_lwork", equation)(size, lower=lower)

    def decomposed(matrix: Array) -> Sequence[Array]:
        values, vectors, failed = syevd(matrix, lower=lower, lwork=int(room), liwork=int(other_room))
        return _unless(failed, vectors, values)

    return _of_each(decomposed, equation)


@rule("svd")
def svd(equation: Any) -> Function:
    """Give the singular values from the largest on and, if they are wanted, the vectors to their left and right."""
    _refuse(equation, algorithm=None, subset_by_index=None)
    shape = equation.invars[0].aval.shape[-2:]
    vectors, full = int(equation.params["compute_uv"]), int(equation.params["full_matrices"])
    options = {"compute_uv": vectors, "full_matrices": full}
    gesdd, (room, _) = _lapack("gesdd", equation), _lapack("gesdd_lwork", equation)(*shape, **options)

    def decomposed(matrix: Array) -> Any:
        left, values, right, failed = gesdd(matrix, lwork=int(room), **options)
        _unless(failed, left, values, right)
        return (values, left, right) if vectors else values

    return _of_each(decomposed, equation)
