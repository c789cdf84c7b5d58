"""The gradients of norms where XLA rounds what it computes twice in two ways."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from funcgrad._ops.norms import vector_norm_of


@pytest.mark.parametrize("p", [float("inf"), -float("inf")])
def test_one_complex_number_gets_the_gradient_of_an_infinite_norm(p: float) -> None:
    x = jnp.asarray(np.random.RandomState(0).normal(size=(50, 10)).astype(np.float32))
    derivative = jax.jit(jax.grad(lambda x: vector_norm_of(x + 1j * x * x, p, (1,), False).sum()))
    compiled = derivative.lower(x).compile(compiler_options={"xla_backend_optimization_level": "0"})
    found = np.asarray(compiled(x))
    assert np.isfinite(found).all()
    assert (np.count_nonzero(found, 1) == 1).all()
