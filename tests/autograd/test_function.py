"""What a backward of one's own, or a hook, answers must be a gradient of what it is for."""

from __future__ import annotations

import weakref
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
        (lambda g: g[:2], RuntimeError, "has changed the size of value$"),
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


class SavesANumber(torch.autograd.Function):
    """Keeps for backward what is no tensor."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x, 3)
        return x * 3


def test_only_tensors_are_saved_for_backward() -> None:
    with pytest.raises(TypeError, match=r"^save_for_backward can only save variables, but argument 1 is of type int$"):
        SavesANumber.apply(torch.ones(2, requires_grad=True))
    assert SavesANumber.apply(torch.ones(2)).tolist() == [3, 3]  # there is no backward, so nothing is saved


class WithDefault(torch.autograd.Function):
    """An element of x, the third if none is named."""

    @staticmethod
    def forward(x: Any, place: int = 2) -> Any:
        return x[place]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.place = inputs
        ctx.shape = x.shape

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        whole = grad.new_zeros(ctx.shape)
        whole[ctx.place] = grad
        return whole, None


@pytest.mark.parametrize(("call", "place"), [((), 2), ((1,), 1)])
def test_setup_context_is_given_defaults_too(call: tuple[int, ...], place: int) -> None:
    x = torch.ones(3, requires_grad=True)
    WithDefault.apply(x, *call).backward()
    assert x.grad.tolist() == [float(i == place) for i in range(3)]


class ByNumpy(torch.autograd.Function):
    """x ** 3 computed by numpy, and the array of x, which is no tensor."""

    @staticmethod
    def forward(x: Any) -> Any:
        array = x.cpu().numpy()
        return array, torch.tensor(array**3)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.array = output[0]

    @staticmethod
    def backward(ctx: Any, of_array: Any, grad: Any) -> Any:
        assert of_array is None
        return torch.tensor(3 * ctx.array**2) * grad


def test_results_that_are_no_tensors_have_a_place_among_the_gradients() -> None:
    x = torch.tensor([2.0], requires_grad=True)
    array, cube = ByNumpy.apply(x)
    (cube * 2).backward()
    assert array.tolist() == [2.0]
    assert x.grad.tolist() == [24.0]


def test_numpy_reads_what_requires_grad_where_no_history_is_kept() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert x.numpy().tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.numpy()


def test_the_node_of_a_call_is_written_as_torchs() -> None:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

    result = Same.apply(torch.ones(2, requires_grad=True))
    assert repr(result.grad_fn).startswith("<torch.autograd.function.SameBackward object at 0x")


def test_a_leaf_that_requires_grad_cannot_be_marked_dirty() -> None:
    class Doubled(torch.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
            return grads[0] * 2

    leaf = torch.ones(2, requires_grad=True)
    copied = leaf.clone()
    assert Doubled.apply(copied) is copied
    copied.sum().backward()
    assert leaf.grad is not None and leaf.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        Doubled.apply(leaf)


def test_the_graph_shows_an_edge_for_each_tensor_among_the_arguments() -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, plain: torch.Tensor, leaf: torch.Tensor, by: int) -> torch.Tensor:
            return plain * leaf * by

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            return None, grad, None

    leaf = torch.ones(2, requires_grad=True)
    nowhere, to_leaf = Scale.apply(torch.ones(2), leaf, 3).grad_fn.next_functions
    assert nowhere == (None, 0) and to_leaf[0].variable is leaf


def test_no_name_that_forward_sets_on_its_ctx_disturbs_the_pass() -> None:
    class Named(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.order = ctx.edges = ctx.hooks = ctx.pre_hooks = ctx.retained = ctx.function = ctx.saved = 5
            ctx.others, ctx.avals, ctx.release, ctx.pull, ctx.input_avals, ctx.result_avals = range(6)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            assert (ctx.order, ctx.saved, ctx.others, ctx.pull, ctx.function) == (5, 5, 0, 3, 5)
            return 2 * grad * ctx.saved_tensors[0]

    x = torch.tensor([3.0], requires_grad=True)
    y = Named.apply(x.exp().log())
    assert y.grad_fn.needs_input_grad == (True,) and not hasattr(y.grad_fn, "absent")
    y.sum().backward()
    assert torch.allclose(x.grad, torch.tensor([6.0]))


def test_a_ctx_does_not_outlive_its_graph() -> None:
    kept: list[Any] = []

    class Keeping(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            kept.append(weakref.ref(ctx))
            ctx.me = 1
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    y = Keeping.apply(torch.ones(1, requires_grad=True))
    assert kept[0]().me == 1 and kept[0]().next_functions == y.grad_fn.next_functions
    del y
    assert kept[0]() is None


def test_what_forward_returns_twice_is_one_tensor() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            doubled = x * 2
            return doubled, doubled

        @staticmethod
        def backward(ctx: Any, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            return one * 2 + other * 2

    x = torch.ones(2, requires_grad=True)
    first, second = Twice.apply(x)
    assert first is second
    (first + second).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [4.0, 4.0]


def test_backward_may_be_called_vjp_but_not_be_there_twice() -> None:
    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 3

        @staticmethod
        def vjp(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 3

    class Both(Triple):
        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad

    x = torch.ones(2, requires_grad=True)
    assert torch.autograd.grad(Triple.apply(x).sum(), x)[0].tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(x).sum().backward()


def test_what_is_marked_as_dirty_must_be_returned() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.mark_dirty(x)
            return x.mul_(2) * 1

    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned"):
        Doubled.apply(torch.ones(2, requires_grad=True) * 1)


def test_a_backward_that_reads_nothing_saved_can_be_passed_again() -> None:
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 3

    x = torch.ones(2, requires_grad=True)
    y = Kept.apply(x).sum()
    y.backward()
    y.backward()
    assert x.grad is not None and x.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (3, r"expected Variable or None \(got int\)"),
        (torch.ones(3), "Trying to set a forward gradient"),
    ],
)
def test_a_derivative_that_does_not_fit_its_result_is_refused(answer: Any, message: str) -> None:
    class Moved(torch.autograd.Function):
        @staticmethod
        def forward(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def jvp(ctx: Any, tangent: torch.Tensor) -> Any:
            return answer

    with pytest.raises(RuntimeError, match=message):
        torch.func.jvp(Moved.apply, (torch.ones(2),), (torch.ones(2),))


def test_one_rule_for_batches_is_enough() -> None:
    class Twice(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: torch.Tensor) -> Any:
            return x * 2, in_dims[0]

    with pytest.raises(RuntimeError, match="it has both generate_vmap_rule=True and an overridden vmap"):
        torch.vmap(Twice.apply)(torch.ones(2, 2))


def test_hooks_can_be_set_on_what_a_function_has_saved() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x, 3 * x * x)
            return x**3

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * ctx.saved_tensors[1]

    x = torch.tensor([2.0], requires_grad=True)
    y = Cube.apply(x)
    _, slope = y.grad_fn._raw_saved_tensors
    slope.register_hooks(lambda saved: saved * 10, lambda packed: packed)
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        slope.register_hooks(lambda saved: saved, lambda packed: packed)
    y.backward()
    assert x.grad.tolist() == [120.0]
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._raw_saved_tensors


_seen: list[Any] = []


class _Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        torch.autograd.Variable._execution_engine.queue_callback(lambda: _seen.append(_Same.leaf.grad.tolist()))
        return gradient * 2

    leaf = torch.ones(2, requires_grad=True)


def test_an_argument_that_is_returned_has_no_history_where_none_is_kept() -> None:
    with torch.no_grad():
        same = _Same.apply(_Same.leaf)
    assert not same.requires_grad and _Same.leaf.requires_grad and _Same.apply(_Same.leaf).requires_grad


def test_an_argument_that_is_returned_shares_its_storage_each_time() -> None:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return given

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(place * gradient for place, gradient in enumerate(gradients, 2))

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    first, second = Both.apply(y, y)
    assert first._is_view() and first._base is y and first.data_ptr() == y.data_ptr() == second.data_ptr()
    assert first is not second and (first.output_nr, second.output_nr) == (0, 1)
    (first + 10 * second).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [32.0, 32.0]


def test_callbacks_are_called_once_all_gradients_are_there() -> None:
    _seen.clear()
    _Same.leaf.grad = None
    (_Same.apply(_Same.leaf) + _Same.leaf).sum().backward()
    assert _seen == [[3.0, 3.0]]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        torch.autograd.Variable._execution_engine.queue_callback(print)


def test_kinds_of_gradients_are_looked_at_before_their_shapes() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            return gradient[:1], 3

    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^expected Variable or None \(got int\)$"):
        Product.apply(x, y).sum().backward()
