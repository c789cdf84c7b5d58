"""Samples of attention: masks of bool and of numbers, causal, scale, several queries to a key's head, refusals."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_Q, _K, _V = given(2, 3, 5, 4), given(2, 3, 6, 4), given(2, 3, 6, 4)
_ROWS = [[True, False, True, True, False, True], *[[j <= i for j in range(6)] for i in range(3)], [False] * 6]
_SEEN = values(_ROWS, "bool")

SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.scaled_dot_product_attention": [
        sample(_Q, _K, _V),
        sample(_Q, _K, given(2, 3, 6, 7)).but(graph=False),
        sample(_Q, _K, _V, is_causal=True),
        sample(_Q, given(2, 3, 3, 4), given(2, 3, 3, 4), is_causal=True, scale=0.3),
        sample(_Q, _K, _V, _SEEN),
        sample(_Q, _K, _V, given(5, 6, grad=False)),
        sample(given(3, 5, 4), given(3, 6, 4), given(3, 6, 4), given(5, 6)),
        sample(given(5, 4), given(6, 4), given(6, 4)).but(graph=False),
        sample(given(2, 6, 5, 4), _K, _V, enable_gqa=True).but(graph=False),
        *[sample(*[given(2, 4, 8, dtype=half, low=-4, high=4, grad=False)] * 3) for half in ("float16", "bfloat16")],
        sample(_Q, given(2, 3, 6, 4, dtype="float64"), _V).but(fails=True),
        sample(_Q, given(2, 3, 6, 5), _V).but(fails=True),
        sample(_Q, _K, _V, _SEEN, is_causal=True),
        sample(_Q, _K, _V, given(5, 6, dtype="int64")).but(fails=True),
        sample(_Q, _K, _V, given(4, 6, grad=False)).but(fails=True),
    ],
}
