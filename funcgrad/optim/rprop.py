"""Rprop: only the sign of a gradient counts; a step grows while that stays and shrinks when it turns."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_lr
from funcgrad.optim.on_lists import rprop as rprop
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, numbers


def rprop_rule(
    arrays: Arrays, shrink: Operand, grow: Operand, smallest: Operand, largest: Operand, layout: Layout
) -> tuple[Array, ...]:
    """size *= grow or shrink as grad * previous grad is > 0 or < 0; param -= sign(grad) * size, not after a turn."""
    shrink, grow, smallest, largest = numbers(shrink, grow, smallest, largest)

    def moved(param: Array, grad: Array, previous: Array, size: Array) -> tuple[Array, Array, Array]:
        # optax.scale_by_rprop does not keep a step within its bounds while the product is 0, as in the first step
        product = grad * previous
        factor = jnp.where(product > 0, grow, jnp.where(product < 0, shrink, 1)).astype(size.dtype)
        size = jnp.clip(size * factor, smallest, largest)
        grad = jnp.where(product < 0, 0, grad)
        return param - jnp.where(grad > 0, size, jnp.where(grad < 0, -size, 0)), grad, size  # NaN moves nothing

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        done = list(map(moved, params, grads, state["prev"], state["step_size"]))
        params, previous, sizes = map(list, zip(*done, strict=True))
        return params, {"step": state["step"] + 1, "prev": previous, "step_size": sizes}

    return layout.update(arrays, rule)


class Rprop(RuleOptimizer):
    """Resilient backpropagation; `lr` is the size of the first step.

    Source: Riedmiller and Braun 1993, https://doi.org/10.1109/ICNN.1993.298623.
    """

    _op = RuleOp(rprop_rule, grad="RpropBackward0", reads="gradient")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_lr(lr)
        require(0.0 < etas[0] < 1.0 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": tuple(etas), "step_sizes": tuple(step_sizes), "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("prev", "step_size")

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return *group["etas"], *group["step_sizes"]

    def _initial(self, name: str, param: Tensor, group: Group) -> np.ndarray[Any, Any]:
        if name != "step_size":
            return super()._initial(name, param, group)
        lr = float(group["lr"])
        return np.full(param.shape, complex(lr, lr) if param.dtype.is_complex else lr, param.dtype.numpy)
