"""Samples of running sums and products, differences and integrals."""

from __future__ import annotations

from tests.ops.samples import Sample, given, kind, sample, values

_INF, _NAN = float("inf"), float("nan")
_X = given(3, 4)


def _runs() -> list[Sample]:
    return [
        sample(_X, 0),
        sample(_X, -1),
        sample(_X, dim=1),
        sample(given(2, 3, 4, dtype="float64"), 1),
        sample(given(), 0),
        sample(given(0, 3), 0),
        sample(_X, 2).but(fails=True),
    ]


_INTEGERS = [
    sample(given(5, dtype="int32"), 0),
    sample(given(5, dtype="bool"), 0),
    sample(given(5, dtype="int32"), 0, dtype=kind("float32")),
    sample(given(5), 0, dtype=kind("float64")),
]
_BEST = [
    *_runs(),
    sample(values([1.0, 3.0, 3.0, 2.0, 3.0, 4.0]), 0),
    sample(values([1.0, _NAN, 3.0], grad=False), 0),
    sample(given(3, 6, dtype="int64"), 1),
]

SAMPLES: dict[str, list[Sample]] = {
    "cumsum": [*_runs(), *_INTEGERS],
    "cumprod": [*_runs(), *_INTEGERS, sample(values([[1.0, 0.0, 2.0, 0.0, 3.0], [2.0, 3.0, 4.0, 5.0, 6.0]]), 1)],
    "logcumsumexp": [
        *_runs(),
        sample(given(3, 4, dtype="complex64"), 1),
        sample(values([100.0, 100.0, -1000.0]), 0).but(rtol=1e-4),
    ],
    "cummax": _BEST,
    "cummin": _BEST,
    "diff": [
        sample(_X),
        sample(_X, 2).but(graph=False),
        sample(_X, dim=0),
        sample(_X, prepend=given(3, 2), append=given(3, 1)).but(graph=False),
        sample(_X, n=0).but(gradient=False),
        sample(given(5, dtype="bool")),
        sample(given(5, dtype="int64")),
    ],
    "trapezoid": [
        sample(_X).but(graph=False),
        sample(_X, dx=0.5, dim=0).but(graph=False),
        sample(_X, given(4)).but(graph=False),
        sample(_X, given(3, 4)).but(graph=False),
        sample(_X, given(3), dim=0).but(graph=False),
    ],
    "trapz": [sample(_X).but(graph=False)],
    "cumulative_trapezoid": [
        sample(_X).but(graph=False),
        sample(_X, dx=0.5, dim=0).but(graph=False),
        sample(_X, given(4)).but(graph=False),
    ],
}
