"""Rows S42 to S50: what optimizers remember, one optimizer for several parts, several for one."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from tests.questions.graphs import assert_close


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(3, 4)
        self.heads = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])

    def forward(self, x, which):
        return self.heads[which](self.trunk(x))


def train_head(net, optimizer, which, set_to_none=True):
    optimizer.zero_grad(set_to_none=set_to_none)
    net(torch.randn(5, 3), which).pow(2).mean().backward()
    optimizer.step()


def test_an_input_that_requires_grad_gets_one_too() -> None:
    """S43"""
    net, x = nn.Linear(2, 1), torch.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    assert_close(x.grad, net.weight.detach())


def test_zero_grad_leaves_what_the_optimizer_remembers() -> None:
    """S44"""
    net = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    before = optimizer.state[net.weight]["exp_avg"].clone()
    optimizer.zero_grad()
    state = optimizer.state[net.weight]
    assert {"step", "exp_avg", "exp_avg_sq"} <= set(state)
    assert torch.equal(state["exp_avg"], before)


def test_the_batch_size_may_change_because_state_has_the_shape_of_the_weights() -> None:
    """S45"""
    net = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters())
    for batch in (4, 8, 3):
        optimizer.zero_grad()
        net(torch.randn(batch, 3)).sum().backward()
        optimizer.step()
    for p in net.parameters():
        state = optimizer.state[p]
        assert state["exp_avg"].shape == state["exp_avg_sq"].shape == p.shape
        assert int(state["step"]) == 3


def test_one_optimizer_skips_the_head_that_got_no_gradient() -> None:
    """S46"""
    net = TwoHeads()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    idle = net.heads[1].weight
    train_head(net, optimizer, which=0)
    assert idle not in optimizer.state
    train_head(net, optimizer, which=1)
    before, steps = idle.detach().clone(), int(optimizer.state[idle]["step"])
    train_head(net, optimizer, which=0)
    assert idle.grad is None
    assert torch.equal(idle.detach(), before)
    assert int(optimizer.state[idle]["step"]) == steps == 1


def test_with_zeros_for_gradients_the_idle_head_moves_by_its_old_momentum() -> None:
    """S47: nobody says so where this question is asked."""
    net = TwoHeads()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    idle = net.heads[1].weight
    train_head(net, optimizer, which=1)
    before = idle.detach().clone()
    train_head(net, optimizer, which=0, set_to_none=False)
    assert idle.grad.abs().sum().item() == 0
    assert not torch.equal(idle.detach(), before)
    assert int(optimizer.state[idle]["step"]) == 2


def test_grad_is_none_at_the_start_and_after_zero_grad() -> None:
    """S48: once they were zeros."""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    assert net.weight.grad is None
    net(torch.ones(1, 2)).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert net.weight.grad.tolist() == [[0, 0]]
    optimizer.zero_grad()
    assert net.weight.grad is None


def test_two_optimizers_over_one_trunk_have_each_their_own_momentum() -> None:
    """S49"""
    net = TwoHeads()
    optimizers = [
        torch.optim.SGD([*net.trunk.parameters(), *head.parameters()], lr=0.1, momentum=0.9) for head in net.heads
    ]
    for which, optimizer in enumerate(optimizers):
        train_head(net, optimizer, which)
    buffers = [optimizer.state[net.trunk.weight]["momentum_buffer"].numpy() for optimizer in optimizers]
    assert buffers[0].shape == buffers[1].shape == (4, 3)
    assert not np.array_equal(*buffers)


def test_an_optimizer_wants_parameters() -> None:
    """S50"""
    with pytest.raises(ValueError, match="optimizer got an empty parameter list"):
        torch.optim.SGD([], lr=0.1)


def test_an_optimizer_warns_of_a_parameter_given_twice() -> None:
    """S50"""
    w = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        torch.optim.SGD([w, w], lr=0.1)
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        torch.optim.SGD([{"params": [w]}, {"params": [w]}], lr=0.1)


def test_each_parameter_group_has_its_own_learning_rate() -> None:
    """S50"""
    slow, fast = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [slow]}, {"params": [fast], "lr": 1.0}], lr=0.25)
    (slow + fast).sum().backward()
    optimizer.step()
    assert (slow.item(), fast.item()) == (-0.25, -1.0)
