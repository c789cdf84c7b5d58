"""autograd.Functions inside functions that are transformed: their own backward, jvp and vmap count, at every level."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad import func, nn


class Cube(torch.autograd.Function):
    """x -> x**3 by numpy, with everything written by hand."""

    @staticmethod
    def forward(x: Any) -> Any:
        return torch.from_numpy(x.numpy() ** 3)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2

    @staticmethod
    def jvp(ctx: Any, moved: Any) -> Any:
        (x,) = ctx.saved_tensors
        return moved * 3 * x**2

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], x: Any) -> Any:
        assert info.batch_size == x.shape[in_dims[0]]
        return Cube.apply(x), in_dims[0]


class Scaled(torch.autograd.Function):
    """x * y, whose backward says ten times as much."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, y: Any, power: int) -> Any:
        return x * y**power

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[:2])
        ctx.save_for_forward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, y = ctx.saved_tensors
        return 10 * grad * y, 10 * grad * x, None

    @staticmethod
    def jvp(ctx: Any, of_x: Any, of_y: Any, _: None) -> Any:
        x, y = ctx.saved_tensors
        return 10 * (of_x * y + of_y * x)


def summed(x: Any) -> Any:
    return Cube.apply(x).sum()


X = torch.tensor([1.0, 2.0])


def test_gradients_of_a_transformed_function_are_the_functions_own() -> None:
    assert func.grad(summed)(X).tolist() == [3.0, 12.0]
    assert func.grad(lambda x: func.grad(summed)(x).sum())(X).tolist() == [6.0, 12.0]
    assert func.jacrev(Cube.apply)(X).tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert func.hessian(lambda x: summed(x))(X).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_tangents_of_a_gradient_go_through_a_convolution_whose_backward_is_written_by_hand() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(1, 2, 4, 4), torch.randn(2, 1, 3, 3)

    def loss(x: Any) -> Any:
        return nn.functional.conv2d(x, weight, groups=2).pow(3).sum()

    twice = func.jacrev(func.jacrev(loss))(x)
    torch.testing.assert_close(func.hessian(loss)(x), twice)
    along = func.jvp(func.grad(loss), (x,), (x,))[1]
    torch.testing.assert_close(along, torch.einsum("abcdefgh,efgh->abcd", twice, x))


def test_gradients_reach_what_the_function_closes_over() -> None:
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    func.grad(lambda x: Scaled.apply(x, weight, 1).sum())(X).sum().backward()
    assert weight.grad.tolist() == [10.0, 10.0]


def test_derivatives_in_a_direction_are_the_functions_own() -> None:
    value, moved = func.jvp(Cube.apply, (X,), (torch.ones(2),))
    assert (value.tolist(), moved.tolist()) == ([1.0, 8.0], [3.0, 12.0])
    value, moved = func.jvp(lambda x: Scaled.apply(x, X, 1), (X,), (torch.ones(2),))
    assert moved.tolist() == [10.0, 20.0]


def test_a_batch_goes_by_the_functions_own_rule() -> None:
    batch = torch.stack([X, 2 * X], 1)
    assert func.vmap(Cube.apply, 1, 1)(batch).tolist() == [[1.0, 8.0], [8.0, 64.0]]
    assert func.vmap(func.grad(summed), 1)(batch).tolist() == [[3.0, 12.0], [12.0, 48.0]]
    assert func.grad(lambda x: func.vmap(summed, 1)(x).sum())(batch).tolist() == [[3.0, 12.0], [12.0, 48.0]]


def test_a_batch_goes_by_a_made_rule_at_every_level() -> None:
    batch = torch.stack([X, 2 * X])
    mapped = func.vmap(lambda x, y: Scaled.apply(x, y, 1), (0, None))
    assert mapped(batch, X).tolist() == [[1.0, 4.0], [2.0, 8.0]]
    of_x, of_y = func.grad(lambda x, y: mapped(x, y).sum(), (0, 1))(batch, X)
    assert (of_x.tolist(), of_y.tolist()) == ([[10.0, 20.0], [10.0, 20.0]], [30.0, 60.0])
    inner = func.vmap(func.grad(lambda x, y: Scaled.apply(x, y, 1).sum()), (0, None))
    assert inner(batch, X).tolist() == [[10.0, 20.0], [10.0, 20.0]]
    assert func.jvp(lambda x: mapped(x, X), (batch,), (torch.ones(2, 2),))[1].tolist() == [[10.0, 20.0], [10.0, 20.0]]
    twice = func.vmap(func.vmap(lambda x, y: Scaled.apply(x, y, 1)))
    assert func.grad(lambda x: twice(x, batch).sum())(batch).tolist() == [[10.0, 20.0], [20.0, 40.0]]


def test_what_cannot_be_transformed_is_refused() -> None:
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    class Bare(Old):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.factor = 2

    with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
        func.grad(lambda x: Old.apply(x).sum())(X)
    with pytest.raises(RuntimeError, match="tried to vmap over Bare"):
        func.vmap(Bare.apply)(X)
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        func.jvp(Bare.apply, (X,), (X,))


def test_an_operator_of_ones_own_is_transformed_too() -> None:
    @torch.library.custom_op("func_tests::square", mutates_args=())
    def square(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.numpy() ** 2)

    square.register_autograd(
        lambda ctx, grad: grad * 2 * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    assert func.grad(lambda x: square(x).sum())(X).tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="use register_vmap"):
        func.vmap(square)(X)
    torch.library.register_vmap(square, lambda info, in_dims, x: (square(x), in_dims[0]))
    assert func.vmap(square)(X).tolist() == [1.0, 4.0]
    assert func.vmap(func.grad(lambda x: square(x).sum()))(torch.stack([X, X])).tolist() == [[2.0, 4.0]] * 2


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_checkpoint_in_a_transformed_function_keeps_all(use_reentrant: bool) -> None:
    def cubes(x: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(lambda y: (y**3).sum(), x, use_reentrant=use_reentrant)

    batch = torch.stack([X, 2 * X])
    assert func.grad(cubes)(X).tolist() == [3.0, 12.0]
    assert func.grad(lambda x: func.vmap(cubes)(x).sum())(batch).tolist() == [[3.0, 12.0], [12.0, 48.0]]


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad])
def test_a_pull_back_is_differentiated_whether_history_is_kept_outside_or_not(mode: Any) -> None:
    x, u = torch.tensor([1.0, 2.0]), torch.ones(2)
    with mode():
        _, pull = func.vjp(lambda x: x**3, x)
        _, pull_again = func.vjp(lambda u: pull(u)[0], u)
        assert pull_again(u)[0].tolist() == [3, 12]
        assert func.grad(lambda u: pull(u)[0].sum())(u).tolist() == [3, 12]
        assert func.jvp(lambda u: pull(u)[0], (u,), (u,))[1].tolist() == [3, 12]
    with torch.no_grad():
        assert not pull(u.requires_grad_())[0].requires_grad


def test_a_tangent_that_is_not_given_is_none_where_none_is_made() -> None:
    told = []

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.save_for_forward(*inputs)
            ctx.set_materialize_grads(False)

        @staticmethod
        def jvp(ctx: Any, of_x: Any, of_y: Any) -> Any:
            told.append(of_y)
            return of_x * ctx.saved_tensors[1]

    _, moved = torch.func.jvp(lambda x: Product.apply(x, torch.full((2,), 3.0)), (torch.ones(2),), (torch.ones(2),))
    assert moved.tolist() == [3.0, 3.0] and told == [None]
