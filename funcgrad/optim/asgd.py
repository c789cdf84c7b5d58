"""ASGD: gradient descent that keeps the mean of the parameters along the way."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require_from_zero, require_lr
from funcgrad.optim.on_lists import asgd as asgd
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer, count_dtype
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, number, numbers


def asgd_rule(
    arrays: Arrays, lr: Operand, lambd: Operand, alpha: Operand, t0: Operand, weight_decay: Operand, layout: Layout
) -> tuple[Array, ...]:
    """param -= eta * (lambd * param + grad); ax += mu * (param - ax); eta falls with the steps, mu after t0 of them."""
    lr, lambd, alpha, t0, weight_decay = numbers(lr, lambd, alpha, t0, weight_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        grads = decayed(grads, params, weight_decay)
        step, eta, mu = state["step"] + 1, number(state["eta"]), number(state["mu"])
        shrink = number(1 - lambd * state["eta"])
        params = [param * shrink - eta * grad for param, grad in zip(params, grads, strict=True)]
        means = [
            jnp.where(state["mu"] == 1, param, mean + mu * (param - mean))
            for param, mean in zip(params, state["ax"], strict=True)
        ]
        new_eta = lr / (1 + lambd * lr * step) ** alpha
        return params, {"step": step, "eta": new_eta, "mu": 1 / jnp.maximum(1, step - t0), "ax": means}

    return layout.update(arrays, rule)


class ASGD(RuleOptimizer):
    """Averaged stochastic gradient descent; the mean is `state[param]["ax"]`.

    Source: Polyak and Juditsky 1992, https://doi.org/10.1137/0330046.
    """

    _op = RuleOp(asgd_rule, grad="AsgdBackward0")
    _shared = ("step", "eta", "mu")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        require_lr(lr)
        require_from_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("ax",)

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], group["lambd"], group["alpha"], group["t0"], group["weight_decay"]

    def _initial(self, name: str, param: Tensor, group: Group) -> np.ndarray[Any, Any]:
        if name in ("eta", "mu"):
            return np.array(float(group["lr"]) if name == "eta" else 1, count_dtype())
        return super()._initial(name, param, group)
