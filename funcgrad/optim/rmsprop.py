"""RMSprop: steps divided by the root of a running mean of squared gradients."""

from __future__ import annotations

from typing import Any

import optax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_from_zero, require_lr
from funcgrad.optim.on_lists import rmsprop as rmsprop
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, descended, numbers, transformed


def rmsprop_rule(
    arrays: Arrays, lr: Operand, alpha: Operand, eps: Operand, weight_decay: Operand, momentum: Operand, layout: Layout
) -> tuple[Array, ...]:
    """param -= lr * grad / (sqrt(mean of squares) + eps); centered: the variance in place of the mean of squares."""
    lr, alpha, eps, weight_decay, momentum = numbers(lr, alpha, eps, weight_decay, momentum)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        grads = decayed(grads, params, weight_decay)
        new: State = {"step": state["step"] + 1}
        if "grad_avg" in state:
            transform = optax.scale_by_stddev(alpha, eps, eps_in_sqrt=False)
            before = optax.ScaleByRStdDevState(mu=state["grad_avg"], nu=state["square_avg"])
            updates, after = transformed(transform, grads, before)
            new["grad_avg"] = after.mu
        else:
            transform = optax.scale_by_rms(alpha, eps, eps_in_sqrt=False)
            updates, after = transformed(transform, grads, optax.ScaleByRmsState(nu=state["square_avg"]))
        new["square_avg"] = after.nu
        if "momentum_buffer" in state:
            updates, traced = transformed(optax.trace(momentum), updates, optax.TraceState(state["momentum_buffer"]))
            new["momentum_buffer"] = traced.trace
        return descended(params, updates, lr), new

    return layout.update(arrays, rule)


class RMSprop(RuleOptimizer):
    """RMSprop, optionally centered and with momentum.

    Source: Tieleman and Hinton 2012, https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf;
    centered: Graves 2013, https://arxiv.org/abs/1308.0850.
    """

    _op = RuleOp(rmsprop_rule, grad="RmspropBackward0")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_lr(lr)
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require_from_zero(momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    _later = ("momentum",)

    def _slots(self, group: Group) -> tuple[str, ...]:
        momentum = ("momentum_buffer",) if group["momentum"] > 0 else ()
        return ("square_avg", *momentum, *(("grad_avg",) if group["centered"] else ()))

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], group["alpha"], group["eps"], group["weight_decay"], group["momentum"]
