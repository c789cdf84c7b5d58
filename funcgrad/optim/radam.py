"""RAdam: Adam that leaves the scaling out while the mean of squares is still too uncertain."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import jax.numpy as jnp
import optax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_betas, require_from_zero, require_lr
from funcgrad.optim.on_lists import radam as radam
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, descended, number, numbers, shrunk, transformed


def radam_rule(
    arrays: Arrays,
    lr: Operand,
    beta1: Operand,
    beta2: Operand,
    eps: Operand,
    weight_decay: Operand,
    layout: Layout,
    decoupled: bool,
) -> tuple[Array, ...]:
    """Adam's step, rectified by how certain the mean of squares is; plain momentum while that cannot be said."""
    lr, beta1, beta2, eps, weight_decay = numbers(lr, beta1, beta2, eps, weight_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        if decoupled:
            params = shrunk(params, lr * weight_decay)
        else:
            grads = decayed(grads, params, weight_decay)
        # torch adds eps to the root before the bias is removed from it
        scaled_eps = number(eps / jnp.sqrt(1 - beta2 ** (state["step"] + 1)))
        before = optax.ScaleByAdamState(count=state["step"], mu=state["exp_avg"], nu=state["exp_avg_sq"])
        updates, after = transformed(optax.scale_by_radam(beta1, beta2, scaled_eps), grads, before)
        return descended(params, updates, lr), {"step": after.count, "exp_avg": after.mu, "exp_avg_sq": after.nu}

    return layout.update(arrays, rule)


class RAdam(RuleOptimizer):
    """Rectified Adam. Source: Liu et al. 2019, https://arxiv.org/abs/1908.03265."""

    _op = RuleOp(radam_rule, grad="RadamBackward0")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_lr(lr)
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require_betas(betas)
        require_from_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], *group["betas"], group["eps"], group["weight_decay"]

    def _options(self, group: Group) -> tuple[Hashable, ...]:
        return (group["decoupled_weight_decay"],)
