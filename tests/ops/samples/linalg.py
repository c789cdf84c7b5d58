"""Samples for the rows of `norms`, `decompositions` and `solving`."""

from __future__ import annotations

from tests.ops.samples import Given, Sample, given, sample, values

_INF = float("inf")


def _definite(*batch: int, size: int = 3, dtype: str = "float64") -> Given:
    """Return well-conditioned symmetric positive definite matrices with different eigenvalues."""
    row = [[(4.0 + i) if i == j else 1.0 / (1 + abs(i - j)) for j in range(size)] for i in range(size)]
    numbers: object = row
    for count in reversed(batch):
        numbers = [numbers] * count
    return values(numbers, dtype)


_SQUARE = given(3, 3, dtype="float64")

SAMPLES: dict[str, list[Sample]] = {
    "linalg.norm": [
        sample(given(2, 3)),
        sample(given(2, 3, 4)),
        sample(given(3), 2),
        sample(given(2, 3), "fro"),
        sample(_SQUARE, 2),
        sample(_SQUARE, -2),
        sample(_SQUARE, "nuc"),
        sample(given(2, 3), 1),
        sample(given(2, 3), -1),
        sample(given(2, 3), _INF),
        sample(given(2, 3), -_INF, keepdim=True).but(graph=False),
        sample(given(2, 3), 2, dim=1),
        sample(given(2, 3, 4), 1, (0, 2)),
        sample(given(2, 3), 3).but(fails=True),
        sample(given(2, 3), "wrong").but(fails=True),
        sample(given(2, 3, 4), 2).but(fails=True),
        sample(given(2, dtype="int64")).but(fails=True),
    ],
    "linalg.vector_norm": [
        sample(given(2, 3)),
        sample(given(2, 3), 0),
        sample(given(2, 3), 1, 1),
        sample(given(2, 3), 0.5),
        sample(given(2, 3), 3, (0,), True),
        sample(given(2, 3), -_INF),
        sample(given(2, 3), _INF, 0),
        sample(given(2, 3), -2),
        sample(values([0.0, 0.0])),
        sample(values([[0.0, 0.0], [1.0, 2.0]]), 3, 1),
        sample(values([0.0, 0.0]), 1),
        sample(values([1.0, -1.0, 0.5]), _INF),
        sample(given(2, 3, dtype="complex64")),
        sample(values([], "float32"), _INF).but(fails=True),
    ],
    "linalg.matrix_norm": [
        sample(given(2, 3)),
        sample(_SQUARE, 2),
        sample(given(2, 3, 4), 1, (0, 1)),
        sample(given(2, 3, 4), "fro", keepdim=True),
        sample(given(3)).but(fails=True),
        sample(given(3, 3), 3).but(fails=True),
    ],
    "linalg.cond": [
        sample(_SQUARE).but(graph=False),
        # torch 2.13 cannot differentiate these: "modified by an inplace operation"
        sample(_SQUARE, 1).but(gradient=False),
        sample(_SQUARE, "fro").but(gradient=False),
        sample(_SQUARE, -2).but(graph=False),
        sample(given(2, 3), 1).but(fails=True),
        sample(_SQUARE, 3).but(fails=True),
    ],
    "pdist": [sample(given(4, 3)), sample(given(4, 3), 1.0), sample(given(4)).but(fails=True)],
    "linalg.inv": [
        sample(_SQUARE),
        sample(given(2, 3, 3, dtype="float64")),
        sample(given(2, 3)).but(fails=True),
        sample(given(3)).but(fails=True),
        sample(given(2, 2, dtype="int64")).but(fails=True),
    ],
    "inverse": [sample(_SQUARE)],
    "linalg.inv_ex": [sample(_SQUARE)],
    "linalg.det": [sample(_SQUARE), sample(given(2, 3, 3, dtype="float64")), sample(given(2, 3)).but(fails=True)],
    "det": [sample(_SQUARE)],
    "linalg.slogdet": [sample(_SQUARE), sample(given(2, 2, 2, dtype="float64"))],
    "slogdet": [sample(_SQUARE)],
    "logdet": [sample(_definite()), sample(given(2, 3)).but(fails=True)],
    "linalg.solve": [
        sample(_SQUARE, given(3, 2, dtype="float64")),
        sample(_SQUARE, given(3, dtype="float64")),
        sample(given(2, 3, 3, dtype="float64"), given(2, 3, dtype="float64")),
        sample(given(2, 3, 3, dtype="float64"), given(3, 2, dtype="float64")),
        sample(_SQUARE, given(2, 3, dtype="float64"), left=False),
        sample(given(2, 3), given(2, 3)).but(fails=True),
        sample(given(3, 3), given(2, 2)).but(fails=True),
        sample(given(3, 3), given(3, dtype="float64")).but(fails=True),
    ],
    "linalg.solve_ex": [sample(_SQUARE, given(3, 2, dtype="float64"))],
    "linalg.solve_triangular": [
        sample(_definite(), given(3, 2, dtype="float64"), upper=True),
        sample(_definite(), given(3, 2, dtype="float64"), upper=False, unitriangular=True),
        sample(_definite(), given(2, 3, dtype="float64"), upper=False, left=False),
        sample(given(3, 3), given(2, 2), upper=True).but(fails=True),
    ],
    "triangular_solve": [
        sample(given(3, 2, dtype="float64"), _definite()),
        sample(given(3, 2, dtype="float64"), _definite(), False, True),
    ],
    "linalg.cholesky": [
        sample(_definite()),
        sample(_definite(2)),
        sample(_definite(), upper=True),
        sample(values([[2.0, 9.0], [0.5, 3.0]], "float64")),
        sample(given(2, 3)).but(fails=True),
    ],
    "cholesky": [sample(_definite()), sample(_definite(), True)],
    "linalg.cholesky_ex": [sample(_definite())],
    "cholesky_solve": [
        sample(given(3, 2, dtype="float64"), _definite()).but(gradient=False),
        sample(given(3, 2, dtype="float64"), _definite(), True).but(gradient=False),
        sample(given(3, 2), given(3, 4)).but(fails=True),
    ],
    "cholesky_inverse": [sample(_definite()).but(gradient=False)],
    "linalg.qr": [
        sample(_SQUARE),
        sample(given(4, 3, dtype="float64")),
        sample(given(3, 4, dtype="float64")),
        sample(given(4, 3, dtype="float64"), "complete").but(gradient=False),
        sample(given(3, 4, dtype="float64"), "complete"),
        sample(given(4, 3, dtype="float64"), "r").but(gradient=False),
        sample(given(3)).but(fails=True),
        sample(given(3, 3), "wrong").but(fails=True),
    ],
    "qr": [sample(given(4, 3, dtype="float64"))],
    "linalg.svd": [
        sample(_SQUARE),
        sample(given(3, 4, dtype="float64"), full_matrices=False),
        sample(given(3)).but(fails=True),
        sample(given(3, 3, dtype="int64")).but(fails=True),
        sample(given(3, 3), driver="gesvd").but(fails=True),
    ],
    "svd": [sample(given(3, 4, dtype="float64")).but(graph=False)],
    "linalg.svdvals": [
        sample(given(3, 4, dtype="float64")),
        sample(given(3, 3), driver="gesvd").but(fails=True),
    ],
    "linalg.eigh": [
        sample(_definite()),
        sample(_definite(2)),
        sample(given(2, 3)).but(fails=True),
        sample(_SQUARE, "X").but(fails=True),
    ],
    "linalg.eigvalsh": [sample(_SQUARE), sample(_SQUARE, "U")],
    "linalg.eig": [
        sample(_definite()).but(gradient=False),
        sample(given(2, 3)).but(fails=True),
    ],
    "linalg.eigvals": [sample(values([[1.0, 2.0], [0.5, 3.0]], "float64"))],
    "lu": [sample(given(3, 3)).but(graph=False), sample(given(2, 4, 3), True, True).but(graph=False)],
    "linalg.lu": [
        sample(_SQUARE).but(graph=False),
        sample(given(4, 3, dtype="float64")).but(graph=False),
        sample(given(3)).but(fails=True),
    ],
    "linalg.lu_factor": [sample(_SQUARE), sample(given(3, 4, dtype="float64"))],
    "linalg.lu_factor_ex": [sample(_SQUARE)],
    "lu_unpack": [sample(_SQUARE, values([2, 3, 3], "int32")).but(graph=False)],
    "linalg.lu_solve": [
        sample(_definite(), values([2, 3, 3], "int32"), given(3, 2, dtype="float64")),
        sample(_definite(), values([2, 3, 3], "int32"), given(3, 2, dtype="float64"), adjoint=True),
        sample(_definite(), values([2, 3, 3], "int32"), given(2, 3, dtype="float64"), left=False),
    ],
    "lu_solve": [sample(given(3, 2, dtype="float64"), _definite(), values([2, 3, 3], "int32"))],
    "linalg.lstsq": [
        sample(given(4, 3, dtype="float64"), given(4, 2, dtype="float64")).but(graph=False),
        sample(given(3, 4, dtype="float64"), given(3, 2, dtype="float64")).but(graph=False),
        sample(given(4, 3, dtype="float64"), given(4, 2, dtype="float64"), driver="gelsd").but(gradient=False),
        sample(given(4, 3), given(3, 2)).but(fails=True),
    ],
    "linalg.pinv": [
        sample(given(4, 3, dtype="float64")),
        sample(given(3, 4, dtype="float64")),
        sample(_definite(), hermitian=True),
        sample(given(3)).but(fails=True),
    ],
    "pinverse": [sample(given(4, 3, dtype="float64"))],
    "linalg.matrix_rank": [
        sample(given(4, 3, grad=False)),
        sample(values([[1.0, 2.0], [2.0, 4.0]], grad=False)),
        sample(_definite(), hermitian=True).but(gradient=False),
        sample(values([[1.0, 9.0], [0.0, 0.0]], grad=False), hermitian=True),  # read from the lower triangle
        sample(given(3, grad=False)).but(fails=True),
    ],
    "linalg.matrix_exp": [
        sample(_SQUARE),
        sample(given(2, 3, 3, dtype="float64")),
        sample(given(2, 3)).but(fails=True),
    ],
    "linalg.tensorinv": [sample(given(4, 2, 2, dtype="float64"), 1).but(graph=False)],
    "linalg.tensorsolve": [sample(given(2, 2, 4, dtype="float64"), given(2, 2, dtype="float64"))],
    "linalg.householder_product": [sample(given(4, 3, dtype="float64"), given(3, dtype="float64"))],
    "linalg.ldl_factor": [
        sample(given(5, 5, dtype="float64", grad=False)),
        sample(values([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]], grad=False)),
        sample(given(2, 3, 3, dtype="complex128", grad=False), hermitian=True),
        sample(given(2, 3)).but(fails=True),
    ],
    "linalg.ldl_factor_ex": [sample(given(2, 3, 3, grad=False)), sample(values([[0.0, 0.0], [0.0, 1.0]], grad=False))],
    "linalg.ldl_solve": [
        sample(
            values([[2.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, 0.5, 3.0]], "float64", grad=False),
            values([1, 2, 3], "int32"),
            given(3, 2, dtype="float64", grad=False),
        ),
        sample(
            values([[0.5, 0.0, 0.0], [2.0, 0.5, 0.0], [0.25, 0.5, 3.0]], "float64", grad=False),
            values([-3, -3, 3], "int32"),
            given(2, 3, 2, dtype="float64", grad=False),
        ),
    ],
    "geqrf": [sample(given(4, 3, dtype="float64", grad=False))],
    "ormqr": [
        *(sample(given(3, 2), given(2), given(3, 4), transpose=each).but(graph=False) for each in (False, True)),
        sample(given(2, 3, 3), given(2, 3), given(2, 4, 3), False).but(graph=False),
        sample(
            given(3, 2, dtype="complex64"), given(2, dtype="complex64"), given(2, 3, dtype="complex64"), False, True
        ).but(graph=False),
        sample(given(3, 2), given(2), given(4, 4)).but(fails=True),
    ],
}
