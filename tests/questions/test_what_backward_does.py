"""Rows S01 to S15: what backward, step and zero_grad do, and do not do."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from tests.questions.graphs import assert_close


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, requires_grad=True)


def copies(module: nn.Module) -> list[np.ndarray]:
    return [p.detach().numpy().copy() for p in module.parameters()]


def are_equal(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.fixture
def chain() -> tuple[nn.Module, nn.Module, torch.Tensor]:
    """Two networks, one behind the other, and an input."""
    torch.manual_seed(0)
    return nn.Linear(3, 4), nn.Linear(4, 2), torch.randn(5, 3)


def test_backward_adds_to_grad() -> None:
    """S01"""
    w = scalar(3.0)
    seen = []
    for _ in range(3):
        (w * 2).backward()
        seen.append(w.grad.item())
    assert seen == [2, 4, 6]


def test_sgd_subtracts_lr_times_grad_and_only_in_step() -> None:
    """S02"""
    w = scalar(3.0)
    optimizer = torch.optim.SGD([w], lr=0.1)
    (w * 2).backward()
    assert w.item() == 3
    optimizer.step()
    assert torch.equal(w, torch.tensor(2.8))


def test_zero_grad_clears_only_what_the_optimizer_holds() -> None:
    """S03"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD([net.weight], lr=0.1)
    net(torch.ones(1, 2)).sum().backward()
    optimizer.zero_grad()
    assert net.weight.grad is None
    assert net.bias.grad.item() == 1
    net.zero_grad()
    assert net.bias.grad is None


def test_with_zero_grad_each_gradient_is_fresh_and_without_it_they_add_up() -> None:
    """S04, S42"""
    gradients = {}
    for clears in (True, False):
        w = scalar(3.0)
        optimizer = torch.optim.SGD([w], lr=0.1)
        gradients[clears] = []
        for _ in range(2):
            if clears:
                optimizer.zero_grad()
            (w * 2).backward()
            gradients[clears].append(w.grad.item())
            optimizer.step()
    assert gradients == {True: [2, 2], False: [2, 4]}


def test_one_backward_of_the_sum_equals_two_backwards(chain) -> None:
    """S05"""
    net, _, x = chain
    (net(x).sum() + net(x).pow(2).mean()).backward()
    at_once = net.weight.grad.clone()
    net.zero_grad()
    net(x).sum().backward()
    net(x).pow(2).mean().backward()
    assert_close(net.weight.grad, at_once)


def test_a_frozen_network_passes_the_gradient_on_and_keeps_none(chain) -> None:
    """S06"""
    net1, net2, x = chain
    net2.requires_grad_(False)
    net2(net1(x)).sum().backward()
    assert net1.weight.grad.abs().sum().item() > 0
    assert net2.weight.grad is None


def test_a_loss_may_be_rebound_to_its_sum_with_another() -> None:
    """S07"""
    w = scalar(3.0)
    loss1, loss2 = w * 2, w * w
    loss1 = loss1 + loss2
    loss1.backward()
    assert w.grad.item() == 2 + 6


def test_retain_graph_lets_backward_run_again_and_adds_the_same_gradient_again() -> None:
    """S08"""
    w = scalar(3.0)
    loss = w * w
    loss.backward(retain_graph=True)
    loss.backward()
    assert w.grad.item() == 12


@pytest.mark.parametrize("function", [lambda w, x: w * w, lambda w, x: w * x + 1])
def test_a_second_backward_raises_unless_the_graph_was_retained(function) -> None:
    """S09"""
    loss = function(scalar(3.0), torch.tensor(2.0))
    loss.backward()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        loss.backward()


def test_backward_leaves_the_weights_and_step_changes_them(chain) -> None:
    """S10, S14"""
    net, _, x = chain
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before = copies(net)
    net(x).sum().backward()
    assert are_equal(before, copies(net))
    optimizer.step()
    assert not are_equal(before, copies(net))


def test_without_backward_step_changes_nothing_and_makes_no_state(chain) -> None:
    """S11"""
    net, _, x = chain
    optimizer = torch.optim.Adam(net.parameters())
    before = copies(net)
    net(x).sum()
    assert all(p.grad is None for p in net.parameters())
    optimizer.step()
    assert are_equal(before, copies(net))
    assert len(optimizer.state) == 0


def test_an_optimizer_over_net1_leaves_net2_as_it_is_though_net2_gets_gradients(chain) -> None:
    """S12: many expect that net2 gets no gradient."""
    net1, net2, x = chain
    optimizer1 = torch.optim.SGD(net1.parameters(), lr=0.1)
    before1, before2 = copies(net1), copies(net2)
    net2(net1(x)).sum().backward()
    optimizer1.step()
    assert not are_equal(before1, copies(net1))
    assert are_equal(before2, copies(net2))
    optimizer1.zero_grad()
    assert net1.weight.grad is None
    assert net2.weight.grad is not None


def test_a_backward_of_loss2_frees_what_loss3_shares_with_it() -> None:
    """S13 (a)"""
    w = scalar(3.0)
    loss1, loss2 = w * 2, (w * w).exp()
    loss3 = loss1 + loss2
    loss2.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss3.backward()


def test_a_retained_backward_of_loss2_is_counted_twice_unless_zeroed() -> None:
    """S13 (b)"""
    for clears, expected in ((False, 2 + 6 + 6), (True, 2 + 6)):
        w = scalar(3.0)
        loss2 = w * w
        loss3 = w * 2 + loss2
        loss2.backward(retain_graph=True)
        if clears:
            w.grad = None
        loss3.backward()
        assert w.grad.item() == expected


def test_the_sum_of_two_mean_losses_of_4_has_twice_the_gradient_of_the_mean_over_8() -> None:
    """S15"""
    torch.manual_seed(0)
    net, first, second = nn.Linear(3, 1, bias=False), torch.randn(4, 3), torch.randn(4, 3)
    loss = net(first).mean() + net(second).mean()
    assert loss.shape == ()
    loss.backward()
    of_the_sum = net.weight.grad
    net.weight.grad = None
    net(torch.cat([first, second])).mean().backward()
    assert_close(of_the_sum / net.weight.grad, torch.full((1, 3), 2.0))
