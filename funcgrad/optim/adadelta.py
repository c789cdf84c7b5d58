"""Adadelta: steps whose size comes of the sizes of earlier steps."""

from __future__ import annotations

from typing import Any

import optax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_from_zero, require_lr
from funcgrad.optim.on_lists import adadelta as adadelta
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, descended, numbers, transformed


def adadelta_rule(
    arrays: Arrays, lr: Operand, rho: Operand, eps: Operand, weight_decay: Operand, layout: Layout
) -> tuple[Array, ...]:
    """param -= lr * sqrt(mean of squared steps + eps) / sqrt(mean of squared gradients + eps) * grad."""
    lr, rho, eps, weight_decay = numbers(lr, rho, eps, weight_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        grads = decayed(grads, params, weight_decay)
        before = optax.ScaleByAdaDeltaState(e_g=state["square_avg"], e_x=state["acc_delta"])
        updates, after = transformed(optax.scale_by_adadelta(rho, eps), grads, before)
        new = {"step": state["step"] + 1, "square_avg": after.e_g, "acc_delta": after.e_x}
        return descended(params, updates, lr), new

    return layout.update(arrays, rule)


class Adadelta(RuleOptimizer):
    """Adadelta. Source: Zeiler 2012, https://arxiv.org/abs/1212.5701; `lr` scales the step, as in torch."""

    _op = RuleOp(adadelta_rule, grad="AdadeltaBackward0")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_lr(lr)
        require(0.0 <= rho <= 1.0, f"Invalid rho value: {rho}")
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require_from_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("square_avg", "acc_delta")

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], group["rho"], group["eps"], group["weight_decay"]
