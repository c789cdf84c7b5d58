"""What a step does, as a list of events with the user's lines: zero_grad, backward, step, and calls of modules.

The methods are wrapped only while somebody watches, so that a step that nobody watches pays nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from funcgrad import autograd
from funcgrad._program.journal import user_line
from funcgrad._tape.anomalies import Anomalies
from funcgrad._tape.modes import is_grad_enabled
from funcgrad._tape.nodes import GradSlot, Node
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain.calls import calls_noted
from funcgrad.nn.hooks import register_module_forward_pre_hook
from funcgrad.nn.module import Module
from funcgrad.optim.optimizer import Optimizer, register_optimizer_step_pre_hook


@dataclass
class Event:
    """Something that a step did. kind: "call", "zero_grad", "backward" or "step"; line: the user's.

    nodes, slots: what a backward goes through and arrives at. grads: by slot, the gradients that a backward adds to; by
    parameter, those that a step reads.
    """

    kind: str
    line: str
    module: Any = None
    optimizer: Any = None
    root: Any = None
    retains: bool = False
    grad_mode: bool = True
    training: bool = True
    nodes: list[Any] = field(default_factory=list)
    slots: list[Any] = field(default_factory=list)
    grads: list[tuple[Any, Any]] = field(default_factory=list)


@contextmanager
def lines() -> Iterator[None]:
    """Let each node made inside remember the user's line and module, for `graph` and `check`. Nothing runs earlier."""
    before = Anomalies.on, Anomalies.check_nan
    Anomalies.on, Anomalies.check_nan = True, False
    try:
        with calls_noted():
            yield
    finally:
        Anomalies.on, Anomalies.check_nan = before


@contextmanager
def watched(events: list[Event]) -> Iterator[None]:
    """Append to `events` what happens inside."""
    backward, all_backward = Tensor.backward, autograd.backward
    zero_grads = [(kind, kind.__dict__["zero_grad"]) for kind in (Optimizer, Module)]

    def noting_backward(self: Tensor, *args: Any, **kwargs: Any) -> None:
        retains = args[1] if len(args) > 1 else kwargs.get("retain_graph")
        creates = args[2] if len(args) > 2 else kwargs.get("create_graph")
        events.append(_backward_event(self, bool(retains) and not creates))
        backward(self, *args, **kwargs)

    def noting_all(tensors: Any, *args: Any, **kwargs: Any) -> None:
        for tensor in [tensors] if isinstance(tensors, Tensor) else tensors:
            events.append(_backward_event(tensor, bool(kwargs.get("retain_graph"))))
        all_backward(tensors, *args, **kwargs)

    def noting_zero(original: Any) -> Any:
        def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
            events.append(Event("zero_grad", user_line(), optimizer=self))
            return original(self, *args, **kwargs)

        return zero_grad

    def noting_step(optimizer: Any, args: Any, kwargs: Any) -> None:
        params = [p for group in optimizer.param_groups for p in group["params"]]
        read = [(p, p.grad) for p in params if p.grad is not None]
        events.append(Event("step", user_line(), optimizer=optimizer, grads=read))

    def noting_call(module: Any, args: Any) -> None:
        events.append(Event("call", user_line(), module=module, grad_mode=is_grad_enabled(), training=module.training))

    handles = [register_optimizer_step_pre_hook(noting_step), register_module_forward_pre_hook(noting_call)]
    Tensor.backward, autograd.backward = noting_backward, noting_all  # type: ignore[assignment]  # put back below
    for kind, original in zero_grads:
        kind.zero_grad = noting_zero(original)  # type: ignore[method-assign]  # likewise
    try:
        with lines():
            yield
    finally:
        Tensor.backward, autograd.backward = backward, all_backward  # type: ignore[assignment]  # the originals
        for kind, original in zero_grads:
            kind.zero_grad = original
        for handle in handles:
            handle.remove()


def nodes_behind(tensor: Tensor) -> list[Any]:
    """Return the nodes that a tensor was computed by, leaves' slots too, the newest first."""
    start = tensor._current().node
    found: dict[Any, None] = {} if start is None else {start: None}
    waiting: list[Node] = list(found)
    while waiting:
        for following, _ in waiting.pop().edges:
            if following is not None and following not in found:
                found[following] = None
                waiting.append(following)
    return sorted(found, key=lambda node: -node.order)


def line_of(node: Any) -> str:
    """Return the user's line that made a node; "" where none was remembered."""
    return node.metadata.get("line", "") if hasattr(node, "metadata_") else ""


def _backward_event(root: Tensor, retains: bool) -> Event:
    found = nodes_behind(root)
    slots = [node for node in found if type(node) is GradSlot]
    nodes = [node for node in found if type(node) is not GradSlot]
    grads = [(slot, slot.grad) for slot in slots if slot.grad is not None]
    return Event("backward", user_line(), root=root, retains=retains, nodes=nodes, slots=slots, grads=grads)
