"""Samples of sums, means, products, extremes: all and some dimensions, kept or not, integers, ties, zeros, none."""

from __future__ import annotations

from tests.ops.samples import Sample, given, kind, sample, values

_INF, _NAN = float("inf"), float("nan")
_TIED = values([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0], [3.0, 3.0, 3.0]])


def _over_dims(**options: object) -> list[Sample]:
    x = given(2, 3, 4)
    return [
        sample(x),
        sample(x, 1),
        sample(x, -1, True),
        sample(x, dim=(0, 2)),
        sample(x, dim=[0, 1], keepdim=True),
        sample(x, (0, 1, 2)),
        sample(given()),
        sample(given(), 0),
        sample(given(5, dtype="float64"), 0),
        sample(given(2, 50, dtype="float16"), 1),
        sample(given(2, 50, dtype="bfloat16"), 1),
        sample(x, 3).but(fails=True),
        sample(x, (0, 0)).but(fails=True),
    ]


def _over_one() -> list[Sample]:
    x = given(2, 3, 4)
    return [
        sample(x, 1),
        sample(x, -1, True),
        sample(x, dim=0, keepdim=False),
        sample(_TIED, 1),
        sample(_TIED, 0),
        sample(given(3, 5, dtype="int64"), 1),
        sample(given(3, 5, dtype="float16"), 1),
        sample(given(), 0),
        sample(values([[1.0, _NAN, 2.0], [1.0, 2.0, 3.0]], grad=False), 1),
        sample(x, 3).but(fails=True),
    ]


def _over_all() -> list[Sample]:
    return [
        sample(given(2, 3)),
        sample(_TIED),
        sample(given(5, dtype="int64")),
        sample(given(5, dtype="bfloat16")),
        sample(given()),
        sample(values([1.0, _NAN, 2.0], grad=False)),
        sample(given(0)).but(fails=True),
    ]


def _rowed(row: str, listed: list[Sample]) -> list[Sample]:
    return [each.but(row=row) for each in listed]


_INTEGERS = [
    sample(given(2, 3, dtype="int32")),
    sample(given(2, 3, dtype="int32"), 1),
    sample(given(2, 3, dtype="uint8")),
    sample(given(2, 3, dtype="bool"), 0),
    sample(given(2, 3, dtype="int32"), dtype=kind("float64")),
    sample(given(2, 3), dtype=kind("float64")),
    sample(given(2, 3), 1, dtype=kind("float64")),
    sample(given(0, 3), 0),
    sample(given(3, dtype="bool"), dtype=kind("bool")),
]
_TRUTH = [
    sample(given(3, 4, dtype="bool")),
    sample(given(3, 4, dtype="bool"), 1),
    sample(given(3, 4, dtype="bool"), 0, True),
    sample(given(3, 4, dtype="bool"), (0, 1)),
    sample(given(3, 4, dtype="uint8", high=2), 0),
    sample(given(3, 4)),
    sample(given(3, 4, dtype="bool"), ()),
    sample(given(0, 4, dtype="bool"), 0),
]
_ARGUMENTS = [
    sample(given(2, 3, 4)),
    sample(given(2, 3, 4), 1),
    sample(given(2, 3, 4), -1, True),
    sample(given(2, 3, 4), keepdim=True),
    sample(_TIED, 1),
    sample(given(3, 5, dtype="int64", low=0, high=99), 1),
    sample(given()),
    sample(given(0)).but(fails=True),
    sample(given(2, 0), 1).but(fails=True),
]

SAMPLES: dict[str, list[Sample]] = {
    "sum": [*_over_dims(), *_INTEGERS],
    "mean": [
        *_over_dims(),
        sample(given(2, 3), dtype=kind("float64")),
        sample(given(2, 3, dtype="int64"), dtype=kind("float32")),
        sample(given(3, dtype="int64")).but(fails=True),
        sample(given(3, dtype="bool"), 0).but(fails=True),
        sample(given(0, grad=False)),
        sample(given(3, dtype="complex64")),
    ],
    "nansum": [sample(given(2, 3)), sample(values([[1.0, _NAN], [2.0, 3.0]]), 1), sample(given(3, dtype="int32"))],
    "nanmean": [sample(given(2, 3)), sample(values([[1.0, _NAN], [2.0, 3.0]]), 1)],
    "prod": [
        sample(given(2, 3)),
        sample(given(2, 3), 1),
        sample(given(2, 3), 0, True),
        sample(values([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [2.0, 3.0, 4.0]]), 1),
        sample(values([1.0, 0.0, 2.0])),
        sample(values([0.0, 0.0, 2.0])),
        sample(given(3, dtype="int32")),
        sample(given(3, dtype="bool"), 0),
        sample(given(2, 3, dtype="int32"), dtype=kind("float32")),
        sample(given()),
    ],
    "amax": [
        *_over_dims(),
        sample(_TIED),
        sample(_TIED, 1),
        sample(given(3, dtype="int64")),
        sample(given(0)).but(fails=True),
    ],
    "amin": [
        *_over_dims(),
        sample(_TIED),
        sample(_TIED, (0, 1)),
        sample(given(3, dtype="bool")),
        sample(given(0)).but(fails=True),
    ],
    "max": [*_rowed("max_all", _over_all()), *_rowed("max_dim", _over_one())],
    "min": [*_rowed("min_all", _over_all()), *_rowed("min_dim", _over_one())],
    "argmax": _ARGUMENTS,
    "argmin": _ARGUMENTS,
    "aminmax": [
        sample(given(2, 3)),
        sample(_TIED),
        sample(given(2, 3), dim=1),
        sample(given(2, 3), dim=0, keepdim=True),
        sample(given(3, dtype="int64")),
    ],
    "all": _TRUTH,
    "any": _TRUTH,
    "count_nonzero": [
        sample(given(3, 4, dtype="int64", low=0, high=3)),
        sample(given(3, 4, dtype="bool"), 1),
        sample(values([0.0, 1.0, 2.0])),
        sample(given(3, 4, dtype="bool"), (0, 1)),
    ],
    ".sum_to_size": [
        sample(given(2, 3, 4), (3, 1)).but(graph=False),
        sample(given(2, 3), (1, 3)),
        sample(given(2, 3), (2, 4)).but(fails=True),
    ],
    "histogram": [
        sample(given(50, grad=False), 7),
        sample(given(50, grad=False), 4, range=(-1.0, 1.0)),
        sample(given(50, grad=False), 4, weight=given(50, grad=False), density=True),
        sample(given(5, 10, grad=False), values([-1.0, 0.0, 0.5, 1.0], grad=False), density=True),
        sample(given(5, dtype="int64"), 4).but(fails=True),
    ],
    "histogramdd": [
        sample(given(50, 2, grad=False), [3, 4]),
        sample(given(5, 6, 3, grad=False), 3, range=[-1.0, 1.0, -2.0, 2.0, 0.0, 1.0], density=True),
        sample(given(50, 2, grad=False), [values([-1.0, 0.0, 1.0], grad=False), values([0.0, 2.0], grad=False)]),
        sample(given(50, 2, grad=False), [2, 2], weight=given(50, grad=False)),
        sample(given(50, 2, grad=False), [2]).but(fails=True),
    ],
    "histc": [
        sample(given(50, grad=False), bins=7, min=-1, max=1),
        sample(given(50, grad=False)),
        sample(given(50, grad=False), 10),
        sample(values([1.0, 1.0], grad=False), 4),
    ],
}
