"""Rows S16 to S27: when the graph is made, what it looks like, what may be done to it, and when it is freed."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn
from tests.questions.graphs import assert_close, drawing, nodes_behind

IS_TORCH = torch.__name__ == "torch"
AS_PERCEPTRON = (
    "BinaryCrossEntropyBackward0",
    (
        "SigmoidBackward0",
        (
            "AddmmBackward0",
            "AccumulateGrad",
            ("ReluBackward0", ("AddmmBackward0", "AccumulateGrad", None, ("TBackward0", "AccumulateGrad"))),
            ("TBackward0", "AccumulateGrad"),
        ),
    ),
    None,
)


@pytest.fixture
def perceptron() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid())


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


def test_every_forward_pass_makes_a_new_graph_and_nothing_else_does(perceptron) -> None:
    """S16"""
    optimizer = torch.optim.SGD(perceptron.parameters(), lr=0.1)
    x = torch.randn(2, 3)
    first, second = perceptron(x).sum(), perceptron(x).sum()
    node = first.grad_fn
    assert node is not second.grad_fn
    optimizer.zero_grad()
    assert first.grad_fn is node
    first.backward()
    assert first.grad_fn is node
    optimizer.step()
    assert first.grad_fn is node


def test_the_graph_hangs_on_the_loss_and_reaches_every_parameter(perceptron) -> None:
    """S17, S29"""
    loss = nn.BCELoss()(perceptron(torch.randn(2, 3)), torch.ones(2, 1))
    assert drawing(loss.grad_fn) == AS_PERCEPTRON
    reached = [node.variable for node in nodes_behind(loss) if hasattr(node, "variable")]
    assert {id(p) for p in reached} == {id(p) for p in perceptron.parameters()}


def test_backward_needs_the_graph_and_not_the_modules() -> None:
    """S18"""
    net = nn.Linear(3, 1)
    weight, loss = net.weight, net(torch.ones(1, 3)).sum()
    del net
    loss.backward()
    assert weight.grad.tolist() == [[1, 1, 1]]


def test_zero_grad_leaves_the_graph() -> None:
    """S19: true of zero_grad."""
    w = torch.tensor(3.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    loss = w * w
    node = loss.grad_fn
    optimizer.zero_grad()
    assert loss.grad_fn is node
    loss.backward()
    assert w.grad.item() == 6


def loss_then_step() -> tuple[torch.Tensor, torch.Tensor]:
    w = torch.tensor(3.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    loss = w * w
    w.grad = torch.tensor(2.0)
    optimizer.step()
    assert w.item() == 2
    w.grad = None
    return w, loss


@pytest.mark.skipif(IS_TORCH, reason="torch raises here: its graph holds the parameter, not the value it had")
def test_a_step_between_forward_and_backward_leaves_the_gradient_of_the_forwards_values() -> None:
    """S19: false of torch's step, true of funcgrad's."""
    w, loss = loss_then_step()
    loss.backward()
    assert w.grad.item() == 2 * 3


def test_strict_raises_as_torch_does_for_a_step_between_forward_and_backward() -> None:
    """S19: what torch does."""
    if not IS_TORCH:
        torch.autograd.set_strict(True)
    try:
        _, loss = loss_then_step()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    finally:
        if not IS_TORCH:
            torch.autograd.set_strict(False)


def test_disjoint_branches_take_a_backward_each() -> None:
    """S20"""
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    first, second = a * a, b * b
    first.backward()
    second.backward()
    assert (a.grad.item(), b.grad.item()) == (4, 6)


def test_a_branch_frees_what_it_saved_as_soon_as_its_own_backward_is_done() -> None:
    """S20"""
    a = torch.tensor(2.0, requires_grad=True)
    first, second = Square.apply(a), Square.apply(a)
    total = first + second
    assert first.grad_fn.saved_tensors[0].item() == 2
    first.backward()
    with pytest.raises(RuntimeError, match="second time"):
        _ = first.grad_fn.saved_tensors
    assert second.grad_fn.saved_tensors[0].item() == 2
    assert total.item() == 8


def test_branches_with_a_shared_trunk_cannot_go_backward_one_after_the_other() -> None:
    """S20"""
    w = torch.tensor(3.0, requires_grad=True)
    trunk = w * w
    first, second = trunk * 2, trunk * 5
    first.backward()
    with pytest.raises(RuntimeError, match="second time"):
        second.backward()


def test_a_detached_trunk_gathers_its_heads_gradients_and_goes_backward_once() -> None:
    """S21, S22"""
    torch.manual_seed(0)
    trunk, heads, x = nn.Linear(3, 4), [nn.Linear(4, 1), nn.Linear(4, 2)], torch.randn(5, 3)
    hidden = trunk(x).tanh()
    cut = hidden.detach().requires_grad_()
    for head in heads:
        head(cut).pow(2).sum().backward()
    hidden.backward(cut.grad)
    in_pieces = trunk.weight.grad.clone()

    trunk.zero_grad()
    hidden = trunk(x).tanh()
    sum(head(hidden).pow(2).sum() for head in heads).backward()
    assert_close(in_pieces, trunk.weight.grad)


def test_only_parameters_that_contributed_get_a_gradient() -> None:
    """S23"""
    used, unused = nn.Linear(2, 2), nn.Linear(2, 2)
    used(torch.ones(1, 2)).sum().backward()
    assert used.weight.grad is not None
    assert unused.weight.grad is None
    assert unused.bias.grad is None


def test_a_linear_layers_gradient_is_the_error_times_its_input() -> None:
    """S24"""
    torch.manual_seed(0)
    net, x, error = nn.Linear(3, 2), torch.randn(5, 3), torch.randn(5, 2)
    net(x).backward(error)
    assert_close(net.weight.grad, (x.T @ error).T)
    assert_close(net.bias.grad, error.sum(0))


def test_a_function_with_its_own_backward_gives_the_same_gradient() -> None:
    """S24"""
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    (mine,) = torch.autograd.grad(Square.apply(x).sum(), x)
    (theirs,) = torch.autograd.grad((x * x).sum(), x)
    assert torch.equal(mine, theirs)


def test_the_input_of_cross_entropys_backward_graph_is_softmax_minus_one_hot() -> None:
    """S25"""
    torch.manual_seed(0)
    net, x, target = nn.Linear(3, 4), torch.randn(5, 3), torch.tensor([0, 1, 2, 3, 0])
    outputs = net(x)
    loss = nn.CrossEntropyLoss()(outputs, target)
    (error,) = torch.autograd.grad(loss, outputs, retain_graph=True)
    expected = (outputs.softmax(1) - nn.functional.one_hot(target, 4)) / 5
    assert_close(error, expected.detach())

    outputs.backward(error, retain_graph=True)
    through_error = net.weight.grad.clone()
    net.zero_grad()
    loss.backward()
    assert_close(through_error, net.weight.grad)


def test_backward_starts_from_1_or_from_the_gradient_it_is_given() -> None:
    """S26"""
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    (v * v).sum().backward(gradient=torch.tensor(3.0))
    assert v.grad.tolist() == [6, 12]


def test_a_vector_needs_a_gradient_of_its_own_shape_to_go_backward() -> None:
    """S26"""
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (v * v).backward()
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of"):
        (v * v).backward(torch.ones(3))


@pytest.mark.parametrize(("detaches", "expected"), [(False, [11, 17, 23, 29]), (True, [11, 11, 11, 11])])
def test_a_state_carried_over_without_detach_makes_every_graph_longer(detaches, expected) -> None:
    """S27: the usual cause when retain_graph is asked for and training slows to a halt."""
    cell, hidden = nn.RNNCell(3, 4), torch.zeros(2, 4)
    counts = []
    for _ in range(4):
        hidden = cell(torch.randn(2, 3), hidden.detach() if detaches else hidden)
        counts.append(len(nodes_behind(hidden.sum())))
    assert counts == expected


def test_a_state_carried_over_without_detach_is_why_retain_graph_is_asked_for() -> None:
    """S27"""
    cell, hidden = nn.RNNCell(3, 4), torch.zeros(2, 4)
    hidden = cell(torch.randn(2, 3), hidden)
    hidden.sum().backward()
    carried_over = cell(torch.randn(2, 3), hidden)
    with pytest.raises(RuntimeError, match="second time"):
        carried_over.sum().backward()
    cell(torch.randn(2, 3), hidden.detach()).sum().backward()
