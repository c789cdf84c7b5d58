"""Public functions of plain JAX arrays are JAX functions: they work under jit, grad and vmap; no warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import funcgrad as torch
from funcgrad.nn import functional as F

LABELS = np.array([0, 2, 1])
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sigmoid": F.sigmoid,
    "zeros_like": torch.zeros_like,
    "full_like": lambda x: torch.full_like(x, 2.0),
    "max of two": lambda x: torch.max(x, x * 0),
    "max of a row": lambda x: torch.max(x, 1)[0],
    "atleast_3d": torch.atleast_3d,
    "dropout1d": lambda x: F.dropout1d(x, 0.0),
    "triplet": lambda x: F.triplet_margin_with_distance_loss(x, x + 1, x - 2),
    "relu": F.relu,
    "cat": lambda x: torch.cat([x, x]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_arrays_is_a_jax_function(name: str) -> None:
    function = FUNCTIONS[name]
    x = jnp.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    expected = function(torch.from_jax(x))
    found = jax.jit(function)(x)
    assert isinstance(found, jax.Array) and isinstance(function(x), jax.Array)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(function)(x[None])[0], expected.numpy(), rtol=1e-6)
    slope = jax.grad(lambda x: function(x).sum())(x)
    leaf = torch.from_jax(x, requires_grad=True)
    result = function(leaf).sum()
    if result.requires_grad:
        result.backward()
        assert leaf.grad is not None
        np.testing.assert_allclose(slope, leaf.grad.numpy(), rtol=1e-5)


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss, F.multi_margin_loss])
def test_labels_of_64_bits_cause_no_warning_where_jax_has_32(loss: Callable[..., Any]) -> None:
    """Warnings are errors here."""
    x = jnp.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    with jax.enable_x64(True):
        labels = jnp.asarray(LABELS)
    expected = loss(torch.from_jax(x), torch.tensor(LABELS)).item()
    found = jax.jit(jax.value_and_grad(loss))(x, labels)
    assert found[0].dtype == np.float32
    assert float(found[0]) == pytest.approx(expected, rel=1e-6)
