"""Backward passes that were seen before are looked up, and do all that walking through the graph does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import funcgrad as torch
from funcgrad._tape.engine import Pass

TURNS = 4


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Gather a number for each pass that is walked."""
    walked, walk = [], Pass._walk

    def counted(self: Pass, roots: Any) -> None:
        walked.append(len(roots))
        walk(self, roots)

    monkeypatch.setattr(Pass, "_walk", counted)
    yield walked


def parts() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return two leaves, what each becomes, and a loss of both."""
    x, w = torch.tensor([0.5, 1.0], requires_grad=True), torch.tensor([2.0, 3.0], requires_grad=True)
    hidden, gate = torch.exp(x), torch.sin(w)
    return x, w, hidden, gate, (hidden * gate).sum()


def of_leaves() -> Any:
    x, w, *_, loss = parts()
    return torch.autograd.grad(loss, (x, w))


def of_one_leaf() -> Any:
    _, w, *_, loss = parts()
    return torch.autograd.grad(loss, w)


def of_what_lies_between() -> Any:
    x, _, hidden, gate, loss = parts()
    return torch.autograd.grad(loss, (hidden, x, gate))


def of_the_loss_itself() -> Any:
    *_, loss = parts()
    return torch.autograd.grad(loss, loss)


def of_what_is_unused() -> Any:
    x, *_, loss = parts()
    return torch.autograd.grad(loss, (torch.ones(2, requires_grad=True), x), allow_unused=True)[1:]


def into_some_leaves() -> Any:
    x, w, *_, loss = parts()
    loss.backward(inputs=[w])
    assert x.grad is None
    return (w.grad,)


@pytest.mark.parametrize(
    "gradients",
    [of_leaves, of_one_leaf, of_what_lies_between, of_the_loss_itself, of_what_is_unused, into_some_leaves],
)
def test_a_pass_for_some_gradients_is_walked_once_at_most(gradients: Callable[[], Any], walks: list[int]) -> None:
    first = [found.tolist() for found in gradients()]
    for _ in range(TURNS):
        assert [found.tolist() for found in gradients()] == first
    assert len(walks) <= 1


def test_passes_for_other_gradients_of_the_same_graph_are_others(walks: list[int]) -> None:
    for _ in range(TURNS):
        x, w, *_, loss = parts()
        (by_x,) = torch.autograd.grad(loss, x, retain_graph=True)
        (by_w,) = torch.autograd.grad(loss, w)
        assert torch.allclose(by_x, torch.exp(x) * torch.sin(w))
        assert torch.allclose(by_w, torch.exp(x) * torch.cos(w))
    assert len(walks) <= 2


def test_a_pass_for_no_gradient_is_not_one_for_all() -> None:
    for _ in range(TURNS):
        x, *_, loss = parts()
        assert torch.autograd.grad(loss, torch.ones(2, requires_grad=True), allow_unused=True) == (None,)
        assert loss.item() > 0  # the next pass begins at the same place of a program
        x, *_, loss = parts()
        loss.backward()
        assert x.grad is not None
        assert loss.item() > 0


def test_a_looked_up_pass_frees_what_it_passed_and_no_more() -> None:
    for _ in range(TURNS):
        x, w, _, gate, loss = parts()
        torch.autograd.grad(loss, x)
        (slope,) = torch.autograd.grad(gate.sum(), w)
        assert torch.allclose(slope, torch.cos(w))
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            torch.autograd.grad(loss, w)


def test_a_looked_up_pass_keeps_the_graph_if_asked_to() -> None:
    for _ in range(TURNS):
        x, w, *_, loss = parts()
        once, again = torch.autograd.grad(loss, x, retain_graph=True), torch.autograd.grad(loss, (x, w))
        assert torch.equal(once[0], again[0])


def test_a_hook_on_a_leaf_sees_what_a_looked_up_pass_found() -> None:
    seen = []
    for _ in range(TURNS):
        x, *_, loss = parts()
        x.register_hook(lambda gradient: seen.append(gradient.tolist()) or gradient * 2)
        (found,) = torch.autograd.grad(loss, x)
        assert found.tolist() == [2 * number for number in seen[-1]]
    assert len(seen) == TURNS
