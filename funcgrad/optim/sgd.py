"""SGD: stochastic gradient descent, plain or with momentum."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import optax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_from_zero, require_one_way
from funcgrad.optim.on_lists import sgd as sgd
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, descended, numbers, transformed


def sgd_rule(
    arrays: Arrays, lr: Operand, momentum: Operand, dampening: Operand, weight_decay: Operand, layout: Layout,
    nesterov: bool,
) -> tuple[Array, ...]:  # fmt: skip
    """buffer = momentum * buffer + (1 - dampening) * grad; param -= lr * buffer."""
    lr, momentum, dampening, weight_decay = numbers(lr, momentum, dampening, weight_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        updates = decayed(grads, params, weight_decay)
        if layout.slots:
            if not (isinstance(dampening, (int, float)) and dampening == 0):
                updates = [(1 - dampening) * update for update in updates]
            transform = optax.trace(momentum, nesterov)
            updates, after = transformed(transform, updates, optax.TraceState(state["momentum_buffer"]))
            state = {"momentum_buffer": after.trace}
        return descended(params, updates, lr), state

    return layout.update(arrays, rule)


class SGD(RuleOptimizer):
    """Stochastic gradient descent, with momentum and Nesterov's variant of it.

    As in torch, lr scales the buffer when it is applied, not when it is gathered. Source: Sutskever et al. 2013,
    http://www.cs.toronto.edu/~hinton/absps/momentum.pdf.
    """

    _op = RuleOp(sgd_rule, grad="SgdBackward0")
    _shared = ()

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require(not isinstance(lr, Tensor) or lr.numel() == 1, "Tensor lr must be 1-element")
        require(not lr < 0.0, f"Invalid learning rate: {lr}")
        require_from_zero(momentum=momentum, weight_decay=weight_decay)
        require(
            not nesterov or (momentum > 0 and dampening == 0),
            "Nesterov momentum requires a momentum and zero dampening",
        )
        require_one_way(foreach, fused, differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    @property
    def skips_where_found_inf(self) -> bool:
        """Not with dampening: then it matters that a buffer is made by the first step that is not left out."""
        return super().skips_where_found_inf and not any(group["dampening"] for group in self.param_groups)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], group["momentum"], group["dampening"], group["weight_decay"]

    def _refusal_of_sparse(self, group: Group) -> str:
        return "add(sparse, dense) is not supported. Use add(dense, sparse) instead." if group["weight_decay"] else ""

    def _options(self, group: Group) -> tuple[Hashable, ...]:
        return (group["nesterov"],)

    def _parts(self, params: list[Tensor], group: Group) -> list[tuple[list[Tensor], Group]]:
        if group["momentum"] == 0 or group["dampening"] == 0:
            return [(params, group)]
        # torch's first gradient enters the buffer whole
        fresh = [param for param in params if self.state[param].get("momentum_buffer") is None]
        others = [param for param in params if self.state[param].get("momentum_buffer") is not None]
        parts = [(fresh, {**group, "dampening": 0}), (others, group)]
        return [part for part in parts if part[0]]
