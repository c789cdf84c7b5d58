"""What a step does, as a list of events with the user's lines: zero_grad, backward, step, and calls of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from funcgrad._program.journal import user_line
from funcgrad._tape.anomalies import Anomalies
from funcgrad._tape.modes import is_grad_enabled
from funcgrad._tape.nodes import GradSlot, Node
from funcgrad._tensor.differentiate import backward_observed
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

    def noting_backward(roots: Sequence[Tensor], retains: bool) -> AbstractContextManager[None]:
        events.extend([_backward_event(root, retains) for root in roots])
        return nullcontext()

    def noting_zero(owner: Any) -> None:
        events.append(Event("zero_grad", user_line(), optimizer=owner))

    def noting_step(optimizer: Any, args: Any, kwargs: Any) -> None:
        params = [p for group in optimizer.param_groups for p in group["params"]]
        read = [(p, p.grad) for p in params if p.grad is not None]
        events.append(Event("step", user_line(), optimizer=optimizer, grads=read))

    def noting_call(module: Any, args: Any) -> None:
        events.append(Event("call", user_line(), module=module, grad_mode=is_grad_enabled(), training=module.training))

    handles = [register_optimizer_step_pre_hook(noting_step), register_module_forward_pre_hook(noting_call)]
    try:
        with lines(), backward_observed(noting_backward), _zero_grad_told(noting_zero):
            yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _zero_grad_told(told: Callable[[Any], None]) -> Iterator[None]:
    """Call told(owner) before each `zero_grad` of optimizers and modules. torch has no hook there, so it is wrapped."""
    originals = [(kind, kind.zero_grad) for kind in (Optimizer, Module)]

    def telling(zero_grad: Callable[..., None]) -> Callable[..., None]:
        def telling_zero_grad(self: Any, *args: Any, **kwargs: Any) -> None:
            told(self)
            zero_grad(self, *args, **kwargs)

        return telling_zero_grad

    try:
        for kind, original in originals:
            kind.zero_grad = telling(original)  # type: ignore[method-assign]  # put back below
        yield
    finally:
        for kind, original in originals:
            kind.zero_grad = original  # type: ignore[method-assign]  # the original


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
