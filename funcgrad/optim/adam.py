"""Adam: steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import jax.numpy as jnp
import optax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_betas, require_from_zero, require_lr, require_one_way
from funcgrad.optim.on_lists import adam as adam
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, descended, number, numbers, shrunk, transformed


def adam_rule(
    arrays: Arrays,
    lr: Operand,
    beta1: Operand,
    beta2: Operand,
    eps: Operand,
    weight_decay: Operand,
    layout: Layout,
    decoupled: bool,
) -> tuple[Array, ...]:
    """param -= lr * mean / (sqrt(mean of squares) + eps), both means without the bias of starting at 0."""
    lr, beta1, beta2, eps, weight_decay = numbers(lr, beta1, beta2, eps, weight_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        if decoupled:
            params = shrunk(params, lr * weight_decay)
        else:
            grads = decayed(grads, params, weight_decay)
        updates, state = _scaled(grads, state, beta1, beta2, eps)
        return descended(params, updates, lr), state

    return layout.update(arrays, rule)


def _scaled(grads: list[Array], state: State, beta1: Any, beta2: Any, eps: Any) -> tuple[list[Array], State]:
    means = {"count": state["step"], "mu": state["exp_avg"], "nu": state["exp_avg_sq"]}
    if "max_exp_avg_sq" in state:
        # torch takes the maximum before the bias is removed from it, and adds eps after; optax can leave the bias in
        root = number(jnp.sqrt(1 - beta2 ** (state["step"] + 1)))
        transform = optax.scale_by_amsgrad(beta1, beta2, eps * root, bias_correction_nu=False)
        before = optax.ScaleByAmsgradState(**means, nu_max=state["max_exp_avg_sq"])
        updates, after = transformed(transform, grads, before)
        updates = [root * update for update in updates]
    else:
        transform = optax.scale_by_adam(beta1, beta2, eps)
        updates, after = transformed(transform, grads, optax.ScaleByAdamState(**means))
    new = {"step": after.count, "exp_avg": after.mu, "exp_avg_sq": after.nu}
    if "max_exp_avg_sq" in state:
        new["max_exp_avg_sq"] = after.nu_max
    return updates, new


def _require_single(by_foreach: bool, **named: Any) -> None:
    for name, given in named.items():
        if isinstance(given, Tensor):
            require(not by_foreach, f"{name} as a Tensor is not supported for capturable=False and foreach=True")
            require(given.numel() == 1, f"Tensor {name} must be 1-element")


class Adam(RuleOptimizer):
    """Adam, and with `amsgrad` the variant whose mean of squares never falls.

    Source: Kingma and Ba 2014, https://arxiv.org/abs/1412.6980; Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ.
    """

    _op = RuleOp(adam_rule, grad="AdamBackward0")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        by_foreach = bool(foreach) and not capturable
        _require_single(by_foreach, lr=lr)
        require_lr(lr)
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require_betas(betas)
        require_from_zero(weight_decay=weight_decay)
        are_one_kind = any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor))
        require(are_one_kind, "betas must be either both floats or both Tensors")
        _require_single(by_foreach, **{f"betas[{i}]": beta for i, beta in enumerate(betas)})
        require_one_way(foreach, fused, differentiable)
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], *group["betas"], group["eps"], group["weight_decay"]

    def _refusal_of_sparse(self, group: Group) -> str:
        return "Adam does not support sparse gradients, please consider SparseAdam instead"

    def _options(self, group: Group) -> tuple[Hashable, ...]:
        return (group["decoupled_weight_decay"],)
