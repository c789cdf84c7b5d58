"""Hooks run in torch's order: a leaf's as soon as its gradient is whole. Orders as torch 2.13 has them on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import funcgrad as torch
from funcgrad import Tensor, explain, nn
from funcgrad.nn import functional as F


def test_a_bias_comes_before_its_weight_and_later_layers_before_earlier_ones() -> None:
    model, seen = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)), list[str]()
    for name, parameter in model.named_parameters():
        parameter.register_hook(lambda _, name=name: seen.append(name))
        parameter.register_post_accumulate_grad_hook(lambda _, name=name: seen.append("after " + name))
    for _ in range(2):  # the second pass is the first one's from memory
        seen.clear()
        model(torch.ones(3, 4)).sum().backward()
        assert seen == [
            "2.bias", "after 2.bias", "2.weight", "after 2.weight",
            "0.bias", "after 0.bias", "0.weight", "after 0.weight",
        ]  # fmt: skip


def test_hooks_on_modules_find_the_gradients_of_their_parameters() -> None:
    model = nn.Sequential(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2), nn.Flatten(), nn.Linear(12, 2))
    seen = list[str]()
    for name, parameter in model.named_parameters():
        parameter.register_hook(lambda _, name=name: seen.append(name))
    for name, module in model.named_children():
        module.register_full_backward_pre_hook(lambda _, __, name=name: seen.append("into " + name))
        module.register_full_backward_hook(lambda _, __, ___, name=name: seen.append("out of " + name))
    model(torch.randn(3, 1, 8, requires_grad=True)).sum().backward()
    assert seen == [
        "into 3", "3.bias", "3.weight", "out of 3", "into 2", "out of 2",
        "into 1", "1.weight", "1.bias", "out of 1", "into 0", "0.weight", "0.bias", "out of 0",
    ]  # fmt: skip


def test_a_hook_on_a_module_reads_the_gradient_of_its_weight() -> None:
    model, seen = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)), list[object]()
    for layer in model:
        nn.init.constant_(layer.weight, 2.0)
        layer.register_full_backward_hook(
            lambda module, _, __: seen.append([None if p.grad is None else p.grad.item() for p in model.parameters()])
        )
    model(torch.full((1, 1), 3.0, requires_grad=True)).sum().backward()
    assert seen == [[None, 6.0], [6.0, 6.0]]


def test_inputs_without_gradients_are_shown_zeros_to_the_hook_of_a_module() -> None:
    class Both(nn.Module):
        def forward(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
            return a + b

    module, seen = Both(), list[object]()
    module.register_full_backward_hook(lambda _, grads, __: seen.extend(g.tolist() for g in grads))
    module(torch.ones(2), torch.ones(2, requires_grad=True), torch.tensor([1])).sum().backward()
    assert seen == [[0.0, 0.0], [1.0, 1.0], [0]]


@pytest.mark.parametrize(
    ("function", "order"),
    [
        (lambda a, b, c: torch.cat([a, b, c]), "abc"),
        (lambda a, b, c: torch.stack([a, b, c, a * 2, b]), "cba"),
        (lambda a, b, c: a + b + c, "cab"),
        (lambda a, b, c: torch.dot(a, b) * c, "cab"),
        (lambda a, b, c: a.view(2, 4) @ b.view(4, 2) @ c.view(2, 4), "cba"),
        (lambda a, b, c: F.linear(a.view(2, 4), b.view(2, 4), c[:2]), "cba"),
        (lambda a, b, c: F.layer_norm(a, (8,), b, c), "abc"),
        (lambda a, b, c: F.mse_loss(a, b) + F.mse_loss(b, c), "cab"),
        (lambda a, b, c: torch.where(a > 0, b, c), "bc"),
    ],
)
def test_leaves_come_in_the_order_of_torchs_heap(function: Callable[..., Tensor], order: str) -> None:
    leaves, seen = {name: torch.ones(8, requires_grad=True) for name in "abc"}, list[str]()
    for name, leaf in leaves.items():
        leaf.register_hook(lambda _, name=name: seen.append(name))
    function(**leaves).sum().backward()
    assert "".join(seen) == order


@pytest.mark.parametrize(
    ("count", "order"), [(2, "01"), (3, "012"), (4, "0213"), (5, "02413"), (6, "025413"), (9, "026857413")]
)
def test_leaves_that_are_ready_at_once_come_as_a_heap_gives_them(count: int, order: str) -> None:
    leaves, seen = [torch.ones(2, requires_grad=True) for _ in range(count)], list[str]()
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda _, i=i: seen.append(str(i)))
    torch.cat(leaves).sum().backward()
    assert "".join(seen) == order


def test_hooks_on_leaves_alone_leave_a_step_one_program() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(-1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        with explain.counted() as cost:
            optimizer.zero_grad()
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
        if step > 2:
            assert cost.compiles == 0 and cost.runs == 1
