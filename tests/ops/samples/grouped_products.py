"""Samples for the rows of `grouped_products`, and for the product of 8-bit integers beside scaled ones."""

from __future__ import annotations

from tests.ops.samples import Sample, given, kind, sample, values

_ENDS = values([2, 2, 6], "int32")  # the second group has nothing

SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.grouped_mm": [
        sample(given(6, 8), given(3, 8, 4), offs=_ENDS),
        sample(given(6, 8, dtype="bfloat16"), given(3, 8, 8, dtype="bfloat16"), offs=_ENDS).but(gradient=False),
        sample(given(6, 8), given(3, 8, 4), offs=_ENDS, out_dtype=kind("float32")),
        sample(given(2, 4, 8), given(8, 12), offs=values([4, 12], "int32")),
        sample(given(4, 8), given(8, 4), offs=values([4, 4, 8], "int32")),
        sample(given(3, 4, 8), given(3, 8, 4)),
        sample(given(6, 8), given(3, 8, 4)).but(fails=True),
        sample(given(3, 4, 8), given(2, 8, 4)).but(fails=True),
        sample(given(6, 8), given(3, 8, 4), offs=values([2, 2, 6], "int64")).but(fails=True),
        sample(given(6, 8), given(3, 8, 4), offs=values([2, 6], "int32")).but(fails=True),
        sample(given(6, 8), given(3, 4, 8), offs=_ENDS).but(fails=True),
        sample(given(6, 8), given(3, 8, 4), offs=_ENDS, bias=given(4)).but(fails=True),
        sample(given(6, 8), given(3, 8, 4), offs=_ENDS, out_dtype=kind("bfloat16")).but(fails=True),
        sample(given(6, 8, dtype="float64"), given(3, 8, 4, dtype="float64"), offs=_ENDS).but(fails=True),
        sample(given(8), given(3, 8, 4), offs=_ENDS).but(fails=True),
    ],
    "_grouped_mm": [sample(given(6, 8), given(3, 8, 4), _ENDS)],
    "_int_mm": [
        sample(given(3, 5, dtype="int8"), given(5, 4, dtype="int8")),
        sample(values([[255, 3]], "uint8"), values([[127, -128], [-128, 127]], "int8")),
        sample(given(3, 5), given(5, 4, dtype="int8")).but(fails=True),
        sample(given(3, 5, dtype="int8"), given(5, 4)).but(fails=True),
        sample(given(3, 5, dtype="int8"), given(4, 4, dtype="int8")).but(fails=True),
        sample(given(1, 3, 5, dtype="int8"), given(5, 4, dtype="int8")).but(fails=True),
    ],
}  # fmt: skip
