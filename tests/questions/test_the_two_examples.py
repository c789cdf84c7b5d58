"""Rows S37 to S41: gradients that are None, and what tensors look like when they are printed."""

from __future__ import annotations

import warnings

import pytest

import funcgrad as torch

FIRST = """\
x: tensor(2.)
w: tensor(3., requires_grad=True)
b: tensor(1., requires_grad=True)
y: tensor(7., grad_fn=<AddBackward0>)
x.grad: None
w.grad: None
b.grad: None
"""
SECOND = FIRST.replace("w.grad: None", "w.grad: tensor(2.)").replace("b.grad: None", "b.grad: tensor(1.)")


def example(goes_backward: bool) -> None:
    x = torch.tensor(2.0, requires_grad=False)
    w = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor(1.0, requires_grad=True)
    print("x:", x)
    print("w:", w)
    print("b:", b)
    y = w * x + b
    print("y:", y)
    if goes_backward:
        y.backward()
    print("x.grad:", x.grad)
    print("w.grad:", w.grad)
    print("b.grad:", b.grad)


def test_without_backward_every_grad_is_none() -> None:
    """S37"""
    w = torch.tensor(3.0, requires_grad=True)
    _ = w * 2
    assert w.grad is None


def test_the_first_example_prints_what_it_always_printed(capsys) -> None:
    """S38"""
    example(goes_backward=False)
    assert capsys.readouterr().out == FIRST


def test_the_second_example_prints_what_it_always_printed(capsys) -> None:
    """S39"""
    example(goes_backward=True)
    assert capsys.readouterr().out == SECOND


def test_the_grad_of_a_result_is_none_with_a_warning() -> None:
    """S40"""
    w = torch.tensor(3.0, requires_grad=True)
    y = w * 2
    (y * y).backward()
    with pytest.warns(UserWarning, match=r"The \.grad attribute of a Tensor that is not a leaf"):
        assert y.grad is None


def test_retain_grad_fills_the_grad_of_a_result_without_a_warning() -> None:
    """S40"""
    w = torch.tensor(3.0, requires_grad=True)
    y = w * 2
    y.retain_grad()
    (y * y).backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad.item() == 12


def test_what_needs_no_gradient_cannot_go_backward() -> None:
    """S41"""
    message = "element 0 of tensors does not require grad and does not have a grad_fn"
    with pytest.raises(RuntimeError, match=message):
        torch.tensor(2.0).backward()
