"""Products that numpy computes: in pieces so small that OpenBLAS computes each with one thread."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from funcgrad._program.host import products


@pytest.mark.parametrize(
    ("x_shape", "y_shape"),
    [
        ((3, 4), (4, 5)), ((700, 40), (40, 30)), ((30, 40), (40, 700)), ((600,), (600, 90)), ((90, 600), (600,)),
        ((1, 600), (600, 90)), ((90, 600), (600, 1)), ((2, 700, 40), (2, 40, 30)), ((2, 30, 40), (2, 40, 700)),
        ((20_000,), (20_000,)), ((3, 5, 1, 600), (3, 5, 600, 40)),
    ],
)  # fmt: skip
def test_products_come_in_pieces_that_one_thread_computes(
    monkeypatch: pytest.MonkeyPatch, x_shape: tuple[int, ...], y_shape: tuple[int, ...]
) -> None:
    generator, sizes = np.random.default_rng(0), list[int]()
    x, y = (generator.standard_normal(shape).astype(np.float32) for shape in (x_shape, y_shape))
    rows = 1 if x.ndim == 1 else x_shape[-2]
    columns = 1 if y.ndim == 1 else y_shape[-1]
    expected, plain = np.matmul(x, y), np.matmul

    def noted(left: Any, right: Any) -> Any:
        sizes.append(plain(left, right).size * left.shape[-1] // max(1, math.prod(left.shape[:-2])))
        return plain(left, right)

    monkeypatch.setattr(np, "matmul", noted)
    found = products.product(rows, x_shape[-1], columns)(x, y)
    assert found.shape == expected.shape and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-4)
    assert max(sizes) < 1 << 18 or 1 in (rows, columns)
    assert len(sizes) == 1 if 1 in (rows, columns) else len(sizes) >= rows * x_shape[-1] * columns >> 18
