"""The graph: torch's names and chains, hooks, freeing, double backward, gradients of what was changed in place."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import autograd, nn


def names_of(node: object) -> list[object]:
    """Return the graph below a node as nested lists of names."""
    return [node.name(), *[names_of(n) for n, _ in node.next_functions if n is not None]]  # type: ignore[attr-defined]


LEAF = ["torch::autograd::AccumulateGrad"]


def test_the_chain_of_an_mlp_is_torchs() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1), nn.Sigmoid())
    loss = nn.BCELoss()(model(torch.rand(5, 4)), torch.ones(5, 1))
    assert names_of(loss.grad_fn) == [
        "BinaryCrossEntropyBackward0",
        ["SigmoidBackward0",
         ["AddmmBackward0", LEAF,
          ["ReluBackward0", ["AddmmBackward0", LEAF, ["TBackward0", LEAF]]],
          ["TBackward0", LEAF]]],
    ]  # fmt: skip
    bias, relu, transposed = loss.grad_fn.next_functions[0][0].next_functions[0][0].next_functions
    assert bias[0].variable is model[2].bias
    assert transposed[0].next_functions[0][0].variable is model[2].weight
    assert type(relu[0]).__name__ == "ReluBackward0"


def test_the_same_node_is_the_same_object() -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).exp()
    assert y.grad_fn is y.grad_fn
    assert y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]


def test_a_hook_replaces_the_gradient() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    seen = []
    handle = y.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    y.sum().backward()
    assert seen == [[1, 1]] and x.grad.tolist() == [30, 30]
    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_hook_on_a_leaf_sees_the_whole_gradient_once() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x + x).backward()
    assert seen == [5.0]


def test_a_post_accumulate_hook_comes_after_the_gradient() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.item()))
    (x * x).backward()
    (x * x).backward()
    assert seen == [4.0, 8.0]


def test_node_hooks_see_gradients_on_both_sides() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    seen = []
    y.grad_fn.register_prehook(lambda outs: seen.append(("before", outs[0].item())))
    y.grad_fn.register_hook(lambda ins, outs: seen.append(("after", ins[0].item(), outs[0].item())))
    (y * 2).backward()
    assert seen == [("before", 2.0), ("after", 6.0, 2.0)]


def test_a_view_of_what_was_written_to_is_shown_as_strided() -> None:
    base = torch.arange(6.0).view(2, 3).requires_grad_() * 1
    row = base[0]
    assert row.grad_fn.name() == "SelectBackward0"
    row.mul_(2)
    assert (row.grad_fn.name(), row.grad_fn.next_functions[0][0]) == ("AsStridedBackward0", base.grad_fn)
    assert repr(row) == "tensor([0., 2., 4.], grad_fn=<AsStridedBackward0>)"
    turned, parts = base.t(), torch.view_as_real(base + 0j)
    base.add_(1)
    assert (turned.grad_fn.name(), parts.grad_fn.name()) == ("AsStridedBackward0", "ViewAsRealBackward0")
    assert base.t().grad_fn.name() == "TBackward0"


def test_after_backward_a_node_still_tells_what_is_no_tensor() -> None:
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    results = x**2, torch.add(x, x, alpha=3), x + x, x.sum(1), x / 2, nn.functional.layer_norm(x, (2,))
    power, scaled, added, summed, halved, normed = [result.grad_fn for result in results]
    torch.stack([result.sum() for result in results]).sum().backward()
    assert (power._saved_exponent, scaled._saved_alpha, added._saved_alpha) == (2, 3, 1)
    assert (summed._saved_dim, summed._saved_keepdim, summed._saved_self_sym_sizes) == ((1,), False, (1, 2))
    assert (halved._saved_self, normed._saved_weight, normed._saved_normalized_shape) == (None, None, (2,))
    with pytest.raises(RuntimeError, match="second time"):
        _ = power._saved_self
    with pytest.raises(AttributeError, match="'SoftmaxBackward0' object has no attribute '_saved_other'"):
        _ = x.softmax(1).grad_fn._saved_other
    assert [name for name in dir(power) if name.startswith("_saved_")] == ["_saved_exponent", "_saved_self"]
    assert all(hasattr(normed, name) for name in dir(normed) if not name.startswith("_saved"))
    assert {"_saved_dim", "_saved_keepdim"} <= set(dir(summed)) and "_saved_self" not in dir(summed)


@pytest.mark.parametrize("turned", [False, True])
def test_a_product_keeps_a_number_as_a_tensor(turned: bool) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for number, shown in ((2, "tensor(2)"), (2.5, "tensor(2.5000, dtype=torch.float64)"), (True, "tensor(True)")):
        node = (number * x if turned else x * number).grad_fn
        assert repr(node._saved_other) == shown and node._saved_self is None
    assert repr((x / 2).grad_fn._saved_other) == "tensor(2)"


def test_hooks_can_be_set_on_one_saved_tensor() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen: list[Any] = []
    product = x * x
    saved = product.grad_fn._raw_saved_self
    saved.register_hooks(lambda t: seen.append("pack") or t * 2, lambda t: seen.append("unpack") or t / 2)
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        saved.register_hooks(lambda t: t, lambda t: t)
    product.grad_fn._raw_saved_other.register_hooks(lambda t: t.detach().numpy(), torch.from_numpy)
    assert product.grad_fn._saved_self.tolist() == [1.0, 2.0] and seen == ["pack", "unpack"]
    product.sum().backward()
    assert (x.grad.tolist(), seen) == ([2.0, 4.0], ["pack", "unpack", "unpack"])
    with pytest.raises(RuntimeError, match="on a saved tensor after it has been freed"):
        product.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_hooks_on_a_saved_result_see_what_it_is_computed_from() -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t / 2)
    y.sum().backward()
    assert torch.equal(x.grad, y)
    residuals = torch.nn.functional.gelu(x)
    residuals.grad_fn._raw_saved_self.register_hooks(lambda t: t.tolist(), torch.tensor)
    residuals.sum().backward()
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        (x * 2).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(AttributeError, match="'ExpBackward0' object has no attribute '_raw_saved_nothing'"):
        _ = y.grad_fn._raw_saved_nothing


def test_saved_values_are_shown_and_freed() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    assert y.grad_fn._saved_self.tolist() == [1.0, 2.0]
    powers = x.exp()
    assert powers.grad_fn._saved_result.equal(powers) and powers.grad_fn._saved_result.grad_fn is powers.grad_fn
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = y.grad_fn._saved_self


def test_a_node_that_saved_nothing_can_be_passed_twice() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x + x
    y.backward()
    y.backward()
    assert x.grad.item() == 4


def test_double_backward_to_any_order() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    orders = []
    for _ in range(4):
        (y,) = autograd.grad(y, x, create_graph=True)
        orders.append(y.item())
    assert orders == [32.0, 48.0, 48.0, 24.0]


def test_a_gradient_penalty_reaches_the_weights() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(3, 1)
    x = torch.randn(5, 3, requires_grad=True)
    (gradient,) = autograd.grad(layer(x).tanh().sum(), x, create_graph=True)
    ((gradient.norm(2, dim=1) - 1) ** 2).mean().backward()
    assert layer.weight.grad.abs().sum() > 0
    point = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert autograd.gradgradcheck(lambda v: (v.tanh() * v).sum(), (point,))


def test_grad_leaves_dot_grad_alone_and_names_what_is_unused() -> None:
    x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    (gx,) = autograd.grad(x * x, x)
    assert gx.item() == 4 and x.grad is None
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        autograd.grad(x * x, (x, y))
    assert autograd.grad(x * x, (x, y), allow_unused=True)[1] is None
    assert autograd.grad(x * x, (x, y), materialize_grads=True)[1].item() == 0


def test_grad_of_an_intermediate() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    h = x * 3
    (gh,) = autograd.grad(h * h, h)
    assert gh.item() == 12


def test_backward_with_inputs_fills_only_those() -> None:
    x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    (x * y).backward(inputs=[x])
    assert x.grad.item() == 3 and y.grad is None


def test_batched_gradients() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (jacobian,) = autograd.grad(x**2, x, grad_outputs=torch.eye(3), is_grads_batched=True)
    assert jacobian.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


def test_in_place_keeps_what_backward_saved() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 2
    y = h * h
    h.add_(100)
    y.sum().backward()
    assert x.grad.tolist() == [8, 16]


def test_strict_raises_torchs_error_instead() -> None:
    autograd.set_strict(True)
    try:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        h = x * 2
        y = h * h
        h.add_(100)
        with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
            y.sum().backward()
    finally:
        autograd.set_strict(False)


def test_writing_into_a_tensor_sends_gradients_both_ways() -> None:
    x = torch.ones(3, requires_grad=True)
    v = torch.tensor(5.0, requires_grad=True)
    y = x * 2
    y[1] = v * 3
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [2, 0, 200]
    assert v.grad.item() == 30


def test_views_of_views_write_through_with_gradients() -> None:
    x = torch.zeros(2, 3, requires_grad=True)
    base = x * 1
    row = base[1]
    row[1:].mul_(3)
    row += 1
    (base * base).sum().backward()
    assert base.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert x.grad.tolist() == [[0, 0, 0], [2, 6, 6]]
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert str(base).endswith("grad_fn=<CopySlices>)")


def test_a_function_of_ones_own() -> None:
    class Cube(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x)
    assert y.grad_fn.name() == "CubeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [3, 12]
    (first,) = autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    assert autograd.grad(first.sum(), x)[0].tolist() == [6, 12]
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_function_that_saves_its_results_can_be_differentiated_twice() -> None:
    class Cube(autograd.Function):
        @staticmethod
        def forward(x):
            return x**3, 3 * x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, output[1])

        @staticmethod
        def backward(ctx, grad, grad_slope):
            x, slope = ctx.saved_tensors
            return grad * slope + grad_slope * 6 * x

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (first,) = autograd.grad(Cube.apply(x)[0].sum(), x, create_graph=True)
    assert autograd.grad(first.sum(), x)[0].tolist() == [6, 12]
    gone = weakref.ref(Cube.apply(x)[0].grad_fn)
    assert gone() is None  # no cycle: freed without the garbage collector


def test_a_function_saves_values_and_not_names() -> None:
    class Square(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    x = torch.tensor([3.0], requires_grad=True)
    y = Square.apply(x)
    with torch.no_grad():
        x.mul_(100)
    y.backward()
    assert x.grad.tolist() == [6]


def test_a_function_with_several_arguments_and_none() -> None:
    class Scale(autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.factor = factor
            ctx.mark_non_differentiable(mask := x > 0)
            return x * factor + y, mask

        @staticmethod
        def backward(ctx, grad, grad_mask):
            assert ctx.needs_input_grad == (True, False, False)
            assert grad_mask.sum().item() == 0
            return grad * ctx.factor, None, None

    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y, mask = Scale.apply(x, 4, torch.ones(2))
    assert y.requires_grad and not mask.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_grad_modes_nest_and_decorate() -> None:
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert torch.is_grad_enabled()

    @torch.no_grad()
    def forward(v):
        return v * 2

    @torch.inference_mode
    def infer(v):
        return v * 2

    assert not forward(x).requires_grad and not infer(x).requires_grad and (x * 2).requires_grad


def test_what_is_thrown_into_a_decorated_generator_reaches_the_one_inside() -> None:
    told = []

    @torch.no_grad()
    def counting() -> Any:
        try:
            try:
                yield torch.is_grad_enabled()
            except ValueError as error:
                told.append((str(error), torch.is_grad_enabled()))
            yield "went on"
        finally:
            told.append(("closed", torch.is_grad_enabled()))

    generator = counting()
    assert next(generator) is False and torch.is_grad_enabled()
    assert generator.throw(ValueError("stop")) == "went on"
    generator.close()
    assert told == [("stop", False), ("closed", False)] and torch.is_grad_enabled()


def test_a_class_that_is_decorated_is_warned_of() -> None:
    with pytest.warns(FutureWarning, match="^Decorating classes is deprecated and will be disabled in future versions"):

        @torch.no_grad()
        class Made:
            def __init__(self) -> None:
                self.keeps_history = torch.is_grad_enabled()

    assert not Made().keeps_history


def test_ten_thousand_nodes_deep() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(10_000):
        y = y + 0.0
    y.backward()
    assert x.grad.item() == 1


def test_gradcheck_finds_a_wrong_gradient() -> None:
    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert autograd.gradcheck(lambda v: (v * v).sin(), (x,))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        autograd.gradcheck(Wrong.apply, (x,))


def test_a_gradient_that_is_not_given_is_zero() -> None:
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, indices = x.sort()
    first, _ = values.split([1, 2])
    first.sum().backward()
    assert x.grad.tolist() == [0, 1, 0]
    assert not indices.requires_grad


def test_a_node_tells_the_options_and_sizes_of_its_call() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    assert x.sum(0).grad_fn._saved_dim == (0,)
    assert x.softmax(1).grad_fn._saved_dim == 1
    assert x.sum(0).grad_fn._saved_keepdim is False
    assert x.view(6).grad_fn._saved_self_sym_sizes == (2, 3)
    assert x.mean().grad_fn._saved_self_sym_numel == 6
    assert torch.nn.functional.leaky_relu(x, 0.1).grad_fn._saved_negative_slope == 0.1
    assert not hasattr(x.sum().grad_fn, "_saved_nothing")


def test_hooks_of_one_tensor_are_shown_one_gradient_and_may_write_into_it() -> None:
    def triple(gradient: Any) -> None:
        gradient.mul_(3)
        gradient.seen = True

    marks: list[Any] = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    for tensor in (x, y):
        tensor.register_hook(triple)
        tensor.register_hook(lambda gradient: marks.append((gradient.seen, gradient.tolist())))
    (y * torch.arange(1.0, 3.0)).sum().backward()
    assert marks == [(True, [3.0, 6.0]), (True, [18.0, 36.0])]
    assert x.grad.tolist() == [18.0, 36.0]


def test_a_number_in_front_stands_behind_in_the_graph() -> None:
    x = torch.tensor([0.5], requires_grad=True).sin()
    for y in (2 * x, x * 2, 3 + x, x + 3):
        (first, _), second = y.grad_fn.next_functions
        assert first is x.grad_fn and second == (None, 0)


def test_a_number_is_an_edge_only_where_torch_makes_a_tensor_of_it() -> None:
    x = torch.tensor([0.5], requires_grad=True).sin()
    edge = (x.grad_fn, 0)
    for y in (x**2, 2**x, x % 2, x.clamp(0, 1), x.clamp(min=0), x.masked_fill(x > 2, 0.0), 1 - x):
        assert y.grad_fn.next_functions == (edge,)
    for y in (x * 2, x + 2, x - 2, x / 2, torch.where(x > 0, x, 0.0)):
        assert y.grad_fn.next_functions == (edge, (None, 0))
    inverse, number = (2 / x).grad_fn.next_functions
    assert inverse[0].name() == "ReciprocalBackward0" and number == (None, 0)


def test_classes_of_nodes_read_as_torchs() -> None:
    x = torch.ones(2, requires_grad=True)
    y = 2 / x
    assert str(type(y.grad_fn)) == "<class 'MulBackward0'>"
    assert str(type(y.grad_fn.next_functions[0][0])) == "<class 'ReciprocalBackward0'>"
    assert str(type((x * 2).grad_fn.next_functions[0][0])) == "<class 'AccumulateGrad'>"


def test_a_leafs_node_has_torchs_name() -> None:
    leaf = torch.ones(2, requires_grad=True)
    assert type((leaf * 2).grad_fn.next_functions[0][0]).__name__ == "AccumulateGrad"


def test_hooks_on_a_tensor_run_before_those_on_its_node() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.clone()
    said: list[Any] = []
    y.grad_fn.register_prehook(lambda grads: said.append(("node", grads[0].tolist())))
    y.register_hook(lambda grad: said.append("tensor") or grad * 3)
    y.sum().backward()
    assert said == ["tensor", ("node", [3, 3])] and x.grad.tolist() == [3, 3]


def test_a_node_gives_the_leaf_that_it_saved_and_none_for_what_it_did_not_need() -> None:
    leaf, factor = torch.ones(2, requires_grad=True), torch.ones(2)
    assert (leaf**2).grad_fn._saved_self is leaf
    node = (leaf * factor).grad_fn
    assert node._saved_self is None and node._saved_other.tolist() == [1, 1]
    result = leaf.exp()
    assert result.grad_fn._saved_result is not result
    squared = leaf**2
    with torch.no_grad():
        leaf.mul_(5)
    assert squared.grad_fn._saved_self.tolist() == [1, 1]
    squared.sum().backward()
    with pytest.raises(RuntimeError, match="directly access saved tensors after they have already been freed"):
        _ = squared.grad_fn._saved_self


def test_hooks_of_a_node_are_called_when_it_is_passed() -> None:
    seen: list[str] = []
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = a.clone()
    result = (b * 2).sum()
    b.grad_fn.register_prehook(lambda gradients: seen.append("node"))
    b.register_hook(lambda gradient: seen.append("tensor"))
    a_slot = b.grad_fn.next_functions[0][0]
    a_slot.register_prehook(lambda gradients: seen.append("leaf") or (gradients[0] * 3,))
    torch.autograd.grad(result, b, retain_graph=True)
    assert seen == ["tensor"]
    assert torch.autograd.grad(result, a, retain_graph=True)[0].tolist() == [2.0, 2.0]
    assert seen == ["tensor", "tensor", "node"]
    result.backward()
    assert seen[3:] == ["tensor", "node", "leaf"] and a.grad.tolist() == [6.0, 6.0]


def test_what_a_node_did_not_save_is_no_attribute() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(AttributeError, match="'MulBackward0' object has no attribute '_saved_foo'"):
        _ = (x * x).grad_fn._saved_foo


def test_a_leaf_that_is_frozen_before_the_backward_pass_gathers_nothing() -> None:
    frozen, kept = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    seen = []
    frozen.register_hook(lambda grad: seen.append(grad.tolist()))
    frozen.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    loss = (frozen * kept * 3).sum()
    frozen.requires_grad_(False)
    loss.backward(retain_graph=True)
    assert frozen.grad is None and kept.grad.tolist() == [3, 3] and seen == [[3, 3], None]
    frozen.grad = torch.ones(2)
    loss.backward(retain_graph=True)
    assert frozen.grad.tolist() == [1, 1]
    frozen.requires_grad_()
    loss.backward()
    assert frozen.grad.tolist() == [4, 4]


def test_backward_with_inputs_keeps_gradients_as_retain_grad_does() -> None:
    x = torch.ones(2, requires_grad=True)
    inner = x * 2
    y = (inner * inner).sum()
    for total in (4.0, 8.0):
        y.backward(inputs=[inner], retain_graph=True)
        assert inner.retains_grad and inner.grad.tolist() == [total, total] and x.grad is None
    with pytest.raises(RuntimeError, match=r"^can't retain_grad on Tensor that has requires_grad=False$"):
        y.backward(inputs=[x, torch.ones(2)])
    with pytest.raises(RuntimeError, match=r"^all inputs have to be Tensors or GradientEdges, but got int$"):
        y.backward(inputs=[3])


def test_a_fourier_transform_of_real_numbers_is_named_as_torch_names_it() -> None:
    x = torch.ones(4, requires_grad=True)
    names = {
        "fft": ("FftR2CBackward0", "AccumulateGrad"), "ifft": ("ConjBackward0", "FftR2CBackward0"),
        "ihfft": ("ConjBackward0", "FftR2CBackward0"), "fftn": ("FftC2CBackward0", "ToCopyBackward0"),
        "irfft": ("FftC2RBackward0", "ToCopyBackward0"),
    }  # fmt: skip
    for name, shown in names.items():
        node = getattr(torch.fft, name)(x).grad_fn
        assert (node.name(), node.next_functions[0][0].name().rpartition("::")[2]) == shown
    assert torch.fft.fft(x + 0j).grad_fn.name() == "FftC2CBackward0"
    (gradient,) = torch.autograd.grad(torch.fft.ifft(x).real.sum(), x)
    assert gradient.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("targets", ["x", "w"])
def test_a_gradient_has_the_history_of_what_it_depends_on_alone(targets: str) -> None:
    x, w = torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor([5.0, 7.0], requires_grad=True)
    wanted, other = (x, w) if targets == "x" else (w, x)
    for product in (lambda: x * w, lambda: x @ w, lambda: torch.einsum("i,i->i", x, w)):
        (gradient,) = torch.autograd.grad(product().sum(), wanted, create_graph=True)
        gradient.sum().backward()
        assert wanted.grad is None and other.grad.tolist() == [1.0, 1.0]
        other.grad = None
    for mixed in (lambda: torch.where(x > 2, x, w), lambda: torch.lerp(x, w, 0.5), lambda: x - w):
        (gradient,) = torch.autograd.grad(mixed().sum(), wanted, create_graph=True)
        assert not gradient.requires_grad


def test_the_gradient_of_an_input_alone_passes_a_layer_of_which_all_was_saved() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Tanh(), nn.Linear(3, 1))
    x = torch.ones(2, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    gradient.square().sum().backward()
    assert net[3].bias.grad is None and all(p.grad is not None for p in list(net.parameters())[:-1])
