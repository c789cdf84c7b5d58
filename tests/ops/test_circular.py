"""Sines and cosines of many numbers are as near as those of few, however large, and so are their derivatives."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad._ops import circular

MANY = circular._MANY
FUNCTIONS = {"sin": (np.sin, np.cos), "cos": (np.cos, lambda x: -np.sin(x))}


def numbers(scale: float, count: int = MANY) -> np.ndarray[Any, Any]:
    """Draw numbers up to a scale, of which many lie next to a whole number of quarter turns."""
    drawn = np.random.default_rng(0).uniform(-scale, scale, count).astype(np.float32)
    quarter = np.float64(np.pi / 2)
    drawn[: count // 2] = np.round(drawn[: count // 2] / quarter) * quarter
    return np.clip(drawn, -scale, scale)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1000.0, 8192.0, 1e5, 1e30])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes_are_near_those_in_double_precision(name: str, scale: float) -> None:
    given = numbers(scale)
    x = torch.from_numpy(given).requires_grad_()
    found = getattr(torch, name)(x)
    (slope,) = torch.autograd.grad(found.sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x)
    value, derivative = (function(given.astype(np.float64)) for function in FUNCTIONS[name])
    for ours, wanted in ((found, value), (slope, derivative), (bend, -value)):
        np.testing.assert_allclose(ours.detach().numpy(), wanted, rtol=0, atol=1e-7)


def test_small_numbers_keep_their_digits() -> None:
    given = numbers(1e-3)
    np.testing.assert_allclose(torch.from_numpy(given).sin().numpy(), np.sin(given.astype(np.float64)), rtol=1e-7)


def test_what_is_no_number_or_infinite_has_no_sine() -> None:
    given = numbers(1.0)
    given[:3] = np.nan, np.inf, -np.inf
    found = torch.from_numpy(given).cos().numpy()
    assert np.isnan(found[:3]).all()
    np.testing.assert_allclose(found[3:], np.cos(given[3:].astype(np.float64)), atol=1e-7)


def test_each_of_many_rows_may_be_many_or_few() -> None:
    given = numbers(9000.0, 3 * MANY).reshape(3, MANY)
    for rows in (given, given[:, :8]):
        found = torch.vmap(torch.sin)(torch.from_numpy(rows))
        np.testing.assert_allclose(found.numpy(), np.sin(rows.astype(np.float64)), atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "count", "at_once"), [("f4", MANY, True), ("f4", MANY - 1, False), ("f8", MANY, False)]
)
def test_only_many_numbers_in_single_precision_are_looked_at(kind: str, count: int, at_once: bool) -> None:
    with jax.enable_x64(True):
        assert ("cond" in str(jax.make_jaxpr(circular.sine)(np.ones(count, kind)))) is at_once
