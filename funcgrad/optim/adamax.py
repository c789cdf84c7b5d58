"""Adamax: Adam with the largest recent gradient in place of the mean of squares."""

from __future__ import annotations

from typing import Any

import optax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_betas, require_from_zero, require_lr
from funcgrad.optim.on_lists import adamax as adamax
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, descended, numbers, transformed


def adamax_rule(
    arrays: Arrays, lr: Operand, beta1: Operand, beta2: Operand, eps: Operand, weight_decay: Operand, layout: Layout
) -> tuple[Array, ...]:
    """largest = max(beta2 * largest, |grad| + eps); param -= lr * mean / largest, the mean without its bias."""
    lr, beta1, beta2, eps, weight_decay = numbers(lr, beta1, beta2, eps, weight_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        grads = decayed(grads, params, weight_decay)
        before = optax.ScaleByAdamState(count=state["step"], mu=state["exp_avg"], nu=state["exp_inf"])
        updates, after = transformed(optax.scale_by_adamax(beta1, beta2, eps), grads, before)
        return descended(params, updates, lr), {"step": after.count, "exp_avg": after.mu, "exp_inf": after.nu}

    return layout.update(arrays, rule)


class Adamax(RuleOptimizer):
    """Adamax. Source: Kingma and Ba 2014, https://arxiv.org/abs/1412.6980, section 7.1."""

    _op = RuleOp(adamax_rule, grad="AdamaxBackward0")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        require_lr(lr)
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require_betas(betas)
        require_from_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_inf")

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], *group["betas"], group["eps"], group["weight_decay"]
