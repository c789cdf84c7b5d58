"""The tensors whose repr is recorded from torch: numbers from numpy alone, so that both sides see the same bits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
GRAD_FNS = ("AddBackward0", "MulBackward0")


@dataclass
class Case:
    """One tensor, what is known of it, and the options under which it prints."""

    name: str
    array: np.ndarray[Any, Any]
    dtype: str
    grad: str = ""  # "", "leaf", "parameter" or a node's name
    default_dtype: str = "float32"
    options: dict[str, Any] = field(default_factory=dict)


def numpy_dtype(name: str) -> Any:
    """Return the numpy dtype behind torch's name."""
    return np.dtype({"bfloat16": ml_dtypes.bfloat16, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
                     "float8_e5m2": ml_dtypes.float8_e5m2}.get(name, name))  # fmt: skip


def cases() -> Iterator[Case]:
    """Yield every case; names are unique and the order never matters."""
    yield from _special_values()
    yield from _empty()
    yield from _grad_and_wrapping()
    yield from _summarised()
    yield from _with_options()
    yield from _random()


def _case(name: str, values: Any, dtype: str = "float32", **known: Any) -> Case:
    with np.errstate(all="ignore"):
        return Case(name, np.asarray(values).astype(numpy_dtype(dtype)), dtype, **known)


def _special_values() -> Iterator[Case]:
    inf, nan = math.inf, math.nan
    lists: dict[str, Any] = {
        "scalar": 7.0, "negative": -3.0, "fraction": 3.14159, "zero": 0.0, "minus_zero": -0.0, "tiny": 1e-8,
        "huge": 1e20, "nan": nan, "inf": inf, "minus_inf": -inf, "nans": [nan, nan], "zeros": [0.0, -0.0, 0.0],
        "whole": [1.0, 2.0, -3.0], "whole_nan": [1.0, nan, 100.0], "whole_inf": [1.0, inf, -inf],
        "fraction_nan": [1.5, nan, -inf], "whole_sci": [1.0, 2000.0], "whole_big": [1e9, 2e9], "sci": [1e-5, 1.0],
        "sci_nan": [1e-5, nan, -inf, 0.0], "ratio_1000": [0.1, 100.0], "ratio_1001": [0.1, 100.2],
        "edge_small": [1e-4, 5e-4], "below_edge": [9.9e-5, 1e-4], "edge_big": [1e8, 1e8],
        "zero_minus_zero_frac": [0.5, -0.0, 0.0], "denormal": [5e-324, 1e308], "rounding": [0.99995, 0.00005],
        "matrix": [[1.0, 2.5], [-3.25, 4.0]], "three": [[[1.0, 2.0]], [[3.0, 4.0]]],
        "four": [[[[1.0], [2.0]]], [[[3.0], [4.0]]]],
    }  # fmt: skip
    for dtype in (*FLOATS, *COMPLEX):
        for name, values in lists.items():
            yield _case(f"{name}_{dtype}", values, dtype)
    pairs: dict[str, Any] = {
        "pair": [1 + 2j, 3.5 - 4j], "nan": [complex(nan, -inf), 1j], "minus_zero": complex(-0.0, -0.0),
        "mixed_sci": [1e-6 + 1j, 2 + 3e9j], "matrix": [[1j, -2j], [3, 4 - 0.5j]], "zero": 0j,
    }  # fmt: skip
    for name, values in pairs.items():
        for dtype in COMPLEX:
            yield _case(f"complex_{name}_{dtype}", values, dtype)
    for dtype in INTEGERS:
        limits = np.iinfo(dtype)
        yield _case(f"limits_{dtype}", np.array([limits.min, 0, limits.max], dtype), dtype)
        yield _case(f"ints_{dtype}", [[1, 2, 3], [10, 20, 100]], dtype)
        yield _case(f"int_scalar_{dtype}", 5, dtype)
    yield _case("bools", [True, False], "bool")
    yield _case("bool_scalar", True, "bool")
    yield _case("bool_true", [[True], [True]], "bool")
    for dtype in ("float8_e4m3fn", "float8_e5m2"):
        yield _case(f"values_{dtype}", [0.5, 1.75, -0.0, 240.0], dtype)


def _empty() -> Iterator[Case]:
    for shape in ((0,), (0, 3), (2, 0), (1, 0, 2)):
        for dtype in ("float32", "float64", "int64", "bool", "complex64", "bfloat16"):
            yield _case(f"empty_{shape}_{dtype}", np.zeros(shape), dtype)
    yield _case("empty_grad", np.zeros((0, 4)), grad="leaf")
    yield _case("empty_parameter", np.zeros(0), "float64", grad="parameter")
    yield _case("empty_default_double", np.zeros(0), "float64", default_dtype="float64")


def _grad_and_wrapping() -> Iterator[Case]:
    for grad in ("leaf", "parameter", *GRAD_FNS):
        yield _case(f"scalar_{grad}", 2.5, grad=grad)
        yield _case(f"complex_{grad}", [1 + 1j, 2], "complex64", grad=grad)
        for length in range(1, 14):
            yield _case(f"line_{length}_{grad}", np.arange(length) / 4, grad=grad)
            yield _case(f"double_line_{length}_{grad}", np.arange(length) / 4, "float64", grad=grad)
        yield _case(f"matrix_{grad}", np.arange(12).reshape(3, 4) / 8, "float64", grad=grad)
        yield _case(f"rows_{grad}", np.arange(60).reshape(2, 30) / 8, "bfloat16", grad=grad)
    for default in ("float64", "float16"):
        for dtype in ("float32", "float64", "float16", "complex64", "complex128", "int64", "int32"):
            yield _case(f"{dtype}_default_{default}", [1, 2], dtype, default_dtype=default)
    for length in (15, 40, 200, 999):
        yield _case(f"long_{length}", np.arange(length))
        yield _case(f"long_int_{length}", np.arange(length), "int64")
        yield _case(f"long_bool_{length}", np.arange(length) % 3 == 0, "bool")


def _summarised() -> Iterator[Case]:
    matrices = ((40, 50), (2, 600), (600, 2), (7, 150), (6, 200), (1, 1001), (1001, 1))
    for shape in ((1000,), (1001,), (5000,), *matrices, (11, 11, 11), (2, 3, 4, 50)):
        count = math.prod(shape)
        values = np.sin(np.arange(count)).reshape(shape) * 10
        yield _case(f"large_{shape}", values)
        yield _case(f"large_int_{shape}", np.arange(count).reshape(shape), "int64")
        yield _case(f"large_complex_{shape}", values * (1 - 2j), "complex64", grad="leaf")
    hidden = np.ones((20, 60))
    hidden[10, 30] = 1e9  # outside the edges: must not decide the format
    yield _case("large_hidden_outlier", hidden, grad="parameter")
    for edge in (0, 1, 2, 5):
        for shape in ((30,), (4, 9), (3, 2, 6), (12, 1), ()):
            values = np.arange(math.prod(shape)).reshape(shape) / 2
            yield _case(f"edge_{edge}_{shape}", values, options={"edgeitems": edge, "threshold": 0})
    yield _case("edge_0_unsummarised", [1.0, 2.0], options={"edgeitems": 0})


def _with_options() -> Iterator[Case]:
    values = np.array([[0.123456789, -12.3456789, 3.0], [1234.5, 1e-3, 0.0]])
    settings: tuple[dict[str, Any], ...] = (
        {"precision": 0}, {"precision": 2}, {"precision": 10}, {"linewidth": 20}, {"linewidth": 200}, {"linewidth": 1},
        {"profile": "short"}, {"profile": "full"}, {"profile": "default"}, {"profile": "short", "precision": 6},
        {"sci_mode": True}, {"sci_mode": False}, {"sci_mode": True, "precision": 1}, {"threshold": 3},
        {"profile": "unknown"},
    )  # fmt: skip
    for options in settings:
        label = "_".join(f"{name}={value}" for name, value in options.items())
        for dtype in ("float32", "float64", "complex64"):
            yield _case(f"{label}_{dtype}", values, dtype, options=options, grad="leaf")
        yield _case(f"{label}_whole", np.round(values), options=options)
        yield _case(f"{label}_int", np.arange(50), "int32", options=options)
        yield _case(f"{label}_large", np.arange(1200).reshape(30, 40) / 3, options=options)


def _random() -> Iterator[Case]:
    """Vary everything at once, from one fixed seed."""
    rng = np.random.Generator(np.random.PCG64(20240))
    for number in range(250):
        dtype = str(rng.choice([*FLOATS, *FLOATS, *INTEGERS, *COMPLEX, "bool"]))
        shape = tuple(int(n) for n in rng.integers(1, [13, 9, 5, 4][: rng.integers(0, 5)]))
        values = _random_values(rng, shape, dtype)
        differentiable = dtype in (*FLOATS, *COMPLEX)
        grad = str(rng.choice(["", "", "leaf", "parameter", "AddBackward0"])) if differentiable else ""
        short = {"threshold": int(rng.integers(0, 60)), "edgeitems": int(rng.integers(1, 4))}
        yield _case(f"random_{number}", values, dtype, grad=grad, options=short if rng.random() < 0.3 else {})


def _random_values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        return rng.integers(0, 10 ** int(rng.integers(1, 3)) + 1, shape)
    values = np.asarray(rng.standard_normal(shape) * 10.0 ** int(rng.integers(-5, 5)))
    if rng.random() < 0.3:
        values = np.round(values)
    if rng.random() < 0.2:
        values = np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf, -0.0]), values)
    if dtype in COMPLEX:
        joined = np.empty(shape, np.complex128)
        joined.real, joined.imag = values, _random_values(rng, shape, "float64")
        return joined
    return values
