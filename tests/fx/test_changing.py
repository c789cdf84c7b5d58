"""Graphs are changed, run node by node, transformed, searched for patterns, and fused, as torch's tutorials do it."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import fx, nn
from funcgrad.fx import fusing, shapes


def test_an_op_is_replaced_by_another() -> None:
    traced = fx.symbolic_trace(lambda x, y: torch.relu(x + y))
    for node in traced.graph.nodes:
        if node.target is operator.add:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.mul, node.args, node.kwargs)
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    assert "mul = torch.mul(x, y);  x = y = None" in traced.code
    assert traced(torch.tensor(2.0), torch.tensor(3.0)).item() == 6.0


def test_a_node_knows_its_neighbours_and_its_users() -> None:
    traced = fx.symbolic_trace(lambda x: x + torch.relu(x))
    x, relu, add, output = traced.graph.nodes
    assert set(x.users) == {relu, add}
    assert (relu.next, relu.prev, add.all_input_nodes) == (add, x, [x, relu])
    assert traced.graph.find_nodes(op="call_function", target=torch.relu) == [relu]
    assert traced.graph.output_node() is output
    add.replace_input_with(relu, x)
    assert (add.args, list(relu.users)) == ((x, x), [])
    assert traced.graph.eliminate_dead_code()
    assert [node.name for node in traced.graph.nodes] == ["x", "add", "output"]


def test_a_node_that_is_used_is_not_erased() -> None:
    graph = fx.symbolic_trace(lambda x: torch.relu(x)).graph
    with pytest.raises(RuntimeError, match=r"Tried to erase Node x but it still had 1 users.*\{relu: None\}!"):
        graph.erase_node(next(iter(graph.nodes)))


def test_lint_finds_what_is_used_too_early() -> None:
    graph = fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph
    _, relu, add, _ = graph.nodes
    add.append(relu)
    with pytest.raises(RuntimeError, match="Argument 'relu' of Node 'add' was used before it has been defined!"):
        graph.lint()


def test_a_graph_is_made_by_hand() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_method("neg", (graph.call_module("layer", (x,)),)))
    module = fx.GraphModule({"layer": nn.Identity()}, graph)
    assert module(torch.ones(1)).item() == -1.0
    assert type(module).__name__ == "GraphModule"


def test_an_interpreter_sees_every_node() -> None:
    class Counting(fx.Interpreter):
        def __init__(self, module: Any) -> None:
            super().__init__(module)
            self.seen: list[str] = []

        def run_node(self, n: fx.Node) -> Any:
            self.seen.append(n.name)
            return super().run_node(n)

    run = Counting(fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU())))
    assert run.run(torch.ones(2)).shape == (2,)
    assert run.seen == ["input_1", "_0", "_1", "output"]


def test_an_interpreter_says_which_node_failed() -> None:
    with pytest.raises(RuntimeError) as caught:
        fx.Interpreter(fx.symbolic_trace(lambda x: x.view(7))).run(torch.ones(2))
    assert "While executing %view" in caught.value.__notes__[0]


def test_a_transformer_exchanges_calls() -> None:
    class Exchanged(fx.Transformer):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(torch.neg if target is torch.sigmoid else target, args, kwargs)

    new = Exchanged(fx.symbolic_trace(lambda x: torch.sigmoid(x) + 1)).transform()
    assert new(torch.tensor(3.0)).item() == -2.0
    assert "neg = torch.neg(x);  x = None" in new.code


def test_a_pattern_is_replaced_everywhere() -> None:
    def own(x: Any, a: Any, b: Any) -> Any:
        first, second = torch.cat([a, b]).sum(), torch.cat([a, b]).sum()
        return x + torch.max(first) + torch.max(second)

    traced = fx.symbolic_trace(own)
    found = fx.replace_pattern(
        traced, lambda a, b: torch.max(torch.cat([a, b]).sum()), lambda a, b: torch.stack([a, b])
    )
    assert [match.anchor.name for match in found] == ["max_1", "max_2"]
    assert traced.code == (
        "\n\n\ndef forward(self, x, a, b):\n    stack = torch.stack([a, b])\n    add = x + stack;  x = stack = None\n"
        "    stack_1 = torch.stack([a, b]);  a = b = None\n    add_1 = add + stack_1;  add = stack_1 = None\n"
        "    return add_1\n    "
    )


def test_a_match_names_what_was_matched_from_its_result_on() -> None:
    traced = fx.symbolic_trace(lambda x, y: torch.cat([x, y]) * x)
    (match,) = fx.replace_pattern(traced, lambda a, b: torch.cat([a, b]) * a, lambda a, b: a - b)
    assert str(match) == "Match(anchor=mul, nodes_map={mul: mul, cat: cat, a: x, b: y})"


def test_a_pattern_whose_inside_is_used_elsewhere_is_left() -> None:
    traced = fx.symbolic_trace(lambda x: torch.neg(torch.relu(x)) + torch.relu(x).neg())
    relu = traced.graph.find_nodes(op="call_function", target=torch.relu)[0]
    traced.graph.output_node().args = ((relu, traced.graph.output_node().args[0]),)
    assert fx.replace_pattern(traced, lambda x: torch.neg(torch.relu(x)), lambda x: x) == []


class Normalized(nn.Module):
    """Convolutions with batch normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.last = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Conv2d(2, 1, 1)

    def forward(self, x: Any) -> Any:
        return self.last(self.norm(self.conv(x)))


def test_fuse_puts_normalization_into_the_convolution() -> None:
    torch.manual_seed(0)
    model, x = Normalized(), torch.randn(2, 1, 5, 5)
    model(x)  # moves the running statistics
    model.eval()
    fused = fusing.fuse(model)
    assert repr(fused).startswith("GraphModule(\n  (conv): Conv")
    assert [name for name, _ in fused.named_modules()] == ["", "conv", "last"]
    torch.testing.assert_close(fused(x), model(x))


def test_remove_dropout_leaves_the_rest() -> None:
    model = fusing.remove_dropout(nn.Sequential(nn.Linear(2, 2), nn.Dropout(), nn.ReLU()))
    assert [node.name for node in model.graph.nodes] == ["input_1", "_0", "_2", "output"]


def test_shape_prop_notes_shapes() -> None:
    traced = fx.symbolic_trace(Normalized())
    shapes.ShapeProp(traced).propagate(torch.ones(2, 1, 5, 5))
    noted = {node.name: tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes}
    assert noted["conv"] == (2, 2, 3, 3)
    assert noted["output"] == (2, 1, 3, 3)


def test_submodules_are_added_and_removed() -> None:
    traced = fx.symbolic_trace(Normalized())
    assert traced.add_submodule("inner.extra", nn.ReLU())
    assert isinstance(traced.inner.extra, nn.ReLU)
    traced.delete_all_unused_submodules()
    assert not hasattr(traced, "inner")
    assert traced.delete_submodule("last")
    assert not traced.delete_submodule("nowhere")


def test_what_replaces_a_pattern_comes_before_its_first_user() -> None:
    def model(x: Any, y: Any) -> Any:
        first, second = torch.neg(x).sum(), torch.neg(y).sum()
        return (x + 1) * first + second

    traced = fx.symbolic_trace(model)
    fx.replace_pattern(traced, lambda x: torch.neg(x).sum(), lambda x: torch.mean(x))
    assert [node.name for node in traced.graph.nodes] == ["x", "y", "add", "mean", "mul", "mean_1", "add_1", "output"]
