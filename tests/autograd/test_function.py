"""What a backward of one's own, or a hook, answers must be a gradient of what it is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch


def pulled(answer: Callable[[], Any], *shapes: tuple[int, ...]) -> list[Any]:
    """Return the gradients that tensors of these shapes get from a Function whose backward answers so."""

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, one: torch.Tensor, number: int, other: torch.Tensor) -> torch.Tensor:
            return one.sum() * other.sum() * number

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return answer()

    one, other = (torch.ones(shape, requires_grad=True) for shape in shapes)
    Product.apply(one, 3, other).backward()
    return [one.grad, other.grad]


def test_a_gradient_that_broadcasting_made_larger_is_summed() -> None:
    leading = pulled(lambda: (torch.ones(5, 3), None, torch.ones(4, 2, 2)), (3,), (2, 2))
    assert [g.tolist() for g in leading] == [[5.0] * 3, [[4.0, 4.0]] * 2]
    within = pulled(lambda: (torch.ones(3), None, torch.ones(2, 2)), (1,), (2, 1))
    assert [g.tolist() for g in within] == [[3.0], [[2.0], [2.0]]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_a_gradient_comes_in_the_dtype_of_the_input(dtype: torch.dtype) -> None:
    one, other = pulled(lambda: (torch.ones(3, dtype=dtype), None, None), (3,), (2, 2))
    assert (one.dtype, one.tolist(), other) == (torch.float32, [1.0] * 3, None)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: (torch.ones(4), None, None), r"invalid gradient at index 0 - got \[4\] but expected shape .* \[3\]"),
        (lambda: (None, None, torch.ones(3)), r"invalid gradient at index 1 - got \[3\] but expected .* \[2, 2\]"),
        (lambda: (torch.ones(()), None, None), r"invalid gradient at index 0 - got \[\]"),
        (lambda: (torch.ones(3) * 1j, None, None), "expected a real gradient"),
        (lambda: (1.0, None, None), r"expected Variable or None \(got float\)"),
        (lambda: (None, torch.ones(1), None), "different than None at position 2"),
        (lambda: (torch.ones(3),), r"incorrect number of gradients \(expected 3, got 1\)"),
    ],
)  # fmt: skip
def test_what_is_no_gradient_of_the_input_is_refused(answer: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        pulled(answer, (3,), (2, 2))


@pytest.mark.parametrize("scale", [None, 2])
@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda g: g[:2], RuntimeError, "has changed the size of value"),
        (lambda g: g.double(), RuntimeError, "has changed the type of value"),
        (lambda g: 3, TypeError, "expected Variable, but hook returned 'int'"),
    ],
)
def test_a_hook_answers_with_a_gradient_of_its_tensor(
    scale: int | None, hook: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    leaf = torch.ones(3, requires_grad=True)
    hooked = leaf if scale is None else leaf * scale
    hooked.register_hook(hook)
    with pytest.raises(error, match=message):
        hooked.sum().backward()
