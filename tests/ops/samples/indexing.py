"""Samples for the rows of `indexing` and `scattering`: reading and writing at places given by tensors."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_PLACES = values([[0, 2, 1], [1, 1, 0]], "int64")
_REPEATED = values([0, 2, 0], "int64")

SAMPLES: dict[str, list[Sample]] = {
    "_unsafe_masked_index": [
        sample(given(3, 4), values([True, False], "bool"), [values([1, 7], "int64"), values([1, 9], "int64")], 2.5).but(
            graph=False
        ),
    ],
    "_unsafe_masked_index_put_accumulate": [
        sample(
            given(3, 4),
            values([[True, False]], "bool"),
            [values([[0], [1], [2]], "int64"), values([1, 9], "int64")],
            given(3, 2),
        ).but(graph=False),
    ],
    "gather": [
        sample(given(3, 4), 0, values([], grad=False)),
        sample(given(2, 2), 1, values([[0, 23]], "int64")).but(fails=True),
        sample(given(3, 4), 0, _PLACES),
        sample(given(3, 4), 1, _PLACES),
        sample(given(2, 3), -1, values([[0], [2]], "int64")),
        sample(given(2, 3), 1, values([[0], [2]], "int32")),
        sample(given(), 0, values(0, "int64")),
        sample(given(3, 4), 0, values([0], "int64")).but(fails=True),
        sample(given(3, 4), 0, values([[0.0]], grad=False)).but(fails=True),
        sample(given(3, 2), 0, _PLACES).but(fails=True),
    ],
    "take_along_dim": [
        sample(given(3, 4), _PLACES, 0).but(fails=True),
        sample(given(2, 4), _PLACES, 1),
        sample(given(1, 4), _PLACES, 1),
        sample(given(3, 4), values([5, 0, 11], "int64")),
        sample(given(3, 4), values([0], "int64"), 0).but(fails=True),
    ],
    "index_select": [
        sample(given(3, 4), 0, _REPEATED),
        sample(given(3, 4), 1, _REPEATED),
        sample(given(3), 0, values(1, "int64")),
        sample(given(3, 4), 0, _PLACES).but(fails=True),
        sample(given(3, 4), 0, values([0.0], grad=False)).but(fails=True),
    ],
    "index_add": [
        sample(given(3, 4), 0, _REPEATED, given(3, 4)),
        sample(given(4, 3), 1, _REPEATED, given(4, 3), alpha=2.5),
        sample(given(3, 4), 0, _REPEATED, given(2, 4)).but(fails=True),
        sample(given(3, 4), 0, _REPEATED, given(3, 5)).but(fails=True),
        sample(given(3, 4), 0, _REPEATED, given(3, 4, dtype="float64")).but(fails=True),
    ],
    "index_copy": [
        sample(given(3, 4), 0, values([2, 0], "int64"), given(2, 4)),
        sample(given(3, 4), 0, values([2, 0], "int64"), given(3, 4)).but(fails=True),
    ],
    "index_fill": [
        sample(given(3, 4), 0, values([2, -3], "int64"), 2.5),
        sample(given(3, 4), 1, values([2], "int64"), given()),
        sample(given(3, 4), 1, values([2], "int64"), given(2)).but(fails=True),
        sample(given(3, 4), 1, values([2.0], grad=False), 1).but(fails=True),
    ],
    "take": [
        sample(given(3, 4), values([[0, 11], [5, 5]], "int64")),
        sample(given(3, 4), values([-1], "int64")),
        sample(given(3, 4), values([0.0], grad=False)).but(fails=True),
    ],
    "put": [
        sample(given(3, 4), values([0, 11], "int64"), given(2)),
        sample(given(3, 4), values([0, 5, 5], "int64"), given(3), accumulate=True),
        sample(given(3, 4), values([0, 11], "int64"), given(3)).but(fails=True),
    ],
    "scatter": [
        sample(given(3, 4), 0, _PLACES, given(2, 3)),
        # torch cannot differentiate a src larger than its index
        sample(given(3, 4), 1, values([[0, 3], [1, 2]], "int64"), given(3, 4)).but(gradient=False),
        sample(given(3, 4), 1, _PLACES, 2.5),
        sample(given(3, 4), 1, _PLACES, value=1.0),
        sample(given(3, 4, grad=False), 1, _PLACES, given(2, 3, grad=False), reduce="add"),
        sample(given(3, 4, grad=False), 1, _PLACES, 3.0, reduce="multiply"),
        sample(given(3, 4), 0, _PLACES, given(1, 3)).but(fails=True),
        sample(given(3, 4), 0, _PLACES, given(2, 3, dtype="float64")).but(fails=True),
        sample(given(3, 4), 0, _REPEATED, 1.0).but(fails=True),
    ],
    "scatter_add": [
        sample(given(3, 4), 0, _PLACES, given(2, 3)),
        sample(given(3, 4), 1, _PLACES, given(3, 4)).but(gradient=False),
        sample(given(3), 0, _REPEATED, given(3)),
    ],
    "scatter_reduce": [
        sample(given(3, 4), 0, _PLACES, given(2, 3), "sum"),
        sample(given(3), 0, _REPEATED, given(3), "sum", include_self=False),
        sample(given(3), 0, _REPEATED, given(3), "mean"),
        sample(given(3), 0, _REPEATED, given(3), "mean", include_self=False),
        sample(given(3), 0, _REPEATED, given(3), "prod"),
        sample(given(3), 0, _REPEATED, given(3), "prod", include_self=False),
        sample(given(3), 0, _REPEATED, values([0.0, 2.0, 3.0]), "prod"),
        sample(given(3), 0, _REPEATED, values([0.0, 2.0, 0.0]), "prod"),
        sample(given(3), 0, _REPEATED, given(3), "amax"),
        sample(values([1.0, 5.0, 2.0]), 0, _REPEATED, values([1.0, 2.0, 1.0]), "amax"),
        sample(given(3), 0, _REPEATED, given(3), "amin", include_self=False),
        sample(given(3, dtype="int64"), 0, _REPEATED, given(3, dtype="int64"), "mean"),
        sample(given(3, dtype="int64"), 0, _REPEATED, given(3, dtype="int64"), "amax", include_self=False),
        sample(given(3), 0, _REPEATED, given(3), "wrong").but(fails=True),
    ],
    "index_reduce": [
        sample(given(), 0, values([0], "int64"), given(), "amax"),
        sample(given(3, 2), 0, _REPEATED, given(3, 2), "prod"),
        sample(given(3, 2), 0, _REPEATED, given(3, 2), "mean"),
        sample(given(3, 2), 0, _REPEATED, given(3, 2), "amax", include_self=False),
        sample(given(3, 2), 0, _REPEATED, given(3, 2), "amin"),
    ],
    "masked_scatter": [
        sample(given(2, 3), values([[True, False, True], [False, True, True]], "bool"), given(5)),
        sample(given(2, 3), values([True, False, True], "bool"), given(2, 3)),
        sample(given(2, 3), given(2, 3, grad=False), given(6)).but(fails=True),
        sample(given(2, 3), given(2, 3, dtype="bool"), given(6, dtype="float64")).but(fails=True),
    ],
    "nonzero_static": [
        sample(values([[0, 1], [2, 0]], "int64"), size=3),
        sample(values([[0, 1], [2, 5]], "int64"), size=2, fill_value=7),
    ],
}
