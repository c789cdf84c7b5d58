"""Calls that have no derivative: some refuse to be passed, comparisons that are written in place give zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch


def _derived() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    return x, x * 1


@pytest.mark.parametrize(
    ("write", "node"),
    [
        (lambda z: z.eq_(torch.tensor([1.5, 1.0])), "EqBackward1"),
        (lambda z: z.le_(1.0), "LeBackward0"),
        (lambda z: z.gt_(1.0), "GtBackward0"),
        (lambda z: z.ne_(torch.ones(2)), "NeBackward1"),
    ],
)
def test_what_is_compared_in_place_has_a_gradient_of_zeros(write: Callable[[Any], Any], node: str) -> None:
    x, z = _derived()
    write(z)
    assert z.grad_fn.name() == node
    z.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda z: z // 2, "floor_divide"),
        (lambda z: torch.heaviside(z, z), "heaviside"),
        (lambda z: z.floor_divide_(2), "floor_divide_"),
        (lambda z: z.heaviside_(torch.ones(2)), "heaviside_"),
    ],
)
def test_a_derivative_that_torch_lacks_is_refused_in_the_backward_pass(call: Callable[[Any], Any], name: str) -> None:
    x, z = _derived()
    result = call(z)
    assert "grad_fn=<NotImplemented>" in str(result)
    with pytest.raises(RuntimeError, match=f"^derivative for aten::{name} is not implemented$"):
        result.sum().backward()
    assert x.grad is None and not call(_derived()[1].detach()).requires_grad


@pytest.mark.parametrize(
    ("call", "name", "node"),
    [
        (torch.unique, "_unique2", "Unique2Backward0"),
        (lambda z: torch.unique(z, return_counts=True)[0], "_unique2", "Unique2Backward0"),
        (lambda z: torch.unique(z, dim=0), "unique_dim", "UniqueDimBackward0"),
        (torch.unique_consecutive, "unique_consecutive", "UniqueConsecutiveBackward0"),
    ],
)
def test_what_is_found_among_values_refuses_to_be_differentiated(
    call: Callable[[Any], Any], name: str, node: str
) -> None:
    _, z = _derived()
    found = call(z)
    assert found.grad_fn.name() == node and found.grad_fn.next_functions == ((z.grad_fn, 0),)
    with pytest.raises(NotImplementedError, match=f"^the derivative for '{name}' is not implemented.$"):
        found.sum().backward()
    assert not call(z.detach()).requires_grad


def test_a_part_that_is_compared_in_place_has_no_gradient() -> None:
    x, z = _derived()
    z[0].eq_(1.5)
    z.sum().backward()
    assert x.grad is not None and (z.tolist(), x.grad.tolist()) == ([1.0, 2.5], [0.0, 1.0])


@pytest.mark.parametrize("name", ["apply_", "map_"])
def test_what_python_computes_is_refused_where_a_gradient_is_wanted(name: str) -> None:
    _, z = _derived()
    given = (lambda v: v,) if name == "apply_" else (torch.ones(2), lambda a, b: a)
    with pytest.raises(RuntimeError, match=f"Can't call {name}\\(\\) on Variable that requires grad"):
        getattr(z, name)(*given)
    assert getattr(z.detach(), name)(*given).shape == (2,)


def test_logit_has_no_gradient_outside_of_its_range() -> None:
    x = torch.tensor([1.5, -0.5, 0.3], requires_grad=True)
    x.logit().sum().backward()
    assert x.grad is not None and x.grad.isnan().tolist() == [True, True, False]
