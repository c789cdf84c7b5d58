"""Numbers that change from turn to turn reach the backward pass: where x[i] sends its gradient, what a factor is."""

from __future__ import annotations

import funcgrad as torch


def test_the_gradient_of_an_index_goes_where_the_index_was() -> None:
    for i in (2, 2, 3, 3, 1, 4, 0, -1):
        x = torch.arange(5.0).requires_grad_()
        (x[i] * 2).backward()
        assert x.grad is not None
        assert x.grad.tolist() == [2.0 * (place == i % 5) for place in range(5)]


def test_the_gradient_of_a_product_is_the_present_factor() -> None:
    weight = torch.ones(2, requires_grad=True)
    for factor in (0.5, 0.5, 0.25, 3.0, 0.125):
        weight.grad = None
        (weight * factor).sum().backward()
        assert weight.grad is not None
        assert weight.grad.tolist() == [factor, factor]


def test_the_gradient_of_a_slice_goes_where_the_slice_began() -> None:
    for start in (0, 1, 2, 1):
        x = torch.zeros(4, requires_grad=True)
        x[start : start + 2].sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [float(start <= place < start + 2) for place in range(4)]


def test_true_as_an_index_is_the_whole_tensor_and_false_nothing() -> None:
    x = torch.zeros(3)
    x[False] = torch.tensor(-1)
    assert x.tolist() == [0, 0, 0]
    x[True] = torch.tensor([1, 2, 3])
    assert x.tolist() == [1, 2, 3]
