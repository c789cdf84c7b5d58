"""autograd.functional and forward_ad give torch's numbers and errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.autograd import functional_parts as parts
from tests.autograd import derivatives

RECORDED = json.loads((Path(__file__).parent / "derivatives.json").read_text())


@pytest.mark.parametrize("name", derivatives.CASES)
def test_derivatives_are_torchs(name: str) -> None:
    found, expected = derivatives.found(torch, name), RECORDED["found"][name]
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("name", derivatives.ERRORS)
def test_errors_are_torchs(name: str) -> None:
    assert derivatives.raised(torch, name) == RECORDED["raised"][name]


def test_a_number_that_matters_not_has_a_pull_back_of_zero() -> None:
    _, (unused, used) = torch.autograd.functional.vjp(lambda x, y: y.sum(), (torch.tensor(1.0), torch.ones(2)))
    assert unused.tolist() == 0
    assert used.tolist() == [1, 1]


def test_a_dual_tensor_is_an_ordinary_one_after_its_level() -> None:
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        moving = forward_ad.make_dual(torch.ones(2), torch.ones(2))
    assert (moving * 2).tolist() == [2.0, 2.0]
    assert forward_ad.unpack_dual(moving).tangent is None


def test_forward_over_reverse() -> None:
    forward_ad = torch.autograd.forward_ad
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    with forward_ad.dual_level():
        moving = forward_ad.make_dual(x, torch.ones(2))
        tangent = forward_ad.unpack_dual((moving**3).sum()).tangent
        assert tangent is not None
        (gradient,) = torch.autograd.grad(tangent, x)
    assert gradient.tolist() == [12.0, 18.0]


def test_a_backward_inside_a_dual_level_gives_gradients_that_move() -> None:
    forward_ad = torch.autograd.forward_ad
    x, w = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        moving = forward_ad.make_dual(x, torch.tensor(1.0))
        result = moving**3 * w
        assert result.requires_grad
        both = torch.autograd.grad(result, (x, w), retain_graph=True)
        assert [[n.item() for n in forward_ad.unpack_dual(g)] for g in both] == [[36.0, 36.0], [8.0, 12.0]]
        result.backward()
    assert (x.grad.item(), w.grad.item()) == (36.0, 8.0)


def test_the_parts_of_a_jacobian_are_there_for_libraries() -> None:
    pair = torch.ones(1, dtype=torch.float64), torch.ones(2)
    basis = parts._construct_standard_basis_for(pair, (1, 2))
    assert [(part.tolist(), part.dtype) for part in basis] == [
        ([[1.0], [0.0], [0.0]], torch.float64), ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], torch.float32),
    ]  # fmt: skip
    assert parts._as_tuple(pair)[0] and not parts._as_tuple(pair[0])[0]
    with pytest.raises(TypeError, match="The inputs given to f must be either a Tensor or a tuple of Tensors"):
        parts._as_tuple(3, "inputs", "f")
    found = parts._grad_postprocess((pair[1].clone().requires_grad_(), (pair[0],)), create_graph=False)
    assert not found[0].requires_grad and len(found[1]) == 1
    assert parts._tuple_postprocess(((pair[0],), (pair[1],)), (True, False)) == pair
    assert parts._tuple_postprocess((pair,), (False, True)) == pair
    assert parts._tuple_postprocess(pair, False) is pair[0]
