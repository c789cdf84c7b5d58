"""torch.autograd.graph: saved tensors in another form, several gradients at once, and edges of the graph."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import funcgrad as torch
from funcgrad.autograd import graph


class Square(torch.autograd.Function):
    """x * x, which saves x itself."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, None)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        x, nothing = ctx.saved_tensors
        assert nothing is None
        return 2 * x * grad


FUNCTIONS = (
    lambda x: (x * x).sum(),
    lambda x: Square.apply(x).sum(),
    lambda x: torch.linalg.norm(x.reshape(2, 1) @ x.reshape(1, 2)) ** 1.0,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=["rows", "a Function", "a decomposition"])
def test_backward_gets_what_unpack_gives(function: Any) -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    (wanted,) = torch.autograd.grad(function(x), x)
    packed: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> int:
        assert not torch.is_grad_enabled()
        packed.append(tensor.detach().clone())
        return len(packed) - 1

    with graph.saved_tensors_hooks(pack, lambda place: packed[place]):
        y = function(x)
    assert packed
    for turn in (1, 2):
        y.backward(retain_graph=turn == 1)
        assert torch.allclose(x.grad, wanted * turn)
    with graph.saved_tensors_hooks(lambda x: x, lambda x: x * 0), graph.saved_tensors_hooks(pack, lambda i: packed[i]):
        (gradient,) = torch.autograd.grad(function(x), x, create_graph=True)  # the inner pair counts
    assert torch.allclose(gradient, wanted)
    gradient.sum().backward()
    assert x.grad.abs().sum() > 2 * wanted.abs().sum()  # what was unpacked has its history


def test_numbers_changed_by_unpacking_reach_the_gradient_and_bad_hooks_are_told() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t * 10):
        (x * x).backward()
    assert x.grad.item() == 60.0
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 1):
        y = x * x
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
        y.backward()
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
    with graph.save_on_cpu(pin_memory=True):
        y = x.exp() * x
    (gradient,) = torch.autograd.grad(y, x)
    assert gradient.item() == pytest.approx(float(4 * torch.exp(torch.tensor(3.0))))


def test_a_loop_with_hooks_gives_the_same_steps() -> None:
    def losses(hooked: bool) -> list[float]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimizer, found = torch.optim.SGD(model.parameters(), lr=0.1), []
        for _ in range(3):
            with graph.saved_tensors_hooks(lambda t: t.bfloat16().float() if hooked else t, lambda t: t):
                loss = model(torch.ones(2, 3)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    plain, rounded = losses(False), losses(True)
    assert plain[0] == rounded[0] and plain[2] != rounded[2] and abs(plain[2] - rounded[2]) < 0.01


def test_one_hook_sees_all_gradients_or_the_first() -> None:
    a, b, c = (torch.tensor(float(i), requires_grad=True) for i in range(1, 4))
    seen: list[Any] = []
    handle = graph.register_multi_grad_hook((a, b, c), lambda grads: seen.append([g and g.item() for g in grads]))
    (a * b).backward()
    (a * b * c).sum().backward()
    torch.autograd.grad(a * b, a)
    assert seen == [[2.0, 1.0, None], [6.0, 3.0, 2.0], [2.0, None, None]]
    handle.remove()
    first: list[Any] = []
    with graph.register_multi_grad_hook((a, b), first.append, mode="any"):
        (a * b).backward()
        (a * b).backward()
    (a * b).backward()
    assert len(first) == 2 and len(seen) == 3


def test_an_edge_stands_for_a_tensor() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    middle = x * 3
    edge = graph.get_gradient_edge(middle)
    assert edge.node is middle.grad_fn and edge.output_nr == 0
    loss = middle**2
    assert torch.autograd.grad(loss, edge, retain_graph=True)[0].item() == 12.0
    loss.backward(inputs=[graph.get_gradient_edge(x)])
    assert x.grad.item() == 36.0
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(torch.ones(1))


def test_a_pack_hook_must_not_change_what_it_is_given() -> None:
    x = torch.ones(2, requires_grad=True)
    with (
        graph.saved_tensors_hooks(lambda x: x.add_(1), lambda x: x),
        pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"),
    ):
        _ = x**2
    assert x.tolist() == [1, 1]


def test_a_gradient_that_is_given_takes_the_dtype_of_what_it_is_for() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).backward(torch.tensor([1, 2]))
    assert x.grad is not None and x.grad.dtype is torch.float32 and x.grad.tolist() == [2.0, 4.0]
    (gradient,) = torch.autograd.grad(x * 2, x, torch.ones(2).double())
    assert gradient.dtype is torch.float32


def test_an_edge_can_be_where_a_pass_begins() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.backward(graph.get_gradient_edge(x * 3), torch.ones(2))
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0]


def test_hooks_on_the_node_of_a_leaf_run_when_its_gradient_is_there() -> None:
    seen: list[Any] = []
    leaf = torch.ones(2, requires_grad=True)
    node = leaf.expand_as(leaf).grad_fn.next_functions[0][0]
    node.register_prehook(lambda outputs: seen.append("before"))
    leaf.register_post_accumulate_grad_hook(lambda leaf: seen.append("accumulated"))
    handle = node.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].tolist(), leaf.grad.tolist())))
    for _ in range(2):
        (leaf * 3).sum().backward()
    turn = ["before", "accumulated"]
    assert seen == [*turn, ((), [3.0, 3.0], [3.0, 3.0]), *turn, ((), [3.0, 3.0], [6.0, 6.0])]
    handle.remove()
    (leaf * 3).sum().backward()
    assert seen[-1] == "accumulated"


def test_a_hook_after_accumulation_returns_nothing_else_than_the_leaf() -> None:
    stepping = torch.ones(2, requires_grad=True)
    stepping.register_post_accumulate_grad_hook(lambda leaf: leaf.add_(leaf.grad, alpha=-0.5))
    stepping.sum().backward()
    assert stepping.tolist() == [0.5, 0.5]
    leaf = torch.ones(2, requires_grad=True)
    leaf.register_post_accumulate_grad_hook(lambda leaf: leaf.grad.mul_(3))
    with pytest.raises(RuntimeError, match=r"Tensor post accumulate grad hooks should return None\."):
        leaf.sum().backward()


def test_what_is_written_in_place_keeps_its_gradient_if_it_did_before() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.add_(1)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0] and x.grad.tolist() == [6.0, 6.0]
    y = x * 2
    y.retain_grad()
    y[0] = 7
    (y * torch.tensor([5.0, 7.0])).sum().backward()
    assert y.grad.tolist() == [5.0, 7.0]


def test_hooks_on_a_node_see_gradients_in_the_order_of_its_edges() -> None:
    def shapes(result: torch.Tensor) -> list[Any]:
        seen: list[Any] = []
        result.grad_fn.register_hook(lambda inputs, outputs: seen.extend(inputs))
        result.sum().backward()
        return [None if gradient is None else tuple(gradient.shape) for gradient in seen]

    x, y = torch.ones(1, 2, requires_grad=True), torch.ones(1, 2)
    layer = torch.nn.Linear(2, 3)
    assert shapes(y * x) == [None, (1, 2)]
    assert shapes(x * 2) == [(1, 2), None]
    assert shapes(layer(x)) == [(3,), (1, 2), (2, 3)]
    assert shapes(layer(y)) == [(3,), None, (2, 3)]
    assert shapes(torch.nn.Conv2d(1, 2, 1)(torch.ones(1, 1, 2, 2))) == [None, (2, 1, 1, 1), (2,)]


def test_what_a_hook_on_a_node_answers_goes_where_it_was_shown() -> None:
    x, weight = torch.ones(1, 2, requires_grad=True), torch.ones(3, 2, requires_grad=True)
    result = torch.nn.functional.linear(x, weight, torch.zeros(3))
    result.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], inputs[1] * 2, inputs[2] * 5))
    result.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[6.0, 6.0]]
    assert weight.grad is not None and weight.grad.tolist() == [[5.0, 5.0]] * 3
    result = x * 2
    result.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
    with pytest.raises(RuntimeError, match="has returned an incorrect number of values"):
        result.sum().backward()


def test_a_dictionary_of_inputs_gives_a_dictionary_of_gradients() -> None:
    layer = torch.nn.Linear(2, 1)
    found = torch.autograd.grad(layer(torch.ones(1, 2)).sum(), dict(layer.named_parameters()))
    assert {name: gradient.tolist() for name, gradient in found.items()} == {"weight": [[1.0, 1.0]], "bias": [1.0]}
    with pytest.raises(TypeError, match="must be a dict, not OrderedDict"):
        torch.autograd.grad(layer(torch.ones(1, 2)).sum(), OrderedDict(layer.named_parameters()))
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad(layer(torch.ones(1, 2)).sum(), {})


def test_what_is_no_tensor_is_told_by_its_type() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges, but got NoneType"):
        torch.autograd.grad(x.sum(), [x, None])  # type: ignore[list-item]  # that is what is refused
    with pytest.raises(AssertionError, match=r"Expected output to be a torch\.Tensor"):
        torch.autograd.backward([3])  # type: ignore[list-item]  # that is what is refused


def test_blocks_in_which_saved_tensors_change_do_not_nest() -> None:
    nested = graph.allow_mutation_on_saved_tensors()
    with graph.allow_mutation_on_saved_tensors(), pytest.raises(RuntimeError, match="contexts cannot be nested"):
        nested.__enter__()
    with graph.allow_mutation_on_saved_tensors() as kept:
        kept.clear()


@pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (3, TypeError, "expected tuple, but hook returned 'int'"),
        (torch.ones(2), TypeError, "expected tuple, but hook returned 'Tensor'"),
        (("x",), TypeError, "expected Variable, but hook returned 'str'"),
        ((torch.ones(3),), RuntimeError, "has changed the size of value"),
        ((torch.ones(2).double(),), RuntimeError, r"type of value \(was torch.FloatTensor got torch.DoubleTensor"),
        ((torch.ones(2),) * 2, RuntimeError, r"incorrect number of values \(got 2, but expected 1\)"),
    ],
)
def test_what_a_nodes_hook_answers_is_looked_at(register: str, answer: Any, error: Any, message: str) -> None:
    y = (torch.ones(2, requires_grad=True) * 2).exp()
    getattr(y.grad_fn, register)(lambda *given: answer)
    with pytest.raises(error, match=message):
        y.sum().backward()


def test_a_hook_before_a_node_may_say_that_there_is_no_gradient() -> None:
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = (x * 2).exp()
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: (None,))
    (y + other).sum().backward()
    assert x.grad is None
    assert other.grad is not None
    assert other.grad.tolist() == [1.0, 1.0]


def test_a_hook_on_many_tensors_wants_all_to_require_grad_or_passes_over_those_that_do_not() -> None:
    x, constant, seen = torch.ones(2, requires_grad=True), torch.ones(2), []
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        graph.register_multi_grad_hook((x, constant), lambda grads: None)
    graph.register_multi_grad_hook((constant, x), seen.append, mode="any")
    (x * constant).sum().backward()
    assert [g.tolist() for g in seen] == [[1, 1]]
