"""Rows S51 to S55: printing, errors and traps that come soon after the first questions."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda v: v * 2, "MulBackward0"),
        (lambda v: v.sum(), "SumBackward0"),
        (lambda v: v.relu(), "ReluBackward0"),
        (lambda v: v.dot(v), "DotBackward0"),
        (lambda v: v[0], "SelectBackward0"),
    ],
)
def test_a_result_is_printed_with_the_name_of_its_node(function, name) -> None:
    """S51"""
    result = function(torch.tensor([1.0, 2.0], requires_grad=True))
    assert repr(result).endswith(f", grad_fn=<{name}>)")


def test_tensors_are_printed_as_torch_prints_them() -> None:
    """S51"""
    assert repr(torch.tensor([1, 2])) == "tensor([1, 2])"
    assert repr(torch.tensor([True])) == "tensor([True])"
    assert repr(torch.tensor(1e-8)) == "tensor(1.0000e-08)"
    assert repr(torch.tensor([0.5], dtype=torch.float64)) == "tensor([0.5000], dtype=torch.float64)"


def test_a_leaf_that_requires_grad_cannot_be_changed_in_place() -> None:
    """S52"""
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        w += 1
    with torch.no_grad():
        w += 1
    assert w.tolist() == [2, 2]


def test_what_a_node_saved_cannot_be_read_after_backward() -> None:
    """S53"""
    w = torch.tensor(3.0, requires_grad=True)
    y = w * w
    assert y.grad_fn._saved_self.item() == 3
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn._saved_self


def test_an_optimizer_prints_its_parameter_groups() -> None:
    """S54"""
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD([{"params": [net.weight]}, {"params": [net.bias], "lr": 0.5}], lr=0.1, momentum=0.9)
    lines = repr(optimizer).splitlines()
    assert lines[0] == "SGD ("
    assert lines[-1] == ")"
    assert lines[1] == "Parameter Group 0"
    second = lines.index("Parameter Group 1")
    assert lines[second - 1] == ""
    assert {"    lr: 0.1", "    momentum: 0.9", "    weight_decay: 0"} <= set(lines[2:second])
    assert {"    lr: 0.5", "    momentum: 0.9"} <= set(lines[second:])
    names = [line.split(":")[0] for line in lines[2 : second - 1]]
    assert names == sorted(names)


def test_going_backward_twice_does_not_pile_up_what_flows_between_the_ends() -> None:
    """S55: an engine that keeps a gradient in every node, as micrograd does, says 9."""
    w = torch.tensor(1.0, requires_grad=True)
    loss = (w * 3).relu()
    loss.backward(retain_graph=True)
    loss.backward()
    assert w.grad.item() == 6
