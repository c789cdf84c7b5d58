"""Schedules that go up and down: CyclicLR over and over, OneCycleLR once; momentum goes the other way."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from funcgrad.optim.lr_scheduler.chainable import held_by
from funcgrad.optim.lr_scheduler.scheduler import (
    LRScheduler,
    Rate,
    per_group,
    require_optimizer,
    set_value,
    without,
)
from funcgrad.optim.optimizer import Group, Optimizer

Scale = Callable[[float], float]


class _WithMomentum(LRScheduler):
    """Contract: `_start_momentum` comes before `LRScheduler.__init__`. Gift: `_set_momentum`, "momentum" or "betas"."""

    cycle_momentum: bool
    use_beta1: bool

    def _start_momentum(self, base: Any, largest: Any, last_epoch: int) -> tuple[list[float], list[float]]:
        """Put each group's momentum at its largest, where the rate is at its smallest."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        bases, largests = per_group("base_momentum", optimizer, base), per_group("max_momentum", optimizer, largest)
        if last_epoch == -1:
            for low, high, group in zip(bases, largests, optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return bases, largests

    def _set_momentum(self, group: Group, momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """From base_lr up to max_lr and back, over and over; `mode` says how the height changes from cycle to cycle.

    Source: Smith 2015, https://arxiv.org/abs/1506.01186.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Scale | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = require_optimizer(optimizer)
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self.scale_mode = mode, gamma, scale_mode
        self._scale_fn_custom = scale_fn
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._start_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        self._scale_fn_ref = {"triangular": _same, "triangular2": _halved}.get(self.mode) or partial(pow, self.gamma)
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"

    def scale_fn(self, x: float) -> float:
        """Return the height of cycle (or iteration) `x`, as part of the first one's."""
        return self._scale_fn_ref(x) if self._scale_fn_custom is None else self._scale_fn_custom(x)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present iteration, and set momentum."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in bounds:
                self._set_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Return the state; of a custom `scale_fn` only what a callable object holds."""
        state = without(super().state_dict(), "_scale_fn_ref", "_scale_fn_custom")
        custom = self._scale_fn_custom
        return {**state, "_scale_fn_custom": None if custom is None else held_by(custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; a custom `scale_fn` stays."""
        super().load_state_dict(without(state_dict, "_scale_fn_custom"))
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
        self._init_scale_fn()


class OneCycleLR(_WithMomentum):
    """From max_lr / div_factor up to max_lr and down to a small part of where it began, in `total_steps` steps, once.

    Source: Smith and Topin 2017, https://arxiv.org/abs/1708.07120. Raises ValueError when stepped further.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = require_optimizer(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present step, and set momentum."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        begin = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                break
            begin = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        done = (step - begin) / (phase["end_step"] - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], done))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._anneal(*ends, done))
        return rates

    def _anneal(self, start: Any, end: Any, done: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * done + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)


def _same(x: float) -> float:
    return 1.0


def _halved(x: float) -> float:
    return 1 / 2.0 ** (x - 1)


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        return _positive(total_steps, "total_steps")
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive(epochs, "epochs") * _positive(steps_per_epoch, "steps_per_epoch")


def _positive(number: Any, name: str) -> int:
    if not isinstance(number, int) or number <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {number}")
    return number


def _phases(total: int, up: float, three: bool) -> list[dict[str, Any]]:
    """Return where each phase ends, and between which of a group's entries it goes."""
    turns = [(float(up * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three:
        turns.append((float(2 * up * total) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        turns.append((total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        turns.append((total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, turn, strict=True)) for turn in turns]
