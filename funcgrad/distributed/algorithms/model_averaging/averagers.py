"""When parameters become the mean of all processes' parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from funcgrad._base.warning import warn
from funcgrad.distributed.algorithms.model_averaging.parameters import average_parameters_or_parameter_groups
from funcgrad.distributed.groups import members


class ModelAverager(ABC):
    """What takes means of parameters over a process group, None for all processes; `step` counts its calls."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = members(process_group)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Replace parameters by their means, at times."""


class PeriodicModelAverager(ModelAverager):
    """Take the mean at every `period`-th call after `warmup_steps`. ValueError for numbers that make no sense."""

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warn(
                "When period is 1, no need to use model averaging because the communication cost of all-reducing "
                "parameters will be no less than the cost of all-reducing gradients by DistributedDataParallel in the "
                "backward pass. Therefore, only DistributedDataParallel should be used for this case."
            )
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Replace parameters with gradients, of a model or of an optimizer's groups, by their means if it is time."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1


__all__ = ["ModelAverager", "PeriodicModelAverager"]
