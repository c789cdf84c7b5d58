"""The loss that has its own linear layer."""

from __future__ import annotations

import math
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.linear import Linear
from funcgrad.nn.linear_cross_entropy import LinearCrossEntropyOptions, linear_cross_entropy
from funcgrad.nn.loss import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """CrossEntropyLoss of a linear layer's scores for `num_classes` classes at each of `out_features` positions."""

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
        device: Any = None, dtype: Any = None, reduction: str = "mean", weight: Tensor | None = None,
        ignore_index: int | None = None, label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:  # fmt: skip
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        scores = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, scores, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss. Shape: input (in,) or (N, in), target () or (N, *) of classes, result () or (N, *)."""
        shape, linear = (self.num_classes, *self.out_features), self.linear
        return linear_cross_entropy(
            input, linear.weight.reshape(*shape, linear.in_features), target,
            linear_bias=None if linear.bias is None else linear.bias.reshape(shape), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
            options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return what stands in the parentheses of repr."""
        names = ("num_classes", "out_features", "reduction", "ignore_index", "label_smoothing", "options")
        shown = {name: getattr(self, name) for name in names}
        bias = self.linear.bias is not None
        shown = {"in_features": self.linear.in_features, **dict(list(shown.items())[:2]), "bias": bias, **shown}
        return ", ".join(f"{name}={value}" for name, value in shown.items())
