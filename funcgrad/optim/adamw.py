"""AdamW: Adam whose weight decay shrinks the parameters instead of joining the gradient."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.adam import Adam
from funcgrad.optim.on_lists import adamw as adamw
from funcgrad.optim.optimizer import ParamsT


class AdamW(Adam):
    """Adam with decoupled weight decay: param *= 1 - lr * weight_decay before each step.

    Source: Loshchilov and Hutter 2017, https://arxiv.org/abs/1711.05101.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # of what Adam saved
            group["decoupled_weight_decay"] = True
