"""Samples of the copies of views."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample

SAMPLES: dict[str, list[Sample]] = {
    "alias_copy": [sample(given(2, 3))],
    "as_strided_copy": [sample(given(3, 4), (2, 2), (4, 1), 1)],
    "detach_copy": [sample(given(2, 3)).but(gradient=False, graph=False)],
    "diagonal_copy": [sample(given(3, 4)), sample(given(2, 3, 4), 1, 0, 2)],
    "expand_copy": [sample(given(2, 1), (2, 3)), sample(given(2, 3), (4, -1, 3))],
    "permute_copy": [sample(given(2, 3, 4), (2, 0, 1))],
    "select_copy": [sample(given(2, 3), 1, -1), sample(given(2, 3), 1, 3).but(fails=True)],
    "squeeze_copy": [sample(given(2, 1, 3)), sample(given(2, 1, 3, 1), 1), sample(given(1, 2, 1), (0, 2))],
    "t_copy": [sample(given(2, 3))],
    "transpose_copy": [sample(given(2, 3, 4), 0, -1)],
    "unfold_copy": [sample(given(2, 7), 1, 3, 2)],
    "unsqueeze_copy": [sample(given(2, 3), -1)],
    "view_copy": [sample(given(2, 6), (3, -1)), sample(given(2, 6), (5, 2)).but(fails=True)],
    "view_as_complex_copy": [sample(given(3, 2, grad=False))],
    "view_as_real_copy": [sample(given(3, dtype="complex64"))],
    "split_copy": [sample(given(5, 2), 2).but(graph=False)],
    "split_with_sizes_copy": [sample(given(5, 2), [1, 4]).but(graph=False)],
    "unbind_copy": [sample(given(3, 2), 1).but(graph=False)],
    "slice_copy": [
        sample(given(5, 2), 0, 1, -1, 2).but(graph=False),
        sample(given(5, 2), 1).but(graph=False),
    ],
}
