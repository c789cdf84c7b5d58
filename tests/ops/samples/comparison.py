"""Samples of comparisons, logic, bits and choices."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_INF, _NAN = float("inf"), float("nan")
_ORDERS = [
    sample(given(2, 3), given(3)),
    sample(given(2, 3), 0.1),
    sample(values([1.0, 2.0, _NAN, _INF]), values([1.0, 3.0, _NAN, _INF])),
    sample(given(9, dtype="int64"), 1),
    sample(given(9, dtype="int64"), 0.5),
    sample(given(9, dtype="int64"), given(9)),
    sample(given(9, dtype="bool"), given(9, dtype="bool")),
    sample(given(9, dtype="bool"), True),
    sample(given(2, 3), given(4)).but(fails=True),
]
_KINDS = [
    sample(values([1.0, _NAN, _INF, -_INF, 0.0])),
    sample(values([1, 0], "int64")),
    sample(values([True, False], "bool")),
    sample(values([1.0, _NAN, _INF], "float16")),
]
_LOGIC = [
    sample(given(8, dtype="bool"), given(8, dtype="bool")),
    sample(given(8, dtype="int64", low=0, high=2), given(8, dtype="bool")),
    sample(values([0.0, 1.0, 0.0]), values([0.0, 0.0, 2.0])),
    sample(given(2, 4, dtype="bool"), given(4, dtype="bool")),
]
_BITS = [
    sample(given(8, dtype="int64"), given(8, dtype="int64")),
    sample(given(8, dtype="int32"), 5),
    sample(given(8, dtype="uint8"), given(8, dtype="int64")),
    sample(given(8, dtype="bool"), given(8, dtype="bool")),
    sample(given(2, 4, dtype="bool"), given(4, dtype="bool")),
    sample(given(3), given(3)).but(fails=True),
]
_SHIFTS = [
    sample(given(8, dtype="int64"), given(8, dtype="int64", low=0, high=5)),
    sample(given(8, dtype="uint8"), 2),
    sample(given(8, dtype="int32"), 3),
]

SAMPLES: dict[str, list[Sample]] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _ORDERS),
    **dict.fromkeys(("not_equal", "less", "less_equal", "greater", "greater_equal"), _ORDERS[:2]),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit"), _KINDS),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), _LOGIC),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _BITS),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _SHIFTS),
    **{
        name: [sample(given(8, dtype="int64", low=1, high=40), given(8, dtype="int64", low=1, high=40))]
        for name in ("gcd", "lcm")
    },
    "logical_not": _KINDS,
    "bitwise_not": [
        sample(given(5, dtype="int64")),
        sample(given(5, dtype="bool")),
        sample(given(5, dtype="uint8")),
        sample(given(5)).but(fails=True),
    ],
    ".__rand__": [sample(given(5, dtype="int64"), 6)],
    "isclose": [
        sample(values([1.0, 2.0, _INF, _NAN, 1e-9]), values([1.0 + 1e-6, 2.1, _INF, _NAN, 0.0])),
        sample(values([1.0, _NAN]), values([1.1, _NAN]), rtol=0.2, atol=0.0, equal_nan=True),
        sample(given(5, dtype="int64"), given(5, dtype="int64"), rtol=0.5),
        sample(given(5), given(5, dtype="float64")).but(fails=True),
    ],
    "isin": [
        sample(given(2, 5, dtype="int64"), given(4, dtype="int64")),
        sample(given(2, 5, dtype="int64"), given(2, 2, dtype="int64"), invert=True),
    ],
    "where": [
        sample(given(2, 3, dtype="bool"), given(2, 3), given(2, 3)),
        sample(given(2, 3, dtype="bool"), given(3), given(2, 1)),
        sample(given(2, 3, dtype="bool"), given(2, 3), 0.0),
        sample(given(2, 3, dtype="bool"), 1.5, given(2, 3)),
        sample(given(3, dtype="bool"), 1.0, 0.0),
        sample(given(3, dtype="bool"), given(3, dtype="int64"), given(3)),
        sample(given(3, dtype="bool"), given(3, dtype="int64"), 0.5),
        sample(given(3, dtype="bool"), given(3, dtype="float64"), given()),
        sample(values([True, False], "bool"), values([1.0, _NAN]), values([_INF, 2.0])),
        sample(given(3), given(3), given(3)).but(fails=True),
    ],
    ".where": [
        sample(given(2, 3), given(2, 3, dtype="bool"), given(2, 3)),
        sample(given(3), given(3, dtype="bool"), 0.0),
    ],
    "masked_fill": [
        sample(given(2, 3), given(2, 3, dtype="bool"), 0.5),
        sample(given(2, 3), given(3, dtype="bool"), float("-inf")),
        sample(given(2, 3), given(2, 3, dtype="bool"), given()),
        sample(given(3), given(2, 3, dtype="bool"), 1),
        sample(given(4, dtype="int64"), given(4, dtype="bool"), 7),
        sample(given(4, dtype="float16"), given(4, dtype="bool"), -1.0),
        sample(given(4, dtype="bool"), given(4, dtype="bool"), True),
        sample(given(2, 3), given(2, 3, dtype="bool"), given(3)).but(fails=True),
    ],
}
