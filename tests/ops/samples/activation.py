"""Samples of activations: random numbers, the kinks and ends, halves, refused integers."""

from __future__ import annotations

from tests.ops.samples import Sample, given, kind, sample, values

_INF, _NAN = float("inf"), float("nan")
_KINKS = [0.0, -0.5, 0.5, 1.0, -1.0, 3.0, -3.0, 6.0, 25.0, -40.0]


def _usual(*args: object, refuses_integers: bool = True, **kwargs: object) -> list[Sample]:
    return [
        sample(given(3, 4, low=-4, high=4), *args, **kwargs),
        sample(values(_KINKS), *args, **kwargs),
        sample(values([_NAN]), *args, **kwargs).but(gradient=False),
        sample(given(5, dtype="float64"), *args, **kwargs),
        sample(given(5, dtype="bfloat16"), *args, **kwargs),
        sample(given(), *args, **kwargs),
        sample(given(0, 2), *args, **kwargs),
        sample(given(3, dtype="int64"), *args, **kwargs).but(fails=refuses_integers),
    ]


def _along(refused: bool = True) -> list[Sample]:
    return [
        sample(given(3, 4), 1),
        sample(given(2, 3, 4), dim=-2),
        sample(given(2, 3, dtype="float64"), 0),
        sample(given(2, 3), 1, dtype=kind("float64")).but(graph=False),
        sample(given(4, dtype="bfloat16"), 0),
        sample(given(), 0),
        sample(values([[1e4, -1e4, 0.0], [-_INF, 0.0, 1.0]]), 1).but(gradient=False),
        sample(given(3, dtype="int64"), 0).but(fails=refused),
        sample(given(2, 3), 2).but(fails=True),
    ]


SAMPLES: dict[str, list[Sample]] = {
    "relu": [*_usual(refuses_integers=False), sample(values([True, False], "bool")).but(fails=True)],
    "nn.functional.relu": [sample(given(3, 4))],
    "nn.functional.relu6": _usual(refuses_integers=False),
    "nn.functional.hardtanh": [
        *_usual(refuses_integers=False),
        sample(given(3, 4), -0.5, 0.75),
        sample(given(2), 2.0, 1.0).but(fails=True),
    ],
    "nn.functional.leaky_relu": [*_usual(), sample(given(3, 4), 0.2), sample(given(3, 4), negative_slope=0.3)],
    "nn.functional.elu": [*_usual(), sample(given(3, 4), 2.0)],
    "selu": _usual(),
    "celu": [*_usual(), sample(given(3, 4), 2.0), sample(given(3, 4), 0.0).but(fails=True)],
    "nn.functional.gelu": [
        *_usual(),
        *(each.but(kwargs={"approximate": "tanh"}) for each in _usual()),
        sample(given(3), approximate="erf").but(fails=True),
    ],
    "nn.functional.silu": _usual(),
    "nn.functional.mish": _usual(),
    "nn.functional.hardsigmoid": _usual(),
    "nn.functional.hardswish": _usual(),
    "nn.functional.softplus": [*_usual(), sample(given(3, 4), 2.0, 1.0), sample(given(3, 4), beta=0.5)],
    "nn.functional.softsign": _usual(refuses_integers=False),
    "nn.functional.tanhshrink": _usual(refuses_integers=False),
    "nn.functional.softshrink": [*_usual(), sample(given(3, 4), 1.0), sample(given(3), -1.0).but(fails=True)],
    "hardshrink": [*_usual(), sample(given(3, 4), 1.0)],
    "threshold": [*_usual(0.5, 7.0, refuses_integers=False)[:6], sample(given(3, 4), threshold=0.0, value=-1.0)],
    "prelu": [
        sample(given(3, 4), given(1)),
        sample(given(3, 4), given(4)),
        sample(given(2, 3, 4, 2), given(3)),
        sample(given(5), given(1)),
        sample(given(5), given()),
        sample(values([0.0, -1.0, 2.0]), given(1)),
        sample(given(2, 3), given(4)).but(fails=True),
        sample(given(2, 3), given(3, dtype="float64")).but(fails=True),
    ],
    "nn.functional.glu": [
        sample(given(3, 4)),
        sample(given(4, 3), 0),
        sample(given(4, dtype="float64")),
        sample(given(3, 5)).but(fails=True),
        sample(given()).but(fails=True),
    ],
    "nn.functional.logsigmoid": _usual(),
    "softmax": _along(),
    "_safe_softmax": [
        sample(values([[1.0, -_INF, 2.0], [-_INF] * 3]), 1),
        sample(given(3, 2, 4), -2),
        sample(given(3, dtype="int64"), 0).but(fails=True),
        sample(given(2, 3, dtype="bfloat16"), 0),
        sample(given(2, 3), 1, kind("float64")),
        sample(given(), 0),
    ],
    "_softmax_backward_data": [
        sample(given(3, 4), given(3, 4, low=0.1, high=0.9), 1, kind("float32")).but(graph=False),
        sample(given(), given(), 0, kind("float32")).but(graph=False),
    ],
    "_log_softmax_backward_data": [sample(given(3, 4), given(3, 4), -1, kind("float32")).but(graph=False)],
    "nn.functional.softmax": [sample(given(3, 4), dim=1)],
    "log_softmax": _along(),
    "nn.functional.log_softmax": [sample(given(3, 4), dim=1)],
    "nn.functional.softmin": _along()[:6],
    "nn.functional.normalize": [
        sample(given(3, 4)),
        sample(given(3, 4), 1.0, 0),
        sample(given(2, 3, 4), p=3.0, dim=-1),
        sample(given(3, 4), p=_INF).but(graph=False),
        sample(given(3, 4), eps=10.0),
        sample(values([[0.0, 0.0], [3.0, 4.0]])),
        sample(given(3, 4, dtype="float64")),
    ],
    "cosine_similarity": [
        sample(given(3, 4), given(3, 4)),
        sample(given(3, 4), given(3, 4), 0),
        sample(given(2, 3, 4), given(3, 4), dim=-1).but(graph=False),
        sample(values([[0.0, 0.0], [3.0, 4.0]]), given(2, 2)),
        sample(given(3, 4), given(3, 4, dtype="float64")).but(graph=False),
        sample(given(3, 4), given(3, 5)).but(fails=True),
    ],
    "pairwise_distance": [
        sample(given(3, 4), given(3, 4)),
        sample(given(3, 4), given(3, 4), 1.0, keepdim=True).but(graph=False),
        sample(given(3, 4), given(4), p=3.0).but(graph=False),
        sample(given(3, 4), given(3, 4), p=_INF).but(graph=False),
        sample(given(3, 4), given(3, 5)).but(fails=True),
    ],
}
