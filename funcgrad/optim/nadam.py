"""NAdam: Adam with Nesterov's momentum, whose weight grows with the steps."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_betas, require_from_zero, require_lr
from funcgrad.optim.on_lists import nadam as nadam
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer, count_dtype
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, number, numbers, shrunk


def nadam_rule(
    arrays: Arrays,
    lr: Operand,
    beta1: Operand,
    beta2: Operand,
    eps: Operand,
    weight_decay: Operand,
    momentum_decay: Operand,
    layout: Layout,
    decoupled: bool,
) -> tuple[Array, ...]:
    """Step by the mean as it will be next time: mu[t] = beta1 * (1 - 0.96^(t * momentum_decay) / 2) is its weight."""
    lr, beta1, beta2, eps, weight_decay = numbers(lr, beta1, beta2, eps, weight_decay)
    momentum_decay = number(momentum_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        if decoupled:
            params = shrunk(params, lr * weight_decay)
        else:
            grads = decayed(grads, params, weight_decay)
        step = state["step"] + 1
        mu, next_mu = (beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay)) for t in (step, step + 1))
        # torch multiplies in the dtype that it keeps the product in, so it is rounded here too
        product = (state["mu_product"].astype(count_dtype()) * number(mu)).astype(np.float64)
        of_grad = number(lr * (1 - mu) / (1 - product))
        of_mean = number(lr * next_mu / (1 - product * next_mu))
        means: Any = optax.tree.update_moment(grads, state["exp_avg"], beta1, 1)
        squares: Any = optax.tree.update_moment(grads, state["exp_avg_sq"], beta2, 2)
        unbiased: Any = optax.tree.bias_correction(squares, beta2, step)
        params = [
            param - (of_grad * grad + of_mean * mean) / (jnp.sqrt(square) + eps)
            for param, grad, mean, square in zip(params, grads, means, unbiased, strict=True)
        ]
        return params, {"step": step, "mu_product": product, "exp_avg": means, "exp_avg_sq": squares}

    return layout.update(arrays, rule)


class NAdam(RuleOptimizer):
    """Adam with Nesterov momentum. Source: Dozat 2016, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ."""

    _op = RuleOp(nadam_rule, grad="NadamBackward0")
    _shared = ("step", "mu_product")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        require_from_zero(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], *group["betas"], group["eps"], group["weight_decay"], group["momentum_decay"]

    def _options(self, group: Group) -> tuple[Hashable, ...]:
        return (group["decoupled_weight_decay"],)

    def _initial(self, name: str, param: Tensor, group: Group) -> np.ndarray[Any, Any]:
        return np.ones((), count_dtype()) if name == "mu_product" else super()._initial(name, param, group)
