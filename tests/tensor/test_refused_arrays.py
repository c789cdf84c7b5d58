"""What numpy's arrays, and other things that are no tensors, may stand for; torch's words where they may not."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn

F = nn.functional


REFUSED: dict[str, Callable[[Any], Any]] = {
    "exp(): argument 'input' (position 1)": lambda a: torch.exp(a),
    "add(): argument 'other' (position 2)": lambda a: torch.add(torch.ones(2), a),
    "add(): argument 'other' (position 1)": lambda a: torch.ones(2).add(a),
    "mul_(): argument 'other' (position 1)": lambda a: torch.ones(2).mul_(a),
    "copy_(): argument 'other' (position 1)": lambda a: torch.ones(2).copy_(a),
    "view_as(): argument 'other' (position 1)": lambda a: torch.ones(2).view_as(a),
    "relu(): argument 'input' (position 1)": lambda a: nn.ReLU()(a),
    "linear(): argument 'input' (position 1)": lambda a: nn.Linear(2, 2)(a),
    "dropout(): argument 'input' (position 1)": lambda a: F.dropout(a),
    "embedding(): argument 'indices' (position 2)": lambda a: nn.Embedding(2, 2)(a),
    "cross_entropy_loss(): argument 'target' (position 2)": lambda a: F.cross_entropy(torch.ones(2, 2), a),
}


@pytest.mark.parametrize("argument", REFUSED)
def test_functions_take_no_array_for_a_tensor(argument: str) -> None:
    with pytest.raises(TypeError) as caught:
        REFUSED[argument](np.ones(2))
    assert str(caught.value) == f"{argument} must be Tensor, not numpy.ndarray"


def test_no_array_is_joined_to_tensors() -> None:
    with pytest.raises(TypeError, match=r"expected Tensor as element 1 in argument 0, but got numpy\.ndarray"):
        torch.cat([torch.ones(2), np.ones(2)])  # type: ignore[list-item]  # the mistake


OPERATORS = (operator.add, operator.sub, operator.mul, operator.matmul, operator.pow, operator.lt)


@pytest.mark.parametrize("apply", OPERATORS)
def test_an_array_on_the_left_of_a_tensor_is_refused(apply: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError):
        apply(np.ones(2), torch.ones(2))


def test_an_array_on_the_right_makes_the_tensor_that_numpy_makes() -> None:
    assert (torch.ones(2) + np.array([1.0, 2.0])).dtype is torch.float64
    assert (torch.ones(2, 2) @ np.ones((2, 2), np.float32)).tolist() == [[2, 2], [2, 2]]
    quotient = torch.tensor([1, 2]) / np.array([2, 2], np.int32)
    assert quotient.dtype is torch.float64
    assert quotient.tolist() == [0.5, 1]
    assert (np.array([1.0, 2.0]) / torch.tensor([2.0, 4.0])).tolist() == [0.5, 0.5]
    x = torch.ones(2)
    x += np.array([1.0, 2.0])
    assert x.dtype is torch.float64


def test_an_array_and_a_tensor_that_requires_grad_do_not_meet() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x * np.ones(2)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        np.ones(2) / x


def test_a_tensor_equals_an_array_elementwise_but_is_not_compared_otherwise() -> None:
    assert (torch.ones(2) == np.array([1.0, 2.0])).tolist() == [True, False]
    assert (torch.ones(2) == np.array(["a", "b"])) is False
    assert (torch.ones(2) == [1, 1]) is False
    with pytest.raises(TypeError, match="not supported between instances"):
        torch.ones(2) < np.ones(2)  # noqa: B015 - it raises


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1.0, 2.0], "list"), ((1.0, 2.0), "tuple"), (np.ones(2), "numpy.ndarray"), (np.float32(1), "numpy.float32"),
        (np.bool_(True), "numpy.bool"), (Decimal(1), "decimal.Decimal"), (None, "NoneType"),
        (collections.OrderedDict(), "collections.OrderedDict"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("index", [0, slice(0, 1), torch.tensor([0]), torch.tensor([True, False, True])])
def test_what_is_no_tensor_or_number_is_not_assigned(index: Any, value: object, kind: str) -> None:
    with pytest.raises(TypeError) as caught:
        torch.zeros(3, 2)[index] = value
    assert str(caught.value) == f"can't assign a {kind} to a torch.FloatTensor"


def test_whole_numbers_and_doubles_of_numpy_are_assigned() -> None:
    x = torch.zeros(3)
    x[0], x[1], x[torch.tensor([2])] = np.int8(1), np.float64(2.5), np.uint8(3)
    assert x.tolist() == [1, 2.5, 3]
