"""grads(model, loss, optimizer): why each parameter has, or will have, a gradient, or none."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

from funcgrad._program.record import thread
from funcgrad._tape.nodes import GradSlot
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain.watching import nodes_behind
from funcgrad.nn.module import Module


class Row(NamedTuple):
    """One parameter: its name, one word for it ("reached", "frozen", "unused", "detached"), and why."""

    name: str
    status: str
    reason: str


class Rows(list[Row]):
    """What `grads` found; prints a parameter a line."""

    def __repr__(self) -> str:
        width = max((len(row.name) for row in self), default=0)
        return "\n".join(f"{row.name:<{width}}  {row.status:<9} {row.reason}" for row in self)

    __str__ = __repr__


def grads(model: Module, loss: Tensor, optimizer: Any = None) -> Rows:
    """Return for each parameter what `loss.backward()` does for its `.grad`, and whether `optimizer` steps it."""
    slots = {id(node.variable): node for node in nodes_behind(loss) if type(node) is GradSlot}
    uses: dict[Any, int] = {}
    for node in nodes_behind(loss):
        for following, _ in node.edges:
            uses[following] = uses.get(following, 0) + 1
    listed = None
    if optimizer is not None:
        listed = {id(p) for group in optimizer.param_groups for p in group["params"]}
    rows = Rows()
    for name, parameter in model.named_parameters():
        slot = slots.get(id(parameter))
        status, reason = _reached(parameter, uses[slot]) if slot is not None else _not_reached(parameter)
        if listed is not None and id(parameter) not in listed:
            reason += "; it is in no group of the optimizer, so no step changes it"
        rows.append(Row(name, status, reason))
    return rows


def _reached(parameter: Tensor, uses: int) -> tuple[str, str]:
    several = f" in {uses} places, whose gradients add up" if uses > 1 else ""
    reason = f"the loss depends on it{several}"
    if parameter.grad is not None:
        reason += "; backward adds to the gradient that is there already (zero_grad was not called)"
    return "reached", reason


def _not_reached(parameter: Tensor) -> tuple[str, str]:
    if not parameter.requires_grad:
        return "frozen", "requires_grad is False"
    if ref(parameter._current().value) in thread.program.leaf_slots:
        return "detached", "it was used, but under no_grad or before a detach(): no history leads from the loss to it"
    return "unused", "the loss does not depend on it: its module was not called, or its result was not used or detached"
