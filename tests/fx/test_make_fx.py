"""make_fx gives torch's graphs of aten's functions, and they compute what was traced."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.dispatching.tracing import make_fx
from tests.fx.make_fx_cases import texts

RECORDED = json.loads((Path(__file__).parent / "make_fx.json").read_text())


def test_graphs_are_torchs() -> None:
    found = texts(torch, make_fx)
    assert found.keys() == RECORDED.keys()
    for name, expected in RECORDED.items():
        assert found[name] == expected


@pytest.mark.parity
def test_the_record_is_what_torch_gives_now() -> None:
    real = pytest.importorskip("torch", minversion="2.13")
    tensors = pytest.importorskip("torch.fx.experimental.proxy_tensor")
    assert texts(real, tensors.make_fx) == RECORDED


def test_a_graph_computes_what_the_function_does() -> None:
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.GELU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 2)
    )
    x = torch.rand(2, 3, 8, 8)
    graph = make_fx(net)(x)
    other = torch.rand(2, 3, 8, 8)
    assert torch.allclose(graph(other), net(other), atol=1e-6)
    graph(other).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    assert graph.graph.find_nodes(op="placeholder")[0].meta["tensor_meta"].shape == (2, 3, 8, 8)


def test_a_table_says_what_is_called_in_the_place_of_a_function() -> None:
    aten = torch.ops.aten

    def squared(x: Any, exponent: Any) -> Any:
        return x * x

    graph = make_fx(lambda x: x**2, decomposition_table={aten.pow.Tensor_Scalar: squared})(torch.ones(2))
    assert [node.target for node in graph.graph.nodes if node.op == "call_function"] == [aten.mul.Tensor]


def test_what_cannot_be_a_graph_is_refused() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="trying to get value out of a tracing tensor"):
        make_fx(lambda x: x if x.sum() > 0 else -x)(x)
    with pytest.raises(NotImplementedError, match="sizes are constants"):
        make_fx(lambda x: x, tracing_mode="symbolic")
    with pytest.raises(RuntimeError, match=r"^Tracing expected 2 arguments but got 1 concrete arguments$"):
        make_fx(lambda x, y=2: x)(x)


@pytest.mark.xfail(strict=True, raises=NotImplementedError, reason="sizes are numbers while a function runs")
def test_a_graph_holds_for_other_sizes() -> None:
    graph = make_fx(lambda x: x.reshape(-1) * x.shape[0], tracing_mode="symbolic")(torch.ones(2, 3))
    assert graph(torch.ones(4, 3)).tolist() == [4.0] * 12


def test_arguments_may_be_trees() -> None:
    x = torch.ones(2)
    graph = make_fx(lambda d: {"sum": d["a"] + d["b"]})({"a": x, "b": x + 1})
    for again in (graph, copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert again({"a": x, "b": x})["sum"].tolist() == [2.0, 2.0]
