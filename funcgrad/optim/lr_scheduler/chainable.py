"""Schedules that multiply the present rate: steps, lines, powers, and functions of the user's own."""

from __future__ import annotations

import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from funcgrad.optim.lr_scheduler.scheduler import LRScheduler, Rate, without
from funcgrad.optim.optimizer import Optimizer

Factor = Callable[[int], float]


class _OfFunctions(LRScheduler):
    """Holds a function for each group: one for all of them, or a list of one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        self.lr_lambdas = _functions(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the state; of the functions only what callable objects hold, for plain ones None."""
        held = [held_by(function) for function in self.lr_lambdas]
        return {**without(super().state_dict(), "lr_lambdas"), "lr_lambdas": held}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; the functions stay."""
        super().load_state_dict(without(state_dict, "lr_lambdas"))
        for function, held in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if held is not None:
                function.__dict__.update(held)


class LambdaLR(_OfFunctions):
    """initial rate * lr_lambda(epoch); one function for all groups, or a list of one for each."""

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        return [base * factor(self.last_epoch) for factor, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_OfFunctions):
    """present rate * lr_lambda(epoch)."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1) -> None:
        for function in _functions(optimizer, lr_lambda):
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        if self._is_initial:
            return self._present()
        groups = self.optimizer.param_groups
        return [group["lr"] * factor(self.last_epoch) for factor, group in zip(self.lr_lambdas, groups, strict=True)]


class StepLR(LRScheduler):
    """Multiply by gamma every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self._scaled(self.gamma) if due else self._present()

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply by gamma at each of the milestones."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        times = self.milestones[self.last_epoch]
        return self._scaled(self.gamma**times) if times else self._present()

    def _get_closed_form_lr(self) -> list[Rate]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """initial rate * factor, up to epoch `total_iters`; then the initial rate."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        return self._scaled(1.0 / self.factor) if self.last_epoch == self.total_iters else self._present()

    def _get_closed_form_lr(self) -> list[Rate]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """A straight line from initial rate * start_factor to initial rate * end_factor in `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._present()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / before)

    def _get_closed_form_lr(self) -> list[Rate]:
        rise = (self.end_factor - self.start_factor) * min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + rise) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply by gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        return self._present() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """initial rate * (1 - epoch / total_iters) ** power; 0 from then on."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._present()
        now, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return self._scaled((now / before) ** self.power)

    def _get_closed_form_lr(self) -> list[Rate]:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (1.0 - done) ** self.power for base in self.base_lrs]


def held_by(function: Any) -> dict[str, Any] | None:
    """Return what a callable object holds; None for a plain function, which cannot be saved."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()


def _functions(optimizer: Optimizer, given: Any) -> list[Any]:
    if not isinstance(given, (list, tuple)):
        return [given] * len(optimizer.param_groups)
    if len(given) != len(optimizer.param_groups):
        raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(given)}")
    return list(given)
