"""Adagrad: steps divided by the root of the sum of all squared gradients so far."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_from_zero, require_lr, require_one_way
from funcgrad.optim.on_lists import adagrad as adagrad
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, decayed, descended, number, numbers


def adagrad_rule(
    arrays: Arrays, lr: Operand, lr_decay: Operand, eps: Operand, weight_decay: Operand, layout: Layout
) -> tuple[Array, ...]:
    """sum += grad^2; param -= lr / (1 + (step - 1) * lr_decay) * grad / (sqrt(sum) + eps)."""
    lr, lr_decay, eps, weight_decay = numbers(lr, lr_decay, eps, weight_decay)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        # optax.scale_by_rss has its eps under the root
        grads = decayed(grads, params, weight_decay)
        sums = [total + grad * grad for total, grad in zip(state["sum"], grads, strict=True)]
        updates = [grad / (jnp.sqrt(total) + eps) for total, grad in zip(sums, grads, strict=True)]
        slowed = number(lr / (1 + state["step"] * lr_decay))
        return descended(params, updates, slowed), {"step": state["step"] + 1, "sum": sums}

    return layout.update(arrays, rule)


class Adagrad(RuleOptimizer):
    """Adagrad. Its state exists from the start, as in torch.

    Source: Duchi et al. 2011, http://jmlr.org/papers/v12/duchi11a.html.
    """

    _op = RuleOp(adagrad_rule, grad="AdagradBackward0")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_lr(lr)
        require_from_zero(
            lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value
        )
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require_one_way(foreach, fused, differentiable)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            self._states(group["params"], group, ("sum",))

    def share_memory(self) -> None:
        """Do nothing: processes share no tensors here."""

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("sum",)

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], group["lr_decay"], group["eps"], group["weight_decay"]

    def _refusal_of_sparse(self, group: Group) -> str:
        return "weight_decay option is not compatible with sparse gradients" if group["weight_decay"] else ""

    def _initial(self, name: str, param: Tensor, group: Group) -> np.ndarray[Any, Any]:
        if name != "sum":
            return super()._initial(name, param, group)
        value = group["initial_accumulator_value"]
        return np.full(param.shape, complex(value, value) if param.dtype.is_complex else value, param.dtype.numpy)
