"""Samples of arithmetic: broadcast, promotion, numbers on either side, zeros, signs, ties."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_INF, _NAN = float("inf"), float("nan")
_EDGES = [0.0, -0.0, 1.0, -1.0, 2.5, _INF, -_INF, _NAN]


def _pairs() -> list[Sample]:
    return [
        sample(given(2, 3), given(2, 3)),
        sample(given(2, 3), given(3)),
        sample(given(4, 1, 3), given(2, 1)),
        sample(given(2, 3), 2),
        sample(given(2, 3), -1.5),
        sample(given(), given(3)),
        sample(given(3, dtype="int64"), given(3)),
        sample(given(3, dtype="int32"), given(3, dtype="int64", low=1)),
        sample(given(3, dtype="int32", low=1), 3),
        sample(given(3, dtype="float64"), given(3)),
        sample(given(3, dtype="float64"), given()),
        sample(given(3), given(dtype="float64")),
        sample(given(3, dtype="float16"), given(3)),
        sample(given(5, dtype="bfloat16"), 0.5),
        sample(given(0, 3), given(3)),
        sample(given(2, 3), given(4)).but(fails=True),
    ]


_INTEGERS = [
    sample(given(8, dtype="int64"), given(8, dtype="int64", low=1)),
    sample(given(8, dtype="int64"), values([-3, -2, -1, 1, 2, 3, 4, 5], "int64")),
    sample(given(8, dtype="int32"), -3),
    sample(given(8, dtype="uint8"), 3),
]
_MODES = [
    sample(given(2, 3), given(2, 3), rounding_mode="floor"),
    sample(given(2, 3, low=-9, high=9), 2, rounding_mode="trunc"),
    sample(given(8, dtype="int64"), 3, rounding_mode="floor"),
    sample(given(8, dtype="int64"), -3, rounding_mode="trunc"),
    sample(given(8, dtype="int64"), 2.5, rounding_mode="floor"),
    sample(given(3), 2.0, rounding_mode="round").but(fails=True),
]
_SIGNS = sample(values([5.5, -5.5, 5.5, -5.5, 6.0, 0.0]), values([2.0, 2.0, -2.0, -2.0, 3.0, 2.0]))
_POSITIVE = given(3, 4, low=0.1, high=3)
_TIES = sample(values([1.0, 2.0, 3.0, 2.0]), values([1.0, 3.0, 2.0, 2.0]))
_EXTREMES = [
    sample(given(2, 3), given(2, 3)),
    sample(given(2, 3), given(3)),
    _TIES,
    sample(given(5, dtype="int64"), given(5, dtype="int64")),
    sample(given(3, dtype="int64"), given(3)),
]
_WITH_NAN = sample(values([1.0, _NAN, 2.0, _NAN], grad=False), values([_NAN, 1.0, 1.0, _NAN], grad=False))

SAMPLES: dict[str, list[Sample]] = {
    "add": [
        *_pairs(),
        sample(given(2, 3), given(2, 3), alpha=2),
        sample(given(3, dtype="int64"), given(3, dtype="int64"), alpha=-3),
        sample(given(3, dtype="int64"), given(3, dtype="int64"), alpha=1.5).but(fails=True),
        sample(given(3), 2, alpha=0.5),
        sample(given(4, dtype="bool"), given(4, dtype="bool")),
        sample(given(4, dtype="bool"), 2),
        sample(given(4, dtype="bool"), given(4, dtype="float16")),
        sample(given(3, dtype="complex64"), given(3)),
        sample(given(3, dtype="int32"), 2.5),
    ],
    "sub": [
        *_pairs(),
        sample(given(2, 3), given(2, 3), alpha=2.5),
        sample(given(4, dtype="bool"), given(4, dtype="bool")).but(fails=True),
        sample(given(4, dtype="uint8"), given(4, dtype="uint8")),
    ],
    "rsub": [sample(given(2, 3), given(3)), sample(given(2, 3), 1), sample(given(3, dtype="int64"), 1.5, alpha=2)],
    "mul": [
        *_pairs(),
        sample(given(4, dtype="bool"), given(4, dtype="bool")),
        sample(given(4, dtype="bool"), given(4)),
        sample(given(3, dtype="complex64"), given(3, dtype="complex64")),
        sample(given(3, dtype="complex64"), given(3)),
        sample(given(3), 1j),
        sample(values([0.0, _INF, 1.0]), values([_INF, 0.0, _NAN])),
    ],
    "div": [
        *_pairs(),
        *_MODES,
        sample(values([1.0, -1.0, 0.0, _INF]), values([0.0, 0.0, 0.0, _INF])),
        sample(given(4, dtype="bool"), 2),
        sample(given(3, dtype="complex64"), given(3, dtype="complex64")),
    ],
    ".__rtruediv__": [sample(given(2, 3), 2.0), sample(given(3, dtype="int64", low=1), 2)],
    ".__rsub__": [sample(given(2, 3), 1), sample(given(3, dtype="int64"), 1.5)],
    ".__radd__": [sample(given(2, 3), 1)],
    ".__rmul__": [sample(given(2, 3), 3.5)],
    ".__rpow__": [sample(given(2, 3), 2), sample(given(2, 3), 0.0), sample(given(3, dtype="int64", low=0), 2)],
    ".__rfloordiv__": [sample(given(5, dtype="int64", low=1), 7)],
    ".__rmod__": [sample(given(5, dtype="int64", low=1), 7)],
    "floor_divide": [
        *_INTEGERS,
        sample(given(2, 3, grad=False), given(2, 3, grad=False)),
        sample(given(5, grad=False), 0.3),
    ],
    "remainder": [*_INTEGERS, _SIGNS, sample(given(2, 3), given(3)), sample(given(2, 3), 0.7), sample(given(2, 3), -2)],
    "fmod": [*_INTEGERS, _SIGNS, sample(given(2, 3), given(3)), sample(given(2, 3), 0.7)],
    "pow": [
        sample(given(2, 3), 2),
        sample(given(2, 3), 3),
        sample(given(2, 3), 4.0),
        sample(given(2, 3), 0),
        sample(given(2, 3), -1),
        sample(given(2, 3), -2),
        sample(given(2, 3), 13),
        sample(_POSITIVE, 0.5),
        sample(_POSITIVE, -0.5),
        sample(_POSITIVE, 1.7),
        sample(given(2, 3), 1.5),
        sample(_POSITIVE, given(3, 4)),
        sample(_POSITIVE, given(4)),
        sample(values([0.0, 0.0, 0.0, -1.0, 2.0]), values([0.0, 1.0, 2.0, 2.0, 0.0], grad=False)),
        sample(values([0.0, 0.0, 0.0]), values([0.0, 1.0, 2.5])),
        sample(values([0.0, 1.0, 4.0]), 0.5),
        sample(values([0.0, 1.0, 4.0]), 0),
        sample(values([0.0, -1.0, 4.0]), 1),
        sample(2, given(2, 3)),
        sample(0.0, values([0.0, 1.0, 2.0])),
        sample(_POSITIVE, given()),
        sample(given(5, dtype="int64"), 2),
        sample(given(5, dtype="int64"), 0.5),
        sample(given(5, dtype="int64"), -1).but(fails=True),
        sample(given(5, dtype="int64"), given(5, dtype="int64", low=0, high=5)),
        sample(given(5, dtype="float16"), 2),
        sample(given(5, dtype="bfloat16"), 2),
        sample(given(3, dtype="complex64"), 2),
    ],
    "float_power": [sample(_POSITIVE, 2), sample(_POSITIVE, 0.3), sample(given(3, dtype="int64"), 2)],
    "square": [sample(given(2, 3)), sample(given(3, dtype="int64")), sample(given(3, dtype="bool"))],
    "neg": [sample(given(2, 3)), sample(given(3, dtype="uint8")), sample(given(3, dtype="bool")).but(fails=True)],
    "positive": [sample(given(2, 3, grad=False)), sample(given(3, dtype="bool")).but(fails=True)],
    "reciprocal": [sample(given(2, 3)), sample(values([0.0, _INF, -2.0])), sample(given(3, dtype="int64", low=1))],
    "abs": [
        sample(given(2, 3)),
        sample(values([0.0, -0.0, -_INF, 2.0])),
        sample(given(3, dtype="int32")),
        sample(given(3, dtype="uint8")),
        sample(given(3, dtype="complex64")),
        sample(values([0j, 1j, -1.0], "complex64")),
    ],
    "addcmul": [
        sample(given(2, 3), given(2, 3), given(2, 3)),
        sample(given(2, 3), given(3), given(2, 1), value=0.5),
        sample(given(3, dtype="int64"), given(3, dtype="int64"), given(3, dtype="int64"), value=2),
    ],
    "addcdiv": [
        sample(given(2, 3), given(2, 3), given(2, 3, low=0.5, high=2)),
        sample(given(2, 3), given(3), given(2, 1, low=0.5, high=2), value=-0.5),
        sample(given(3, dtype="int64"), given(3, dtype="int64"), given(3, dtype="int64")).but(fails=True),
    ],
    "lerp": [
        sample(given(2, 3), given(2, 3), 0.3),
        sample(given(2, 3), given(3), 0.8),
        sample(given(2, 3), given(3), given(2, 3)),
        sample(given(2, 3), given(2, 3), given()),
    ],
    "maximum": [*_EXTREMES, _WITH_NAN],
    "minimum": [*_EXTREMES, _WITH_NAN],
    "fmax": [*_EXTREMES, _WITH_NAN],
    "fmin": [*_EXTREMES, _WITH_NAN],
    "clamp": [
        sample(given(3, 4), -0.5, 0.5),
        sample(given(3, 4), 0),
        sample(given(3, 4), min=0.1),
        sample(given(3, 4), max=0.1),
        sample(given(3, 4), 1.0, -1.0),
        sample(values([-1.0, 0.0, 1.0, 2.0, _INF]), 0, 1),
        sample(values([_NAN, 1.0], grad=False), 0, 1),
        sample(given(3, 4), given(3, 4), given(3, 4)),
        sample(given(3, 4), given(4)),
        sample(given(3, 4), max=given(3, 1)),
        sample(given(5, dtype="int64"), -2, 3),
        sample(given(5, dtype="int64"), -2.5, 3),
        sample(given(5, dtype="int64"), given(5, dtype="int64")),
        sample(given(5, dtype="float16"), 0, 1),
        sample(given(3)).but(fails=True),
    ],
    "clamp_min": [sample(given(3, 4), 0), sample(values([-1.0, 0.0, 1.0]), 0.0), sample(given(3, 4), given(4))],
    "clamp_max": [sample(given(3, 4), 0), sample(values([-1.0, 0.0, 1.0]), 0.0), sample(given(3, 4), given(4))],
    "clip": [sample(given(3, 4), -0.5, 0.5)],
    "hypot": [sample(given(2, 3), given(3)), sample(values([3e30, 3.0]), values([4e30, 4.0]))],
    "atan2": [
        sample(given(2, 3), given(3)),
        sample(values([0.0, 1.0, -1.0, 0.0]), values([1.0, 0.0, 0.0, -1.0])),
        sample(given(3, dtype="int64", low=1), given(3, dtype="int64", low=1)),
    ],
    "copysign": [
        sample(given(2, 3), given(3)),
        sample(given(2, 3), -1.0),
        sample(values([0.0, -0.0, 1.0]), values([-1.0, 1.0, -0.0])),
        sample(given(3, dtype="int64"), -1),
    ],
    "logaddexp": [
        sample(given(2, 3, dtype="complex64"), given(3, dtype="complex64")),
        sample(given(2, 3), given(3)),
        sample(values([1000.0, -1000.0, 0.0]), values([1000.0, -1001.0, -_INF])),
    ],
    "logaddexp2": [sample(given(2, 3), given(3)), sample(values([1000.0, -1000.0]), values([1000.0, -1001.0]))],
    "ldexp": [
        sample(given(2, 3), given(3, dtype="int64")).but(gradient=False),  # torch 2.13 has 0 below 2^0 there, a fault
        sample(given(2, 3), given(3)),
    ],
    "true_divide": [sample(given(3, dtype="int64"), 2)],
}
