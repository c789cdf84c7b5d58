"""Samples of variance, norms, distances and log-sum-exp."""

from __future__ import annotations

from tests.ops.samples import Sample, given, kind, sample, values

_INF = float("inf")
_X = given(2, 3, 4)


def _spread() -> list[Sample]:
    return [
        sample(_X),
        sample(_X, 1),
        sample(_X, (0, 2)),
        sample(_X, -1, keepdim=True),
        sample(_X, 1, False),
        sample(_X, 1, True, True),
        sample(_X, dim=1, unbiased=False),
        sample(_X, dim=1, correction=0),
        sample(_X, dim=None, correction=2, keepdim=True),
        sample(_X, correction=0),
        sample(values([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]]), 1),
        sample(given(2, 9, dtype="float16"), 1),
        sample(given(2, 9, dtype="bfloat16"), 1),
        sample(given(2, 9, dtype="float64"), 1),
        sample(given(3, dtype="int64")).but(fails=True),
        sample(given(1, grad=False)),
    ]


_ZEROS = values([[0.0, 0.0], [3.0, -4.0], [0.0, 2.0]])
_TIED = values([[3.0, -3.0, 1.0], [0.0, 0.0, 0.0]])

SAMPLES: dict[str, list[Sample]] = {
    "var": [*_spread(), sample(given(5, dtype="complex64"))],
    "std": [*_spread(), sample(given(5, dtype="complex64"))],
    "var_mean": [sample(_X), sample(_X, 1), sample(_X, dim=(0, 1), correction=0, keepdim=True)],
    "std_mean": [sample(_X), sample(_X, 1), sample(_X, dim=(0, 1), correction=0, keepdim=True)],
    "norm": [
        sample(_X),
        sample(_X, 2),
        sample(_X, p=1),
        sample(_X, 3),
        sample(_X, 0.5),
        sample(_X, _INF),
        sample(_X, -_INF),
        sample(_X, 0).but(gradient=False),
        sample(_X, dim=1),
        sample(_X, 2, 1),
        sample(_X, 2, -1, True),
        sample(_X, 1, dim=(0, 1)),
        sample(_X, p="fro", dim=(1, 2)),
        sample(given(3, 4), p="nuc").but(graph=False),
        sample(_X, dtype=kind("float64")),
        *[sample(_ZEROS, p, 1) for p in (1, 2, 3, 1.5)],
        sample(_TIED, _INF, 1),
        sample(values([0.0, 0.0])),
        sample(given(40, dtype="float16")),
        sample(given(3, dtype="complex64")),
        sample(given(3, dtype="int64")).but(fails=True),
    ],
    "dist": [
        sample(given(2, 3), given(3)),
        sample(given(2, 3), given(3), 1),
        sample(given(2, 3), given(3), _INF),
        sample(values([1.0, 2.0]), values([1.0, 2.0])),
    ],
    "renorm": [sample(given(3, 4), 2, 0, 1.0), sample(given(3, 4), 1, 1, 2.0), sample(given(3, 4), 2, 0, 100.0)],
    "logsumexp": [
        sample(_X, 1),
        sample(_X, -1, True),
        sample(_X, (0, 2)),
        sample(values([[1000.0, 1000.0], [-1000.0, 0.0]]), 1),
        sample(values([-_INF, -_INF], grad=False), 0),
        sample(given(3, dtype="int64"), 0),
        sample(given(4, 9, dtype="float16"), 1),
    ],
    "cov": [
        sample(given(5), fweights=given(5, 5, dtype="int64")).but(fails=True),
        sample(given(5), fweights=values([1, 1, -1, 1, 1], "int64")).but(fails=True),
        sample(given(5), aweights=given(5, dtype="int64")).but(fails=True),
        sample(given(3, 5)).but(graph=False),
        sample(given(5)).but(graph=False),
        sample(given(3, 5), correction=0).but(graph=False),
        sample(given(3, 5), fweights=values([1, 2, 3, 1, 2], "int64")).but(graph=False),
        sample(given(3, 5), aweights=given(5, low=0.1, high=1, grad=False)).but(graph=False),
    ],
    "frobenius_norm": [sample(given(3, 4), (0, 1)), sample(given(2, 3, 4), 1, True)],
    "nuclear_norm": [sample(given(3, 4)).but(graph=False), sample(given(2, 3, 4), (1, 2), True).but(graph=False)],
    "corrcoef": [sample(given(3, 5)).but(rtol=1e-4, atol=1e-4, graph=False)],
}
