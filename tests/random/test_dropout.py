"""Dropout: the backward sees the forward's mask, nothing is drawn in evaluation, and arrays are taken too."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from funcgrad import random
from funcgrad._program.counters import counted
from funcgrad._tensor.interop import to_host
from tests.random.namespace import torch as torch_of

torch = torch_of()
F = torch.nn.functional
IMAGE = (6, 6, 1, 3)


def image(requires_grad: bool = False) -> torch.Tensor:
    return torch.tensor(np.linspace(-1, 1, 108, dtype=np.float32).reshape(IMAGE).tolist(), requires_grad=requires_grad)


def where_it_stands() -> bytes:
    """Return where the default stream stands."""
    return to_host(random.get_rng_state()).tobytes()


@pytest.mark.parametrize("name", ["dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"])
def test_backward_sees_the_mask_of_the_forward(name: str) -> None:
    torch.manual_seed(0)
    x = image(requires_grad=True)
    y = getattr(F, name)(x, 0.4, True)
    y.sum().backward()
    given, result, grad = to_host(x), to_host(y), to_host(x.grad)
    if "alpha" not in name:
        np.testing.assert_array_equal(result, given * grad)
    kept = grad != 0
    assert len(np.unique(grad[kept])) == 1 and 0 < kept.mean() < 1
    if name not in ("dropout", "alpha_dropout"):
        inside = (1, 2, 3) if name == "dropout3d" else (2, 3)  # (C, D, H, W) and (N, C, H, W)
        assert np.all(kept.all(inside) | ~kept.any(inside))


def test_the_graph_is_torchs() -> None:
    x = image(requires_grad=True)
    drop, alpha = F.dropout(x), F.alpha_dropout(x, training=True)
    assert (drop.grad_fn.name(), len(drop.grad_fn.next_functions)) == ("MulBackward0", 2)
    assert alpha.grad_fn.name() == "AddBackward0"
    assert alpha.grad_fn.next_functions[0][0].name() == "MulBackward0"
    assert F.rrelu(x, training=True).grad_fn.name() == F.rrelu(x).grad_fn.name() == "RreluWithNoiseBackward0"
    assert F.gumbel_softmax(x).grad_fn.name() == "SoftmaxBackward0"
    assert F.gumbel_softmax(x, hard=True).grad_fn.name() == "AddBackward0"


def test_nothing_is_drawn_where_nothing_is_dropped() -> None:
    x = image()
    before = where_it_stands()
    assert F.dropout(x, 0.5, False) is x and F.dropout(x, 0.0) is x and F.alpha_dropout(x, 0.5) is x
    assert not to_host(F.dropout(x, 1.0)).any()
    assert where_it_stands() == before


def test_in_place_is_out_of_place() -> None:
    x = image()
    for name in ("dropout", "dropout2d", "alpha_dropout"):
        torch.manual_seed(2)
        expected = to_host(getattr(F, name)(x, 0.4, True))
        torch.manual_seed(2)
        y = x.clone()
        assert getattr(F, name)(y, 0.4, True, inplace=True) is y
        np.testing.assert_array_equal(to_host(y), expected)


def test_infinity_is_dropped_to_nan_as_in_torch() -> None:
    assert np.isnan(to_host(F.dropout(torch.full((20,), float("inf")), 1.0))).all()


def test_plain_arrays_are_taken_also_under_jit() -> None:
    x = jnp.ones(40)
    torch.manual_seed(2)
    expected = to_host(F.dropout(torch.ones(40), 0.5))
    torch.manual_seed(2)
    np.testing.assert_array_equal(F.dropout(x, 0.5), expected)
    torch.manual_seed(2)
    np.testing.assert_array_equal(jax.jit(lambda a: F.dropout(a, 0.5))(x), expected)


def test_a_loop_with_dropout_compiles_once() -> None:
    x = image()

    def step() -> np.ndarray:
        return to_host(F.dropout(x, 0.5) * 2)

    step(), step()
    with counted() as seen:
        different = [step() for _ in range(5)]
    assert seen.compiles == 0 and seen.runs == 5
    assert any(np.any(a != different[0]) for a in different[1:])


def test_the_hard_gumbel_softmax_is_one_hot_with_the_soft_ones_gradient() -> None:
    logits = image(requires_grad=True)
    torch.manual_seed(3)
    hard = F.gumbel_softmax(logits, 0.7, hard=True)
    np.testing.assert_allclose(np.sort(to_host(hard), -1), np.broadcast_to([0, 0, 1], IMAGE), atol=1e-6)
    weights = torch.rand(IMAGE)
    (hard * weights).sum().backward()
    grad, logits.grad = to_host(logits.grad), None
    torch.manual_seed(3)
    (F.gumbel_softmax(logits, 0.7) * weights).sum().backward()
    np.testing.assert_allclose(to_host(logits.grad), grad, atol=1e-6)
