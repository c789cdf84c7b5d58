"""Muon: momentum, made orthogonal before it is applied to a matrix."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require, require_lr
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, numbers, shrunk

_COEFFICIENTS = (3.4445, -4.775, 2.0315)


def muon_rule(
    arrays: Arrays,
    lr: Operand,
    weight_decay: Operand,
    momentum: Operand,
    eps: Operand,
    layout: Layout,
    nesterov: bool,
    coefficients: tuple[float, float, float],
    steps: int,
    adjust: str | None,
) -> tuple[Array, ...]:
    """buffer = momentum * buffer + (1 - momentum) * grad; param -= lr * ratio of its shape * orthogonal(buffer)."""
    lr, weight_decay, momentum, eps = numbers(lr, weight_decay, momentum, eps)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        buffers: Any = optax.tree.update_moment(grads, state["momentum_buffer"], momentum, 1)
        updates: Any = optax.tree.update_moment(grads, buffers, momentum, 1) if nesterov else buffers
        params = [
            param - lr * _ratio(param.shape, adjust) * _orthogonal(update, coefficients, steps, eps).astype(param.dtype)
            for param, update in zip(shrunk(params, lr * weight_decay), updates, strict=True)
        ]
        return params, {"momentum_buffer": buffers}

    return layout.update(arrays, rule)


def _orthogonal(matrix: Array, coefficients: tuple[float, float, float], steps: int, eps: Any) -> Array:
    """Return roughly U V^T of the matrix's U S V^T, by Newton-Schulz steps in bfloat16, as torch does."""
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = _rounded(matrix.T if tall else matrix)
    x = _rounded(x / jnp.maximum(_rounded(jnp.linalg.norm(x)), eps))
    for _ in range(steps):
        gram = _rounded(_product(x, x.T))
        update = _rounded(b * gram + c * _product(gram, gram))
        x = _rounded(a * x + _product(update, x))
    return x.T if tall else x


def _rounded(array: Array) -> Array:
    """Round to bfloat16 but stay float32: a cast there and back XLA may drop, and the result would not be torch's."""
    return lax.reduce_precision(array.astype(np.float32), exponent_bits=8, mantissa_bits=7)


def _product(left: Array, right: Array) -> Array:
    return jnp.matmul(left.astype(jnp.bfloat16), right.astype(jnp.bfloat16), preferred_element_type=np.float32)


def _ratio(shape: tuple[int, ...], adjust: str | None) -> float:
    """Return by how much lr is scaled for a matrix of this shape."""
    if adjust == "match_rms_adamw":
        return 0.2 * math.sqrt(max(shape))
    return math.sqrt(max(1, shape[0] / shape[1]))


class Muon(RuleOptimizer):
    """Momentum, orthogonalized by Newton-Schulz: for the matrices of hidden layers only.

    Raises ValueError for a parameter that is no matrix. Source: Jordan 2024, https://kellerjordan.github.io/posts/muon;
    adjust_lr_fn="match_rms_adamw": Liu et al. 2025, https://arxiv.org/abs/2502.16982.
    """

    _op = RuleOp(muon_rule, grad="MuonBackward0")
    _shared = ()
    _is_elementwise = False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = _COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        require_lr(lr, "Learning rate should be >= 0 but is")
        require(momentum >= 0.0, f"momentum should be >= 0 but is: {momentum}")
        require(weight_decay >= 0.0, f"weight decay should be >= 0 but is: {weight_decay}")
        require(
            adjust_lr_fn in (None, "original", "match_rms_adamw"),
            f"Adjust learning rate function {adjust_lr_fn} is not supported",
        )
        require(ns_steps < 100, "Number of steps must be less than 100 for computational efficiency")
        require(len(ns_coefficients) == 3, "Coefficients must be a tuple of exactly 3 values")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)

    def add_param_group(self, param_group: Group) -> None:
        """Add a group, as every optimizer does; each parameter must be a matrix."""
        super().add_param_group(param_group)
        for param in param_group["params"]:
            require(
                param.ndim == 2,
                f"Muon only supports 2D parameters whereas we found a parameter with size: {param.shape}",
            )

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("momentum_buffer",)

    def _parts(self, params: list[Tensor], group: Group) -> list[tuple[list[Tensor], Group]]:
        if any(param.dtype.is_complex for param in params):
            raise RuntimeError("Muon does not support complex parameters")
        return super()._parts(params, group)

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["lr"], group["weight_decay"], group["momentum"], group["eps"]

    def _options(self, group: Group) -> tuple[Hashable, ...]:
        coefficients = tuple(group["ns_coefficients"])
        return group["nesterov"], coefficients, group["ns_steps"], group["adjust_lr_fn"]
