"""Rows S28 to S36: the recipe, and how loss and optimizer know which network is meant."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from tests.questions.graphs import assert_close


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc(x))


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def test_the_recipe_runs_and_the_loss_falls() -> None:
    """S28"""
    net = Net()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.5)
    input, label = torch.randn(16, 4), torch.randint(0, 2, (16, 1)).float()
    losses = []
    for _ in range(20):
        net.zero_grad()
        criterion = nn.BCELoss()
        output = net(input)
        loss = criterion(output, label)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


def test_gradients_are_the_slopes_at_the_values_of_the_forward_pass() -> None:
    """S30"""
    net, x = Net().double(), torch.randn(5, 4, dtype=torch.float64)
    net(x).pow(2).sum().backward()
    eps, slopes = 1e-6, []
    with torch.no_grad():
        for i in range(4):
            ends = []
            for change in (eps, -2 * eps):
                net.fc.weight[0, i] += change
                ends.append(net(x).pow(2).sum().item())
            net.fc.weight[0, i] += eps
            slopes.append((ends[0] - ends[1]) / (2 * eps))
    np.testing.assert_allclose(net.fc.weight.grad[0].numpy(), slopes, rtol=1e-7)


def test_gradients_are_kept_by_parameters_and_a_layer_is_no_tensor() -> None:
    """S31"""
    net = Net()
    net(torch.ones(1, 4)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    assert isinstance(net.fc, nn.Module)
    assert not isinstance(net.fc, torch.Tensor)
    assert not hasattr(net.fc, "grad")


def test_backward_reaches_the_network_that_made_the_output_and_no_other() -> None:
    """S32"""
    net, net2 = Net(), Net()
    net(torch.ones(1, 4)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    assert all(p.grad is None for p in net2.parameters())


def test_step_subtracts_the_scaled_gradients_from_the_parameters() -> None:
    """S33"""
    net = Net()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.25)
    before = net.fc.weight.detach().clone()
    net(torch.ones(1, 4)).sum().backward()
    optimiser.step()
    assert_close(net.fc.weight.detach(), before - 0.25 * net.fc.weight.grad)


def test_the_optimizer_holds_the_very_parameters_it_was_given() -> None:
    """S34"""
    net = Net()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    held = optimiser.param_groups[0]["params"]
    assert all(mine is theirs for mine, theirs in zip(held, net.parameters(), strict=True))


def test_a_parameter_that_replaces_one_is_not_tracked_by_the_optimizer() -> None:
    """S34"""
    net = Net()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    net.fc.weight = nn.Parameter(torch.ones(1, 4))
    net(torch.ones(1, 4)).sum().backward()
    optimiser.step()
    assert net.fc.weight.tolist() == [[1, 1, 1, 1]]


def test_zero_grad_of_the_network_leaves_no_gradients() -> None:
    """S35"""
    net = Net()
    net(torch.ones(1, 4)).sum().backward()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_gradients_that_pile_up_take_no_more_memory() -> None:
    """S36: the claim that they exhaust it is false."""
    net, x = Net(), torch.ones(8, 4)
    held, sizes = [], []
    for turn in range(50):
        net(x).sum().backward()
        net.fc.weight.grad.sum().item()
        sizes.append(net.fc.weight.grad.numel() * net.fc.weight.grad.element_size())
        if turn in (2, 10, 49):  # to look through all objects takes a second
            tensors = [x for x in gc.get_objects() if issubclass(type(x), torch.Tensor)]
            held.append(sum(t.numel() * t.element_size() for t in tensors))
    assert set(sizes) == {16}
    assert len(held) == 3 and len(set(held)) == 1
