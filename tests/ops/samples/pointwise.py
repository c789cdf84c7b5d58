"""Samples of functions of one input: their domains, their ends, integers, halves, complex numbers."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_INF, _NAN = float("inf"), float("nan")


def _real(low: float = -3, high: float = 3, edges: tuple[float, ...] = (), complex_too: bool = False) -> list[Sample]:
    made = [
        sample(given(3, 4, low=low, high=high)),
        sample(given(low=low, high=high)),
        sample(given(5, low=low, high=high, dtype="float64")),
        sample(given(5, low=low, high=high, dtype="float16")),
        sample(given(5, low=low, high=high, dtype="bfloat16")),
        sample(values([1, 0], "int64")),
        sample(values([True, False], "bool")),
        sample(given(0, 2)),
    ]
    if edges:
        made.append(sample(values(list(edges))))
    if complex_too:
        made.append(sample(given(4, dtype="complex64")))
    return made


def _steps() -> list[Sample]:
    return [
        sample(given(3, 4, low=-5, high=5)),
        sample(values([0.5, 1.5, 2.5, -0.5, -1.5, -0.0, 3.0, _INF, _NAN])),
        sample(given(5, dtype="int64")),
        sample(given(5, dtype="float16")),
    ]


SAMPLES: dict[str, list[Sample]] = {
    "exp": _real(edges=(0.0, 89.0, -200.0, _INF, -_INF, _NAN), complex_too=True),
    "exp2": _real(edges=(0.0, 200.0, -_INF)),
    "expm1": _real(edges=(0.0, 1e-6, -_INF)),
    "log": _real(0.1, 4, edges=(0.0, 1.0, -1.0, _INF), complex_too=True),
    "log2": _real(0.1, 4, edges=(0.0, 8.0, 1024.0, _INF)),
    "log10": _real(0.1, 4, edges=(0.0, 100.0, 1000.0, _INF)),
    "log1p": _real(-0.9, 4, edges=(-1.0, 1e-7, 0.0)),
    "sqrt": _real(0.1, 4, edges=(0.0, 4.0, -1.0, _INF), complex_too=True),
    "rsqrt": _real(0.1, 4, edges=(0.0, 4.0, -1.0, _INF)),
    "sin": _real(edges=(0.0, 100.0), complex_too=True),
    "cos": _real(edges=(0.0, 100.0), complex_too=True),
    "tan": _real(-1.4, 1.4, edges=(0.0, 2.0)),
    "asin": _real(-0.95, 0.95, edges=(0.0, 2.0)),
    "acos": _real(-0.95, 0.95, edges=(0.0, 2.0)),
    "atan": _real(edges=(0.0, _INF)),
    "sinh": _real(edges=(0.0, -5.0)),
    "cosh": _real(edges=(0.0, -5.0)),
    "tanh": _real(edges=(0.0, 20.0, -_INF), complex_too=True),
    "asinh": _real(edges=(0.0, 1e4)),
    "acosh": [sample(given(3, 4, low=1.1, high=5)), sample(values([0.5, 2.0, 1e4]))],
    "atanh": _real(-0.9, 0.9, edges=(0.0, 0.5)),
    "sigmoid": _real(edges=(0.0, 100.0, -100.0, _INF, -_INF)),
    "logit": [
        *_real(0.05, 0.95),
        sample(given(4, low=0, high=1), 0.2),
        sample(values([0.0, 0.1, 0.5, 1.0]), 0.1),
        sample(values([0.0, 0.5, 1.0], grad=False)),
    ],
    "floor": _steps(),
    "ceil": _steps(),
    "trunc": _steps(),
    "frac": [sample(given(3, 4, low=-5, high=5)), sample(values([0.0, 2.0, -2.5]))],
    "round": [
        *_steps(),
        sample(values([1.234, -5.678, 2.5]), decimals=2),
        sample(given(4, low=-2000, high=2000), decimals=-2),
    ],
    "deg2rad": _real(-360, 360),
    "rad2deg": _real(),
    "sign": [*_steps(), sample(values([True, False], "bool"))],
    "sgn": [*_steps(), sample(values([0j, 3 + 4j, -2j], "complex64")), sample(given(4, dtype="complex64"))],
    "angle": [
        sample(given(3, 4)),
        sample(values([1 + 1j, -1 + 0.5j, -2j], "complex64")),
        sample(given(3, dtype="int64")),
        sample(values([1.0, -1.0, 0.0, _NAN], grad=False)),
    ],
    "conj": [sample(given(3, grad=False)), sample(given(3, dtype="complex64")).but(graph=False)],
    "conj_physical": [sample(given(3, dtype="complex64")).but(graph=False)],
    "resolve_conj": [sample(given(3, dtype="complex64", grad=False))],
    "complex": [sample(given(2, 3), given(3)), sample(given(2, dtype="float64"), given(2, dtype="float64"))],
    "polar": [sample(given(2, 3, low=0.1, high=2), given(3))],
    "nan_to_num": [
        sample(values([1.0, _NAN, _INF, -_INF])),
        sample(values([1.0, _NAN, _INF, -_INF]), 7.0, 8.0, -9.0),
        sample(values([1.0, _NAN, _INF], "float64"), nan=-1.0),
        sample(given(3, dtype="int64")),
    ],
    "frexp": [sample(given(5, low=-100, high=100)), sample(values([0.0, 1.0, 0.5, 8.0]))],
}
