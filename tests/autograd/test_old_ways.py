"""What scripts of PyTorch's first years write: Variable, saved_variables, Functions that are called."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.autograd import Variable


def test_a_variable_is_a_leaf_that_shares_memory_and_has_no_history() -> None:
    x = torch.ones(2, requires_grad=True)
    made = Variable(x * 2)
    (made * x).sum().backward()
    assert x.grad is not None
    assert (made.requires_grad, made.grad_fn, x.grad.tolist()) == (False, None, [2.0, 2.0])
    parameter = nn.Parameter(torch.ones(2))
    again = Variable(parameter, requires_grad=True)
    (again * 3).sum().backward()
    assert (type(again), again.grad.tolist(), parameter.grad) == (torch.Tensor, [3.0, 3.0], None)
    data = torch.ones(2)
    Variable(data, True).data.add_(1)
    assert (data.tolist(), data.requires_grad) == ([2.0, 2.0], False)


def test_a_variable_may_be_empty_but_holds_nothing_else_than_a_tensor() -> None:
    assert (Variable().shape, Variable(requires_grad=True).requires_grad) == ((0,), True)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1, 2])
    with pytest.warns(UserWarning, match="volatile was removed"):
        Variable(torch.ones(2), volatile=True)


def test_saved_variables_is_the_old_name_of_saved_tensors() -> None:
    class Sign(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x.sign()

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> torch.Tensor:
            (x,) = ctx.saved_variables
            return torch.where(x.abs() > 1, 0, grads[0])

    x = torch.tensor([0.5, -2.0], requires_grad=True)
    with pytest.warns(DeprecationWarning, match="saved_variables"):
        Sign.apply(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 0.0]
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Sign()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        instance(x)


def test_the_old_constructor_gives_a_view_through_which_gradients_go() -> None:
    for kind in (torch.Tensor, torch.FloatTensor):
        x = torch.ones(2, requires_grad=True)
        (kind(x * 3) * 2).sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [6.0, 6.0]
        data = torch.ones(2)
        kind(data).add_(1)
        assert data.tolist() == [2.0, 2.0]


def test_a_module_fills_the_gradients_that_are_there_with_zeros() -> None:
    model = nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()
    seen = model.weight.grad
    model.zero_grad(set_to_none=False)
    assert model.weight.grad is seen
    assert seen is not None
    assert (seen.tolist(), seen.requires_grad) == ([[0.0, 0.0]], False)
