"""Transposes wait until they are needed, and the numbers stay the same."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import funcgrad as torch
from funcgrad import nn
from funcgrad._program import plan as planning
from funcgrad._program.transposes import with_waiting_transposes
from funcgrad._program.trie import forest


def transposes(function: Any, *arguments: Any) -> int:
    """Return how many transposes of whole images a function makes; those of sums over images are small."""
    equations = jax.make_jaxpr(function)(*arguments).jaxpr.eqns
    return sum(e.primitive.name == "transpose" and e.outvars[0].aval.size > 200 for e in equations)


def layered(x: Any, first: Any, second: Any) -> list[Any]:
    """Two convolutions of (N, C, H, W) images that turn them round and back, with all sorts of ops between them."""

    def convolved(x: Any, kernel: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x.transpose(0, 2, 3, 1), kernel, (1, 1), "SAME", dimension_numbers=numbers)
        return y.transpose(0, 3, 1, 2)

    y = jax.nn.relu(convolved(x, first))
    y = (y - y.mean((0, 2, 3), keepdims=True)) * 2 + y.max(1, keepdims=True)
    y = jnp.concatenate([y, y[:, :1] * 0.5], 1)[:, :-1]
    y = jnp.pad(y, ((0, 0), (0, 0), (1, 1), (2, 0)))[:, :, 1:-1, 2:]
    return [convolved(jnp.where(y > 1, y, jnp.tanh(y)), second), y.sum((2, 3)), y.sum(0), y.reshape(len(y), -1)]


def test_what_is_between_convolutions_stays_as_it_lies() -> None:
    rng = np.random.default_rng(0)
    x, first, second = (rng.standard_normal(s).astype("f") for s in ((2, 3, 5, 6), (3, 3, 3, 4), (3, 3, 4, 2)))
    waiting = with_waiting_transposes(layered)
    for found, wanted in zip(waiting(x, first, second), layered(x, first, second), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)

    def chain(x: Any, first: Any, second: Any) -> list[Any]:
        return layered(x, first, second)[:1]

    assert transposes(with_waiting_transposes(chain), x, first, second) < transposes(chain, x, first, second)


@pytest.mark.parametrize(
    ("perm", "sizes", "made"),
    [
        ((0, 3, 1, 2), (2, 2, 2, 3, 5), 0),  # channels in groups
        ((0, 3, 1, 2), (2, 4, 15), 0),  # rows end to end
        ((0, 3, 1, 2), (2, 2, 2, 15), 0),
        ((0, 3, 1, 2), (2, 1, 4, 3, 5, 1), 0),
        ((0, 3, 1, 2), (2, 60), 1),  # channels first, where they lie last
        ((0, 3, 1, 2), (8, 3, 5), 1),
        ((1, 0, 2, 3), (3, 2, 20), 0),
        ((3, 2, 1, 0), (2, 2, 5, 3, 2), 0),
        ((3, 2, 1, 0), (2, 2, 3, 5, 2), 1),
    ],
)
def test_dimensions_are_parted_and_joined_where_they_lie(
    perm: tuple[int, ...], sizes: tuple[int, ...], made: int
) -> None:
    def reshaped(x: Any) -> list[Any]:
        y = jnp.tanh(x.transpose(perm).reshape(sizes))
        return [y.reshape(x.transpose(perm).shape).transpose(np.argsort(perm)) * 2, y.sum((0, 1))]

    x = np.random.default_rng(0).standard_normal((2, 3, 5, 4)).astype("f")
    waiting = with_waiting_transposes(reshaped)
    for found, wanted in zip(waiting(x), reshaped(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    equations = jax.make_jaxpr(waiting)(x).jaxpr.eqns
    assert sum(e.primitive.name == "transpose" and e.outvars[0].aval.size == x.size for e in equations) == 2 * made


@pytest.mark.parametrize("perm", [(0, 1, 2, 3), (0, 3, 1, 2), (3, 2, 1, 0)])
@pytest.mark.parametrize("order", [(1, 0, 2, 3), (0, 2, 3, 1)])
def test_a_reshape_that_reads_in_another_order_reads_in_that_order(
    perm: tuple[int, ...], order: tuple[int, ...]
) -> None:
    def reshaped(x: Any) -> list[Any]:
        return [lax.reshape_p.bind(x.transpose(perm), new_sizes=(6, 20), dimensions=order, sharding=None) * 2]

    x = np.random.default_rng(0).standard_normal((2, 3, 5, 4)).astype("f")
    np.testing.assert_array_equal(with_waiting_transposes(reshaped)(x)[0], reshaped(x)[0])


def test_gradients_of_volumes_taken_in_a_batch_are_those_taken_one_by_one() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(1, 2, 4, 4, 4), torch.randn(3, 2, 2, 2, 2, requires_grad=True)
    y = nn.functional.conv3d(x, weight)
    cotangents = torch.randn(2, *y.shape)
    (together,) = torch.autograd.grad(y, weight, cotangents, is_grads_batched=True, retain_graph=True)
    apart = torch.stack([torch.autograd.grad(y, weight, each, retain_graph=True)[0] for each in cotangents])
    torch.testing.assert_close(together, apart)


def block() -> nn.Module:
    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, 4, 3, stride=2, padding=1)
            self.inner = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, groups=2), nn.BatchNorm2d(4), nn.ReLU())
            self.up = nn.ConvTranspose2d(4, 2, 2, stride=2)
            self.groups = nn.GroupNorm(2, 4)
            self.line = nn.Conv1d(2, 2, 3)

        def forward(self, x: Any) -> Any:
            x = self.groups(self.stem(x))
            x = nn.functional.max_pool2d(x + self.inner(x), 2)
            x = self.up(nn.functional.avg_pool2d(x, 3, 1, 1))
            return self.line(x.flatten(2)).mean((0, 2))

    return Residual()


@pytest.mark.parametrize("training", [True, False])
def test_a_net_has_the_same_gradients(monkeypatch: pytest.MonkeyPatch, training: bool) -> None:
    def run() -> list[np.ndarray[Any, Any]]:
        monkeypatch.setattr(forest, "_roots", {})
        torch.manual_seed(0)
        net = block().train(training)
        x = torch.randn(2, 3, 8, 12, requires_grad=True)
        net(x).square().sum().backward()
        return [x.grad.numpy(), *[param.grad.numpy() for param in net.parameters()]]

    found = run()
    monkeypatch.setattr(planning, "with_waiting_transposes", lambda function: function)
    for one, other in zip(found, run(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
