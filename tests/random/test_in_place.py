"""Filling in place: names, views, history and dtypes are torch's."""

from __future__ import annotations

import numpy as np
import pytest

from funcgrad._program.counters import counted
from funcgrad._tensor.interop import to_host
from tests.random.namespace import torch as torch_of

torch = torch_of()
FILLS = {"uniform_": (), "normal_": (), "log_normal_": (), "exponential_": (), "cauchy_": (), "geometric_": (0.3,),
         "bernoulli_": (), "random_": ()}  # fmt: skip
NODES = {"uniform_": "UniformBackward0", "normal_": "NormalBackward0", "log_normal_": "LogNormalBackward0",
         "exponential_": "ExponentialBackward0", "cauchy_": "CauchyBackward0", "geometric_": "GeometricBackward0",
         "bernoulli_": "BernoulliBackward2", "random_": "RandomBackward2"}  # fmt: skip


@pytest.mark.parametrize("fill", FILLS)
def test_a_fill_returns_the_tensor_itself(fill: str) -> None:
    tensor = torch.zeros(20)
    assert getattr(tensor, fill)(*FILLS[fill]) is tensor
    assert np.any(to_host(tensor))


@pytest.mark.parametrize("fill", FILLS)
def test_a_leaf_that_requires_grad_is_filled_only_under_no_grad(fill: str) -> None:
    leaf = torch.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        getattr(leaf, fill)(*FILLS[fill])
    with torch.no_grad():
        getattr(leaf, fill)(*FILLS[fill])
    assert leaf.requires_grad and leaf.is_leaf


@pytest.mark.parametrize("fill", FILLS)
def test_the_gradient_of_what_is_overwritten_is_zero(fill: str) -> None:
    leaf = torch.ones(3, requires_grad=True)
    filled = getattr(leaf * 1, fill)(*FILLS[fill])
    assert filled.grad_fn.name() == NODES[fill]
    filled.sum().backward()
    assert to_host(leaf.grad).tolist() == [0, 0, 0]


def test_filling_a_view_fills_its_base() -> None:
    torch.manual_seed(0)
    base = torch.zeros(3, 4)
    base[1].uniform_(2, 3)
    rows = to_host(base)
    assert np.all((rows[1] >= 2) & (rows[1] < 3)) and not rows[[0, 2]].any()


def test_filling_what_detach_shares_is_seen_by_both() -> None:
    leaf = torch.zeros(3, requires_grad=True)
    leaf.detach().fill_(1.0).bernoulli_(1.0)
    leaf.data.normal_()
    assert leaf.requires_grad and np.all(to_host(leaf) != 0)


def test_functions_of_parameters_hang_in_the_graph_with_gradient_zero() -> None:
    leaf = torch.tensor([0.5, 0.25], requires_grad=True)
    drawn = {
        "BernoulliBackward0": torch.bernoulli(leaf), "PoissonBackward0": torch.poisson(leaf),
        "NormalBackward1": torch.normal(leaf, 2.0), "NormalBackward2": torch.normal(2.0, leaf),
        "NormalBackward3": torch.normal(leaf, leaf),
    }  # fmt: skip
    assert {name: sample.grad_fn.name() for name, sample in drawn.items()} == {name: name for name in drawn}
    sum(drawn.values()).sum().backward()  # type: ignore[union-attr]  # a Tensor, not sum's 0
    assert to_host(leaf.grad).tolist() == [0, 0]
    assert torch.multinomial(leaf, 1).grad_fn is None


def test_out_is_filled_and_given_back() -> None:
    torch.manual_seed(1)
    expected = to_host(torch.rand(2, 3))
    torch.manual_seed(1)
    out = torch.zeros(2, 3)
    assert torch.rand(2, 3, out=out) is out
    np.testing.assert_array_equal(to_host(out), expected)
    assert torch.randperm(5, out=torch.zeros(5, dtype=torch.int32)).dtype is torch.int32
    with pytest.raises(RuntimeError, match="dtype Float does not match dtype of out parameter"):
        torch.rand(3, out=torch.zeros(3, dtype=torch.float64), dtype=torch.float32)


def test_drawing_waits_for_nothing() -> None:
    pending = torch.zeros(4, 5).uniform_() * 2 / 2
    with counted() as seen:
        samples = [
            torch.rand(3), torch.randn(20), torch.bernoulli(pending), torch.multinomial(pending, 1),
            torch.multinomial(pending, 3), torch.normal(pending, pending), torch.nn.functional.dropout(pending, 0.5),
            torch.nn.functional.gumbel_softmax(pending),
        ]  # fmt: skip
    assert seen.runs == 0
    assert all(np.all(np.isfinite(to_host(sample))) for sample in samples)


def test_sizes_are_given_in_all_of_torchs_ways() -> None:
    assert torch.rand(2, 3).shape == torch.rand((2, 3)).shape == torch.rand([2, 3]).shape == (2, 3)
    assert torch.rand(size=(2, 3)).shape == torch.randint(5, (2, 3)).shape == torch.randint(1, 5, size=[2, 3]).shape
    assert torch.randint(low=1, high=5, size=(2,)).shape == torch.randint(high=5, size=(2,)).shape == (2,)
    assert torch.rand(()).shape == torch.randn(torch.rand(2, 3).shape[:0]).shape == ()
    assert torch.rand(torch.tensor(3)).shape == (3,)
    assert torch.rand(3, requires_grad=True).requires_grad
    assert torch.rand_like(torch.ones(3, requires_grad=True)).requires_grad is False
