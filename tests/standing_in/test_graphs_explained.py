"""torch._dynamo.explain tells of the graphs of a call: as many as torch 2.13.0, with as many calls."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import funcgrad as torch


def _branching(x: Any) -> Any:
    y = x.sin() + 1
    if y.sum() > 0:
        y = y * 2
    return y.cos()


def test_explain_tells_of_graphs_and_why_they_end() -> None:
    found = torch._dynamo.explain(_branching)(torch.ones(3))
    assert (found.graph_count, found.graph_break_count, found.op_count) == (2, 1, 3)
    assert found.ops_per_graph == [[operator.add, operator.gt], [operator.mul]]
    (reason,) = found.break_reasons
    assert reason.reason == "generic_jump TensorVariable()"
    assert [frame.name for frame in reason.user_stack][-1] == "_branching"
    assert str(found).startswith(
        "Graph Count: 2\nGraph Break Count: 1\nOp Count: 3\nBreak Reasons:\n  Break Reason 1:\n"
    )


def test_graphs_of_explain_compute_what_was_called() -> None:
    first, second = torch._dynamo.explain(_branching)(x := torch.ones(3)).graphs
    (y,) = first(x)
    assert torch.equal(second(y)[0], _branching(x))


def test_explain_of_one_graph() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    found = torch._dynamo.explain(model)(torch.ones(1, 2))
    assert (found.graph_count, found.graph_break_count, found.op_count, found.break_reasons) == (1, 0, 2, [])
    with pytest.warns(FutureWarning, match="is deprecated, use explain"):
        assert torch._dynamo.explain(model, torch.ones(1, 2)).graph_count == 1


def test_explain_of_a_graph_that_the_script_ends() -> None:
    def function(x: Any) -> Any:
        x = x + 1
        torch._dynamo.graph_break()
        return x * x.sum().item()

    found = torch._dynamo.explain(function)(torch.ones(2))
    assert found.graph_count == 3
    assert [one.reason.split("\n")[0] for one in found.break_reasons] == [
        "Call to `torch._dynamo.graph_break()`",
        "Unsupported Tensor.item() call",
    ]
