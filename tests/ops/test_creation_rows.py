"""Rows without inputs, against numbers that torch 2.13 prints, and against torch itself where it is installed."""

from __future__ import annotations

from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import funcgrad as fg
from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE

_KINDS = ["float32", "float64", "int64", "int32", "float16", "bfloat16"]
_RANGES = [
    (0, 10, 1),
    (0, 1, 0.1),
    (0.5, 10, 0.3),
    (0, 1000.0, 0.1),
    (1, 2, 0.01),
    (0, -3, -0.5),
    (5, 5, 1),
    (1, 10, 2.7),
]
_REFUSED = [(0, 5, -1), (0, 5, 0), (0, float("inf"), 1), (0, float("nan"), 1)]
_SPANS = [
    (0, 1, 11),
    (0, 1, 100),
    (-5, 5, 7),
    (3.3, 9.1, 1000),
    (1, 0, 8),
    (0, 1, 1),
    (0, 1, 2),
    (1, 2, 0),
    (-10, 0, 4),
]


def _made(name: str, *statics: Any) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(TABLE[name].call([], statics)[0])


@pytest.mark.parametrize("dtype", [dtypes.int64, dtypes.float64])
def test_the_sum_of_many_places_is_not_worked_out_while_compiling(dtype: dtypes.dtype) -> None:
    with jax.enable_x64(True):
        compiled = jax.jit(lambda: TABLE["arange"].call([], (0, 100_000, 1, dtype))[0].sum()).lower().compile()
    assert " reduce(" in compiled.as_text()


def test_integers_are_exact_beyond_what_a_float_holds() -> None:
    ours = _made("arange", 2**53, 2**53 + 3, 1, dtypes.int64)
    assert ours.tolist() == [9007199254740992, 9007199254740993, 9007199254740994]


def test_counting_in_a_narrow_type_wraps_around() -> None:
    numbers = fg.arange(250, 262, 4, dtype=fg.uint8), fg.arange(2**53 - 1, 2**53 + 2), fg.arange(3, -4, -3)
    assert [x.tolist() for x in numbers] == [[250, 254, 2], [2**53 - 1, 2**53, 2**53 + 1], [3, 0, -3]]


def test_linspace_reaches_its_end_exactly() -> None:
    assert _made("linspace", 0, 1, 11, dtypes.float32)[-1] == 1
    assert _made("linspace", 3, 3, 1, dtypes.float32).tolist() == [3]


def test_long_ranges_are_computed_not_held() -> None:
    for name, statics in (("arange", (0.0, 1e5, 1.0)), ("linspace", (0.0, 1.0, 100_000))):
        with jax.enable_x64(True):
            kind = dtypes.float32
            text = jax.jit(lambda n=name, s=statics, k=kind: TABLE[n].call([], (*s, k))).lower().as_text()
        assert len(text) < 10_000


def _compare(name: str, numbers: tuple[Any, ...], kind: str, rounding: float) -> None:
    torch = pytest.importorskip("torch")
    try:
        theirs = getattr(torch, name)(*numbers, dtype=getattr(torch, kind))
    except (RuntimeError, ValueError, NotImplementedError) as error:
        with pytest.raises(type(error)) as caught:
            _made(name, *numbers, getattr(dtypes, kind, dtypes.bool_))
        assert str(caught.value) == str(error)
        return
    theirs = theirs.float().numpy().astype(ml_dtypes.bfloat16) if kind == "bfloat16" else theirs.numpy()
    ours = _made(name, *numbers, getattr(dtypes, kind, dtypes.bool_))
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=rounding, atol=rounding)


@pytest.mark.parity
@pytest.mark.parametrize("numbers", _RANGES + _REFUSED)
@pytest.mark.parametrize("kind", [*_KINDS, "bool"])
def test_arange_equals_torch(numbers: tuple[Any, ...], kind: str) -> None:
    _compare("arange", numbers, kind, {"float64": 1e-15}.get(kind, 0))


@pytest.mark.parity
@pytest.mark.parametrize("numbers", [*_SPANS, (0, 1, -1)])
@pytest.mark.parametrize("kind", _KINDS)
def test_linspace_equals_torch(numbers: tuple[Any, ...], kind: str) -> None:
    _compare("linspace", numbers, kind, {"float16": 1e-3, "bfloat16": 1e-2}.get(kind, 0))


@pytest.mark.parity
@pytest.mark.parametrize("shape", [(3, 4, 1), (3, 4, -1), (2, 2, 5), (0, 3, 0), (-1, 2, 0)])
@pytest.mark.parametrize("kind", ["int64", "int32", "float32"])
@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_places_of_triangles_equal_torch(name: str, shape: tuple[int, ...], kind: str) -> None:
    _compare(name, shape, kind, 0)


@pytest.mark.parity
@pytest.mark.parametrize("numbers", [(2, 3), (3, 2), (-1, 2), (0, 0)])
def test_eye_equals_torch(numbers: tuple[int, int]) -> None:
    _compare("eye", numbers, "float32", 0)


@pytest.mark.parity
@pytest.mark.parametrize("numbers", [(0, 2, 4, 10.0), (-1.25, 1.25, 7, 10.0), (0, 3, 4, 2.0)])
@pytest.mark.parametrize("kind", ["float32", "float64", "int32"])
def test_logspace_equals_torch(numbers: tuple[Any, ...], kind: str) -> None:
    _compare("logspace", numbers, kind, {"float32": 2e-7, "float64": 1e-15}.get(kind, 0))
