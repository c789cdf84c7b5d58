"""Samples of sorting, selection by rank, quantiles, and searches in sorted numbers."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_NAN = float("nan")
_X = given(3, 7)
_HOLED = values([[3.0, _NAN, 1.0, 2.0], [4.0, 1.0, 3.0, 2.0], [_NAN, _NAN, 5.0, 1.0]])
_SEQUENCE = values([1.0, 3.0, 5.0, 7.0, 9.0], grad=False)


def _rowed(row: str, listed: list[Sample]) -> list[Sample]:
    return [each.but(row=row) for each in listed]


_ORDERS = [
    sample(_X),
    sample(_X, 0),
    sample(_X, dim=1, descending=True),
    sample(values([2.0, 1.0, 2.0, 1.0, 3.0]), stable=True),
    sample(values([2.0, 1.0, 2.0, 1.0, 3.0]), descending=True, stable=True),
    sample(values([2.0, _NAN, 1.0], grad=False)),
    sample(values([2.0, _NAN, 1.0], grad=False), descending=True),
    sample(given(2, 40, dtype="int64", low=-99, high=99), stable=True),
    sample(given(9, dtype="bool"), stable=True),
    sample(given()),
]
_MEDIANS = [
    sample(_X, 1),
    sample(_X, 0, True),
    sample(given(2, 4), 1),
    sample(values([5, 2, 9, 4], "int64"), 0),
    sample(given(), 0),
]
_QUANTILES = [
    sample(_X, 0.3),
    sample(_X, 0.5, 1),
    sample(_X, 0.25, dim=0, keepdim=True),
    sample(_X, values([0.0, 0.2, 1.0], grad=False), dim=1),
    sample(_X, values([0.1, 0.5], grad=False), keepdim=True),
    *[sample(_X, 0.4, 1, interpolation=way) for way in ("lower", "higher", "midpoint", "nearest")],
    sample(given(5, dtype="float64"), 0.3),
    sample(given(5, dtype="int64"), 0.3).but(fails=True),
]

SAMPLES: dict[str, list[Sample]] = {
    "sort": _ORDERS,
    "argsort": [each for each in _ORDERS if "stable" not in each.kwargs] + [sample(_X, stable=True)],
    "msort": [sample(_X)],
    "topk": [
        sample(_X, 3),
        sample(_X, 2, 0),
        sample(_X, 2, largest=False),
        sample(given(2, 40, dtype="float64"), 5, -1),
        sample(_X, 0).but(gradient=False),
        sample(_X, 9).but(fails=True),
        sample(given(), 1),
    ],
    "kthvalue": [sample(_X, 2), sample(_X, 1, 0), sample(_X, 7, 1, True), sample(_X, 8).but(fails=True)],
    "median": [
        *_rowed("median_dim", _MEDIANS),
        *_rowed("median_all", [sample(_X), sample(given(4)), sample(values([1.0, 2.0, 2.0, 3.0])), sample(given())]),
        sample(values([1.0, _NAN, 2.0], grad=False)).but(row="median_all"),
        sample(values([5, 2, 9, 4], "int64")).but(row="median_all"),
        sample(values([[1.0, _NAN, 2.0], [3.0, 1.0, 2.0]], grad=False), 1).but(row="median_dim"),
    ],
    "nanmedian": [
        *_rowed("nanmedian_dim", [*_MEDIANS, sample(_HOLED, 1)]),
        *_rowed("nanmedian_all", [sample(_X), sample(_HOLED)]),
    ],
    "mode": [
        sample(values([[1.0, 2.0, 2.0, 3.0], [3.0, 1.0, 3.0, 1.0]]), 1),
        # Beyond 16 elements torch's sort is not stable, so which of the places it names is its own affair.
        sample(given(4, 12, dtype="int64", low=0, high=4), 1),
        sample(given(15, 4, dtype="int64", low=0, high=4), 0, True),
        sample(given(3, 4)),
    ],
    "quantile": [each.but(graph=False) for each in [*_QUANTILES, sample(values([1.0, _NAN, 2.0], grad=False), 0.5)]],
    "nanquantile": [each.but(graph=False) for each in [*_QUANTILES, sample(_HOLED, 0.5, dim=1)]],
    "searchsorted": [
        sample(_SEQUENCE, given(2, 3, low=0, high=10, grad=False)),
        sample(_SEQUENCE, values([3.0, 9.5, 0.0], grad=False), right=True),
        sample(_SEQUENCE, values([3.0, 7.0], grad=False), side="right", out_int32=True),
        sample(_SEQUENCE, 5.0),
        sample(values([[1, 3, 5], [2, 4, 6]], "int64"), values([[3, 6], [2, 5]], "int64")),
        sample(values([5, 1, 3], "int64"), values([2, 4], "int64"), sorter=values([1, 2, 0], "int64")),
        sample(_SEQUENCE, values([1.0], grad=False), right=True, side="left").but(fails=True),
    ],
    "bucketize": [
        sample(given(2, 3, low=0, high=10, grad=False), _SEQUENCE),
        sample(values([3.0, 9.0], grad=False), _SEQUENCE, right=True),
        sample(values([3, 9, 10], "int64"), _SEQUENCE),
        sample(5.0, _SEQUENCE),
    ],
}
