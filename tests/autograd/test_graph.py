"""torch.autograd.graph: saved tensors in another form, several gradients at once, and edges of the graph."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad.autograd import graph


class Square(torch.autograd.Function):
    """x * x, which saves x itself."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, None)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        x, nothing = ctx.saved_tensors
        assert nothing is None
        return 2 * x * grad


FUNCTIONS = (
    lambda x: (x * x).sum(),
    lambda x: Square.apply(x).sum(),
    lambda x: torch.linalg.norm(x.reshape(2, 1) @ x.reshape(1, 2)) ** 1.0,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=["rows", "a Function", "a decomposition"])
def test_backward_gets_what_unpack_gives(function: Any) -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    (wanted,) = torch.autograd.grad(function(x), x)
    packed: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> int:
        assert not torch.is_grad_enabled()
        packed.append(tensor.detach().clone())
        return len(packed) - 1

    with graph.saved_tensors_hooks(pack, lambda place: packed[place]):
        y = function(x)
    assert packed
    for turn in (1, 2):
        y.backward(retain_graph=turn == 1)
        assert torch.allclose(x.grad, wanted * turn)
    with graph.saved_tensors_hooks(lambda x: x, lambda x: x * 0), graph.saved_tensors_hooks(pack, lambda i: packed[i]):
        (gradient,) = torch.autograd.grad(function(x), x, create_graph=True)  # the inner pair counts
    assert torch.allclose(gradient, wanted)
    gradient.sum().backward()
    assert x.grad.abs().sum() > 2 * wanted.abs().sum()  # what was unpacked has its history


def test_numbers_changed_by_unpacking_reach_the_gradient_and_bad_hooks_are_told() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t * 10):
        (x * x).backward()
    assert x.grad.item() == 60.0
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 1):
        y = x * x
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
        y.backward()
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
    with graph.save_on_cpu(pin_memory=True):
        y = x.exp() * x
    (gradient,) = torch.autograd.grad(y, x)
    assert gradient.item() == pytest.approx(float(4 * torch.exp(torch.tensor(3.0))))


def test_a_loop_with_hooks_gives_the_same_steps() -> None:
    def losses(hooked: bool) -> list[float]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimizer, found = torch.optim.SGD(model.parameters(), lr=0.1), []
        for _ in range(3):
            with graph.saved_tensors_hooks(lambda t: t.bfloat16().float() if hooked else t, lambda t: t):
                loss = model(torch.ones(2, 3)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    plain, rounded = losses(False), losses(True)
    assert plain[0] == rounded[0] and plain[2] != rounded[2] and abs(plain[2] - rounded[2]) < 0.01


def test_one_hook_sees_all_gradients_or_the_first() -> None:
    a, b, c = (torch.tensor(float(i), requires_grad=True) for i in range(1, 4))
    seen: list[Any] = []
    handle = graph.register_multi_grad_hook((a, b, c), lambda grads: seen.append([g and g.item() for g in grads]))
    (a * b).backward()
    (a * b * c).sum().backward()
    torch.autograd.grad(a * b, a)
    assert seen == [[2.0, 1.0, None], [6.0, 3.0, 2.0], [2.0, None, None]]
    handle.remove()
    first: list[Any] = []
    with graph.register_multi_grad_hook((a, b), first.append, mode="any"):
        (a * b).backward()
        (a * b).backward()
    (a * b).backward()
    assert len(first) == 2 and len(seen) == 3


def test_an_edge_stands_for_a_tensor() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    middle = x * 3
    edge = graph.get_gradient_edge(middle)
    assert edge.node is middle.grad_fn and edge.output_nr == 0
    loss = middle**2
    assert torch.autograd.grad(loss, edge, retain_graph=True)[0].item() == 12.0
    loss.backward(inputs=[graph.get_gradient_edge(x)])
    assert x.grad.item() == 36.0
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(torch.ones(1))


def test_a_pack_hook_must_not_change_what_it_is_given() -> None:
    x = torch.ones(2, requires_grad=True)
    with (
        graph.saved_tensors_hooks(lambda x: x.add_(1), lambda x: x),
        pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"),
    ):
        _ = x**2
    assert x.tolist() == [1, 1]
