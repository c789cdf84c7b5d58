"""torch.optim.lr_scheduler: learning rates that change from step to step. Numbers only; no program is compiled anew."""

from __future__ import annotations

from funcgrad.optim.lr_scheduler.chainable import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from funcgrad.optim.lr_scheduler.composed import ChainedScheduler, SequentialLR
from funcgrad.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from funcgrad.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from funcgrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from funcgrad.optim.lr_scheduler.scheduler import (
    EPOCH_DEPRECATION_WARNING,
    LRScheduler,
    _enable_get_lr_call,
    _LRScheduler,
)

__all__ = [
    "EPOCH_DEPRECATION_WARNING", "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR",
    "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR", "_LRScheduler", "_enable_get_lr_call",
]  # fmt: skip
