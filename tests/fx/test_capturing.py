"""torch.compile with a backend of the script's own: it is given graphs, and what it returns is what runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import compiler, fx, nn
from funcgrad.compiling import REGISTERED
from funcgrad.standing_in import compiler_errors
from funcgrad.standing_in.compile_counters import CompileCounter, CompileCounterWithBackend


class Keeping:
    """A backend that keeps what it is given, and counts how often its graphs run."""

    def __init__(self) -> None:
        self.graphs: list[fx.GraphModule] = []
        self.shapes: list[Any] = []
        self.runs = 0

    def __call__(self, graph: fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        self.graphs.append(graph)
        self.shapes.append([tuple(x.shape) for x in inputs])

        def run(*given: torch.Tensor) -> Any:
            self.runs += 1
            return graph(*given)

        return run


def targets(graph: fx.GraphModule) -> list[str]:
    return [getattr(node.target, "__name__", node.target) for node in graph.graph.nodes if node.op.startswith("call")]


def test_a_backend_gets_the_graph_once_and_its_function_runs_each_time() -> None:
    backend = Keeping()

    @torch.compile(backend=backend)
    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return 1 - (x @ y).relu() / 2

    x, y = torch.randn(2, 3), torch.randn(3, 4)
    for _ in range(2):
        assert torch.equal(f(x, y), 1 - (x @ y).relu() / 2)
    assert (len(backend.graphs), backend.runs, backend.shapes) == (1, 2, [[(2, 3), (3, 4)]])
    (graph,) = backend.graphs
    assert type(graph).__name__ == "GraphModule" and targets(graph) == ["matmul", "relu", "truediv", "sub"]
    assert [node.target for node in graph.graph.nodes if node.op == "placeholder"] == ["L_x_", "L_y_"]
    f(torch.ones(5, 3), y)
    assert len(backend.graphs) == 2


def test_parameters_are_inputs_and_gradients_go_through() -> None:
    backend, plain = Keeping(), nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    compiled = torch.compile(plain, backend=backend)
    assert type(compiled).__name__ == "OptimizedModule" and next(iter(compiled.state_dict())) == "_orig_mod.0.weight"
    compiled(torch.ones(2, 3)).sum().backward()
    assert plain[0].bias.grad is not None and backend.runs == 1
    names = [node.target for node in backend.graphs[0].graph.nodes if node.op == "placeholder"]
    assert names[1:] == ["L_self_modules_0_parameters_weight_", "L_self_modules_0_parameters_bias_"]


def test_what_a_function_changes_is_changed_once() -> None:
    plain, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    compiled, x, count = torch.compile(plain, backend=Keeping()), torch.randn(4, 3), torch.zeros(2)
    for _ in range(2):
        assert torch.allclose(compiled(x), other(x))
    assert torch.allclose(plain.running_var, other.running_var) and plain.num_batches_tracked == 2

    @torch.compile(backend=Keeping())
    def add(x: torch.Tensor) -> torch.Tensor:
        x += 1
        x[0] = 7
        return x * 2

    assert add(count).tolist() == [14.0, 2.0] and count.tolist() == [7.0, 1.0]


def test_what_returns_nothing_and_changes_tensors_is_a_call_of_the_graph() -> None:
    backend = Keeping()

    def decay(params: list[torch.Tensor], velocities: list[torch.Tensor]) -> None:
        torch._foreach_mul_(velocities, 0.5)
        torch._foreach_add_(params, velocities, alpha=-1.0)

    params, velocities = [torch.ones(2), torch.ones(3)], [torch.full((2,), 4.0), torch.full((3,), 8.0)]
    compiled = torch.compile(decay, backend=backend)
    for _ in range(2):
        compiled(params, velocities)
    assert [x.tolist() for x in params] == [[-2.0] * 2, [-5.0] * 3]
    assert [x.tolist() for x in velocities] == [[1.0] * 2, [2.0] * 3]
    assert (len(backend.graphs), backend.runs, targets(backend.graphs[0])) == (1, 2, ["_foreach_mul_", "_foreach_add_"])


def test_random_numbers_are_drawn_once() -> None:
    @torch.compile(backend=Keeping())
    def drop(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x, 0.5) + torch.rand(8)

    torch.manual_seed(0)
    found, after = drop(torch.ones(8)), torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(found, nn.functional.dropout(torch.ones(8), 0.5) + torch.rand(8))
    assert torch.equal(after, torch.rand(1))


def test_python_takes_its_own_way_each_time() -> None:
    backend, seen = Keeping(), []
    factor = 2.0

    @torch.compile(backend=backend)
    def f(x: torch.Tensor, flag: bool = False) -> Any:
        seen.append(compiler.is_compiling())
        with torch.no_grad():
            y = x * factor
        largest = x.max(0)
        return {"y": y.sin() if flag else y, "parts": [x.T, largest.values], "size": x.shape[0], "x": x}

    x = torch.randn(2, 3, requires_grad=True)
    found = f(x)
    assert found["size"] == 2 and found["x"] is x and not found["y"].requires_grad and found["parts"][1].requires_grad
    factor = 3.0
    assert torch.equal(f(x)["y"], x.detach() * 3)
    assert torch.allclose(f(x, flag=True)["y"], (x.detach() * 3).sin())
    assert len(backend.graphs) == 3 and seen == [True] * 3 and not compiler.is_compiling()


def test_numbers_for_python_end_a_graph() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + x.sum().item()

    def broken(x: torch.Tensor) -> torch.Tensor:
        compiler.graph_break()
        return x + 1

    for function, why in ((f, r"Tensor\.item"), (broken, "torch._dynamo.graph_break")):
        assert torch.compile(function, backend=Keeping())(torch.ones(2)).shape == (2,)
        with pytest.raises(compiler_errors.Unsupported, match=why):
            torch.compile(function, backend=Keeping(), fullgraph=True)(torch.ones(2))


def test_a_run_with_a_backward_pass_is_left_as_it_was() -> None:
    backend, weight = Keeping(), nn.Parameter(torch.ones(2))

    @torch.compile(backend=backend)
    def step(x: torch.Tensor) -> torch.Tensor:
        loss = (weight * x).sum()
        loss.backward()
        return loss

    assert step(torch.ones(2)).item() == 2 and weight.grad.tolist() == [1.0, 1.0] and backend.graphs == []


def test_backends_have_names_and_errors_say_which() -> None:
    @compiler.register_backend
    def named(graph: Any, inputs: Any) -> Any:
        return graph.forward

    @compiler.register_backend(name="failing")
    def fails(graph: Any, inputs: Any) -> Any:
        raise ValueError("no")

    try:
        assert "named" in compiler.list_backends()
        assert torch.compile(lambda x: x + 2, backend="named")(torch.ones(1)).item() == 3
        with pytest.raises(compiler_errors.BackendCompilerFailed, match=r"backend='fails' raised:\nValueError: no"):
            torch.compile(lambda x: x + 2, backend="failing")(torch.ones(1))
    finally:
        REGISTERED.clear()


def test_counters_count_frames_and_calls() -> None:
    counter, kept = CompileCounter(), CompileCounterWithBackend("eager")
    for backend in (counter, kept):
        compiled = torch.compile(lambda x: x.sin() + 1, backend=backend)
        compiled(torch.ones(3))
        compiled(torch.ones(3))
        assert (backend.frame_count, backend.op_count) == (1, 2)
    assert targets(kept.graphs[0]) == ["sin", "add"]
    counter.clear()
    assert counter.frame_count == 0
