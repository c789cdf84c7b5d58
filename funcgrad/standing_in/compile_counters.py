"""torch._dynamo.testing: backends that count what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.compiling import REGISTERED, compile

__all__ = ["CompileCounter", "CompileCounterWithBackend"]


class CompileCounter:
    """A backend that leaves graphs as they are. frame_count: how many there were; op_count: how many calls in all."""

    def __init__(self) -> None:
        self.frame_count: int = 0
        self.op_count: int = 0

    def __call__(self, gm: Any, example_inputs: list[Any]) -> Callable[..., Any]:
        """Count a graph and its calls; return its `forward`."""
        self.frame_count += 1
        self.op_count += sum("call" in node.op for node in gm.graph.nodes)
        return gm.forward

    def clear(self) -> None:
        """Begin anew."""
        self.frame_count = self.op_count = 0


class CompileCounterWithBackend(CompileCounter):
    """Counts, keeps the graphs in `graphs`, and hands them to a backend, by its name or a function."""

    def __init__(self, backend: str | Callable[..., Any]) -> None:
        super().__init__()
        self.backend = backend
        self.graphs: list[Any] = []

    def __call__(self, gm: Any, example_inputs: list[Any]) -> Callable[..., Any]:
        """Count a graph; return what the backend makes of it."""
        forward = super().__call__(gm, example_inputs)
        self.graphs.append(gm)
        found = REGISTERED.get(self.backend) if isinstance(self.backend, str) else self.backend
        return compile(forward, backend=self.backend) if found is None else found(gm, example_inputs)

    def clear(self) -> None:
        """Begin anew."""
        super().clear()
        self.graphs = []
