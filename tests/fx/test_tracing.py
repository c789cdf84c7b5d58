"""symbolic_trace gives torch's graphs and torch's source, and the traced module computes what the module computes."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import fx, nn
from tests.fx.modules import modules

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECORDED)
def test_graph_and_source_are_torchs(name: str) -> None:
    traced = fx.symbolic_trace(modules(torch)[name][0])
    assert str(traced.graph) == RECORDED[name]["graph"]
    assert traced.code == RECORDED[name]["code"]
    traced.graph.lint()


def flat(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in flat(value)]
    return [leaf for part in tree for leaf in flat(part)] if isinstance(tree, tuple) else [tree]


@pytest.mark.parametrize("name", [name for name in RECORDED if name != "Dropped"])
@pytest.mark.parametrize("way", ["called", "interpreted", "copied", "pickled"])
def test_a_traced_module_computes_the_same(name: str, way: str) -> None:
    module, args = modules(torch)[name]
    traced = fx.symbolic_trace(module)
    again: Any = {
        "called": lambda: traced,
        "interpreted": lambda: fx.Interpreter(traced).run,
        "copied": lambda: copy.deepcopy(traced),
        "pickled": lambda: pickle.loads(pickle.dumps(traced)),
    }[way]()
    for found, expected in zip(flat(again(*args)), flat(module(*args)), strict=True):
        assert torch.equal(found, expected) if isinstance(expected, torch.Tensor) else found == expected


def test_a_traced_module_with_types_can_be_traced_again() -> None:
    def added(x: Any, y: Any) -> Any:
        return x + y

    added.__annotations__ = {"x": torch.Tensor, "y": "Name", "return": torch.Tensor}
    traced = fx.symbolic_trace(added)
    again = fx.symbolic_trace(traced)
    assert traced.forward.__annotations__["x"] is torch.Tensor
    assert [node.type for node in again.graph.nodes] == [node.type for node in traced.graph.nodes]
    assert again.code == traced.code


def test_a_traced_module_has_the_modules_parameters_themselves() -> None:
    module, _ = modules(torch)["Shifted"]
    traced = fx.symbolic_trace(module)
    assert traced.shift is module.shift
    assert list(traced.state_dict()) == list(module.state_dict())
    assert str(traced).startswith("Shifted(\n  (linear): Linear(in_features=4, out_features=5, bias=True)\n)\n")


def test_tracing_leaves_modules_as_they_were() -> None:
    before = nn.Module.__call__, nn.Module.__dict__.get("__getattr__")
    fx.symbolic_trace(modules(torch)["Shifted"][0])
    assert (nn.Module.__call__, nn.Module.__dict__.get("__getattr__")) == before


@pytest.mark.parametrize(
    ("function", "error", "phrase"),
    [
        (lambda x: x if x.sum() > 0 else -x, fx.TraceError, "variables cannot be used as inputs to control flow"),
        (lambda x: [row for row in x], fx.TraceError, "Proxy object cannot be iterated"),  # noqa: C416 - a loop is meant
        (lambda x: len(x), RuntimeError, "'len' is not supported in symbolic tracing by default"),
        (lambda x: x.__setitem__(0, 1), AttributeError, "__setitem__"),
    ],
)
def test_what_cannot_be_traced_is_told(function: Any, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase):
        fx.symbolic_trace(function)


def test_an_argument_can_be_taken_as_it_is() -> None:
    def chosen(x: Any, doubled: bool = False) -> Any:
        return x * 2 if doubled else x

    traced = fx.symbolic_trace(chosen, concrete_args={"doubled": True})
    assert "mul = x * 2" in traced.code
    assert traced(torch.ones(1), True).item() == 2.0
    with pytest.raises(AssertionError, match="doubled has been specialized to have value True but got another value"):
        traced(torch.ones(1), False)


def test_arguments_taken_as_they_are_are_each_the_first_of_their_name_and_have_no_type() -> None:
    def scaled(x: Any, doubled: bool = False, times: int = 2, offset: int = 0) -> Any:
        return x * times + offset if doubled else x

    traced = fx.symbolic_trace(scaled, concrete_args={"doubled": True, "times": 3})
    (line,) = [line for line in traced.code.splitlines() if line.startswith("def")]
    assert ", doubled_1 = False, times_1 = 2, offset : " in line


@fx.wrap
def whole(x: Any) -> Any:
    """Is not entered by tracing."""
    return x + 1 if x.sum() > 0 else x


def test_a_wrapped_function_is_one_node() -> None:
    traced = fx.symbolic_trace(lambda x: whole(x) * 2)
    assert [node.name for node in traced.graph.nodes] == ["x", "whole", "mul", "output"]
    assert traced(torch.ones(1)).item() == 4.0


def test_a_tracer_of_ones_own_says_what_is_a_leaf() -> None:
    class Within(fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return False

    graph = Within().trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    assert [node.op for node in graph.nodes] == [
        *("placeholder", "get_attr", "get_attr", "call_function", "call_function", "output"),
    ]  # fmt: skip
    assert [str(node.target) for node in graph.find_nodes(op="get_attr")] == ["0.weight", "0.bias"]


def test_a_tensor_that_is_no_attribute_becomes_a_constant() -> None:
    offset = torch.ones(2)
    traced = fx.symbolic_trace(lambda x: x + offset)
    assert "_tensor_constant0 = self._tensor_constant0" in traced.code
    assert traced(torch.zeros(2)).tolist() == [1.0, 1.0]


def test_a_traced_module_trains() -> None:
    module, args = modules(torch)["Shifted"]
    traced = fx.symbolic_trace(module)
    optimizer = torch.optim.SGD(traced.parameters(), lr=0.5)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (traced(*args) - 0.5).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[1] < losses[0]


def test_a_graph_can_be_written_with_proxies() -> None:
    graph = fx.Graph()
    tracer = fx.proxy.GraphAppendingTracer(graph)
    x, y = (fx.Proxy(graph.placeholder(name), tracer) for name in "xy")
    product = torch.einsum("ij,jk->ik", [x, y])
    assert [str(argument) for argument in product.node.args] == ["ij,jk->ik", "x", "y"]
    graph.output((fx.Proxy(product.node) * 2).node)
    made = fx.GraphModule({}, graph)
    assert made(torch.ones(2, 3), torch.ones(3, 1)).tolist() == [[6.0], [6.0]]
