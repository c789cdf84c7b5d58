"""Adafactor: for a matrix only the row and column means of squared gradients are kept."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, Dims, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_lr
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, descended, number, numbers, shrunk


def adafactor_rule(
    arrays: Arrays,
    lr: Operand,
    beta2_decay: Operand,
    eps1: Operand | None,
    eps2: Operand,
    d: Operand,
    weight_decay: Operand,
    layout: Layout,
) -> tuple[Array, ...]:
    """param -= size * grad / root of squares; size follows the parameter's own root mean square, clipped where > d."""
    lr, beta2_decay, eps1, eps2, d, weight_decay = numbers(lr, beta2_decay, eps1, eps2, d, weight_decay)
    smallest = jnp.finfo(arrays[0].dtype).eps.item() if eps1 is None else eps1

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        step = state["step"] + 1
        rate = number(jnp.minimum(lr, 1 / jnp.sqrt(step)))
        sizes = [rate * jnp.maximum(eps2, _root_mean_square(param)) for param in params]
        params = shrunk(params, lr * weight_decay)
        squares, new = _mean_squares(grads, state, number(step**beta2_decay), smallest)
        updates = [
            grad / jnp.sqrt(jnp.maximum(square, smallest * smallest))
            for grad, square in zip(grads, squares, strict=True)
        ]
        updates = [
            update * (size / jnp.maximum(1.0, _root_mean_square(update) / d))
            for update, size in zip(updates, sizes, strict=True)
        ]
        return descended(params, updates, 1), {**new, "step": step}

    return layout.update(arrays, rule)


def _mean_squares(grads: list[Array], state: State, weight: Any, smallest: Any) -> tuple[list[Array], State]:
    """Return running means of squared gradients, for matrices put together from rows and columns, and the state."""
    if "variance" in state:
        squares = [_moved(old, grad * grad, weight) for old, grad in zip(state["variance"], grads, strict=True)]
        return squares, {"variance": squares}
    rows = [_moved(old, _mean(grad, -1), weight) for old, grad in zip(state["row_var"], grads, strict=True)]
    cols = [_moved(old, _mean(grad, -2), weight) for old, grad in zip(state["col_var"], grads, strict=True)]
    squares = [
        row * col / jnp.maximum(row.mean(-2, keepdims=True), smallest) for row, col in zip(rows, cols, strict=True)
    ]
    return squares, {"row_var": rows, "col_var": cols}


def _moved(old: Array, new: Array, weight: Any) -> Array:
    return old + weight * (new - old)


def _mean(grad: Array, axis: int) -> Array:
    return jnp.mean(grad * grad, axis, keepdims=True)


def _root_mean_square(array: Array) -> Array:
    return jnp.sqrt(jnp.sum(array * array)) / math.sqrt(array.size)


def _shape_of(name: str, param: Dims) -> Dims:
    """Return the shape of a state of a parameter in shape `param`."""
    if name == "variance":
        return param
    return (*param[:-1], 1) if name == "row_var" else (*param[:-2], 1, param[-1])


class Adafactor(RuleOptimizer):
    """Adafactor: memory of rows + columns instead of rows * columns for each matrix.

    Source: Shazeer and Stern 2018, https://arxiv.org/abs/1804.04235, without its first moment, as in torch.
    """

    _op = RuleOp(adafactor_rule, grad="AdafactorBackward0", shape_of=_shape_of)
    _is_elementwise = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        require_lr(lr, "Learning rate should be >= 0 but is")
        require(beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        require(eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}")
        require(eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}")
        require(d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}")
        require(weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("row_var", "col_var") if group["matrices"] else ("variance",)

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], group["beta2_decay"], *group["eps"], group["d"], group["weight_decay"]

    def _parts(self, params: list[Tensor], group: Group) -> list[tuple[list[Tensor], Group]]:
        if any(param.dtype.is_complex for param in params):
            raise RuntimeError("Adafactor does not support complex parameters")
        matrices = [param for param in params if param.ndim > 1]
        vectors = [param for param in params if param.ndim <= 1]
        parts = [(matrices, {**group, "matrices": True}), (vectors, {**group, "matrices": False})]
        return [part for part in parts if part[0]]

    def _initial(self, name: str, param: Tensor, group: Group) -> np.ndarray[Any, Any]:
        if name == "step":
            return super()._initial(name, param, group)
        return np.zeros(_shape_of(name, param.shape), param.dtype.numpy)
