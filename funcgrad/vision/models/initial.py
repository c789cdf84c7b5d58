"""Initial values that several models share."""

from __future__ import annotations

from typing import Any

from funcgrad import nn


def fill(module: Any, weight: float, bias: float) -> None:
    """Fill a layer's weight with one number, and its bias with another."""
    nn.init.constant_(module.weight, weight)
    nn.init.constant_(module.bias, bias)


def kaiming(model: nn.Module, linear_std: float | None = None) -> None:
    """Fill convolutions by fan-out, norms with 1 and 0, and, where a deviation is given, linear layers."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
            fill(module, 1, 0)
        elif isinstance(module, nn.Linear) and linear_std is not None:
            nn.init.normal_(module.weight, 0, linear_std)
            nn.init.zeros_(module.bias)
