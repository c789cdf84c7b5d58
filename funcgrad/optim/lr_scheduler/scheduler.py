"""LRScheduler: what all schedules of learning rates share.

Contract: a subclass writes `get_lr`, the rates for the present `last_epoch`, in terms of the groups' present "lr", and
where it can `_get_closed_form_lr`, the same in terms of `base_lrs`. Gift: stepping, checkpoints and warnings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.optimizer import Group, Optimizer

Rate = Any  # float, or a one-element Tensor

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_HOW_TO = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    f"to call `optimizer.step()` before `lr_scheduler.step()`. {_HOW_TO}"
)
_WRONG_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
    "do this will result in PyTorch skipping the first value of the learning rate schedule. " + _HOW_TO
)


class LRScheduler:
    """Sets the "lr" of an optimizer's groups, once at the start and at each `step`.

    last_epoch: -1 to start; else where to go on, with "initial_lr" in each group.
    """

    optimizer: Optimizer
    last_epoch: int
    base_lrs: list[Rate]
    _last_lr: list[Rate]
    _step_count: int
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = require_optimizer(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    "run (not recommended)"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        if optimizer._opt_called is None:
            optimizer._opt_called = False
        self._initial_step()

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch; a subclass writes it."""
        raise NotImplementedError(f"{type(self).__name__} does not say which rates it sets: write its `get_lr` method")

    def get_last_lr(self) -> list[Rate]:
        """Return the rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch (or to `epoch`) and set its rates."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return all that this schedule keeps, but for the optimizer."""
        return without(self.__dict__, "optimizer")

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "hooked"):
            warnings.warn(_OVERRIDDEN, UserWarning, stacklevel=3)
        elif not self.optimizer._opt_called:
            warnings.warn(_WRONG_ORDER, UserWarning, stacklevel=3)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set(self.get_lr if epoch is None else getattr(self, "_get_closed_form_lr", self.get_lr))

    def _set(self, rule: Callable[[], list[Rate]]) -> None:
        """Set what a rule says; inside, it can tell that it is `step` that asks."""
        with _enable_get_lr_call(self):
            rates = rule()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", rate)
        self._last_lr = values_of(self.optimizer, "lr")

    def _present(self) -> list[Rate]:
        return values_of(self.optimizer, "lr")

    def _scaled(self, factor: Any) -> list[Rate]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


@contextmanager
def _enable_get_lr_call(o: LRScheduler) -> Iterator[LRScheduler]:
    """Let `get_lr` of a schedule know that it is asked by a step: it does not warn inside."""
    o._get_lr_called_within_step = True
    try:
        yield o
    finally:
        o._get_lr_called_within_step = False


class _LRScheduler(LRScheduler):
    """The name that LRScheduler had before torch 2.0."""


def require_optimizer(optimizer: Any) -> Optimizer:
    """Return the optimizer, or raise TypeError for what is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def without(state: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a state but for what has these names."""
    return {name: kept for name, kept in state.items() if name not in names}


def copied(value: Any) -> Any:
    """Return a number as it is, a Tensor as one that later changes do not reach."""
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    """Return an option of each group."""
    return [copied(group[name]) for group in optimizer.param_groups]


def set_value(group: Group, name: str, value: Any) -> None:
    """Set an option of a group; where it is a Tensor, its number."""
    if isinstance(group[name], Tensor):
        group[name].fill_(value)
    else:
        group[name] = value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a value for each group, given one for all or a list. Raises ValueError for a list of another length."""
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in optimizer.param_groups]
    if len(value) != len(optimizer.param_groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {len(optimizer.param_groups)}."
        )
    return [copied(one) for one in value]


def warn_of_epoch() -> None:
    """Say that `step(epoch)` is deprecated."""
    warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=3)
