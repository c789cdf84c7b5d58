"""SparseAdam: Adam that leaves the rows alone, means and all, of which a batch said nothing."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from funcgrad._base import layouts
from funcgrad._ops.table import Array, Arrays, Operand
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.checks import require
from funcgrad.optim.optimizer import Group, ParamsT
from funcgrad.optim.recorded import RuleOptimizer
from funcgrad.optim.rule import Layout, RuleOp, State, descended, number, numbers


def sparse_adam(
    arrays: Arrays, step: Operand, lr: Operand, beta1: Operand, beta2: Operand, eps: Operand, layout: Layout
) -> tuple[Array, ...]:
    """param -= lr * sqrt(1 - beta2^t) / (1 - beta1^t) * mean / (sqrt(mean of squares) + eps), where grad is not 0."""
    step, lr, beta1, beta2, eps = numbers(step, lr, beta1, beta2, eps)

    def rule(params: list[Array], grads: list[Array], state: State) -> tuple[list[Array], State]:
        rate = number(lr * jnp.sqrt(1 - beta2**step) / (1 - beta1**step))
        touched = [_touched(grad) for grad in grads]

        def mean(old: list[Array], terms: list[Array], beta: Any) -> list[Array]:
            return [jnp.where(t, o + (x - o) * (1 - beta), o) for t, o, x in zip(touched, old, terms, strict=True)]

        means = mean(state["exp_avg"], grads, beta1)
        squares = mean(state["exp_avg_sq"], [grad * grad for grad in grads], beta2)
        each = zip(touched, means, squares, strict=True)
        updates = [jnp.where(t, m / (jnp.sqrt(square) + eps), 0) for t, m, square in each]
        return descended(params, updates, rate), {"exp_avg": means, "exp_avg_sq": squares}

    return layout.update(arrays, rule)


def _touched(grad: Array) -> Array:
    """Return which rows (elements of a vector) have a gradient, in a shape that broadcasts."""
    return (grad != 0).any(axis=tuple(range(1, grad.ndim)), keepdims=True)


class SparseAdam(RuleOptimizer):
    """Adam for tables of which a batch uses a few rows, as `Embedding(sparse=True)` does.

    A row of a gradient that is all zero counts as one that is not stored. Steps are counted by Python, as in torch.
    Source: Kingma and Ba 2014, https://arxiv.org/abs/1412.6980, section 2, for the rows that occur.
    """

    _op = RuleOp(sparse_adam, grad="SparseAdamBackward0")
    _shared = ()
    _is_elementwise = False

    @property
    def skips_where_found_inf(self) -> bool:
        """Never: Python counts the steps, and has to know of one that a GradScaler takes back."""
        return False

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        require(not isinstance(lr, Tensor) or lr.numel() == 1, "Tensor lr must be 1-element")
        require(bool(lr > 0.0), f"Invalid learning rate: {lr}")
        require(eps > 0.0, f"Invalid epsilon value: {eps}")
        for place, beta in enumerate(betas):
            require(0.0 <= beta < 1.0, f"Invalid beta parameter at index {place}: {beta}")
        super().__init__(params, {"lr": lr, "betas": tuple(betas), "eps": eps, "maximize": maximize})

    def add_param_group(self, param_group: Group) -> None:
        """Add a group, as every optimizer does; no parameter itself may be sparse, or complex."""
        super().add_param_group(param_group)
        place, members = len(self.param_groups) - 1, param_group["params"]
        sparse = [[place, i] for i, param in enumerate(members) if param.layout is not layouts.strided]
        require(not sparse, f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        pairs = [[place, i] for i, param in enumerate(members) if param.is_complex()]
        require(not pairs, f"Complex params at indices {pairs}: SparseAdam does not support complex parameters")

    def _parts(self, params: list[Tensor], group: Group) -> list[tuple[list[Tensor], Group]]:
        counts = [int(self.state[param].get("step", 0)) for param in params]
        return [
            ([param for param, own in zip(params, counts, strict=True) if own == count], {**group, "step": count + 1})
            for count in dict.fromkeys(counts)
        ]

    def _make_states(self, params: list[Tensor], states: list[dict[str, Any]], group: Group) -> None:
        for state in states:
            state["step"] = 0
        super()._make_states(params, states, group)

    def _record(self, params: list[Tensor], group: Group, names: list[Tensor], values: list[Any]) -> None:
        super()._record(params, group, names, values)
        for param in params:
            self.state[param]["step"] = group["step"]

    def _gradients(self, params: list[Tensor], group: Group) -> list[Any]:
        if not all(param.grad.is_sparse for param in params):  # type: ignore[union-attr]  # each has one
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return super()._gradients(params, group)

    def _refusal_of_sparse(self, group: Group) -> str:
        return ""

    def _slots(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _numbers(self, group: Group) -> tuple[Any, ...]:
        return group["step"], group["lr"], *group["betas"], group["eps"]
