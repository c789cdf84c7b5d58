"""Cosine annealing: down to a smallest rate along half a cosine, once, back and forth, or with restarts."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.optim.lr_scheduler.scheduler import LRScheduler, Rate
from funcgrad.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """eta_min + (initial rate - eta_min) * (1 + cos(pi * epoch / T_max)) / 2, computed from one epoch to the next.

    Source: Loshchilov and Hutter 2016, https://arxiv.org/abs/1608.03983, without its restarts.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        if self._is_initial:
            return self._present()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # from the bottom there is no way up by a factor
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [g["lr"] + (base - self.eta_min) * rise for base, g in zip(self.base_lrs, groups, strict=True)]
        now, before = (1 + math.cos(math.pi * t / self.T_max) for t in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self) -> list[Rate]:
        return _between(self.eta_min, self.base_lrs, self.last_epoch, self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine of T_0 epochs, then another, each T_mult times as long as the one before.

    Source: Loshchilov and Hutter 2016, https://arxiv.org/abs/1608.03983.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:  # fmt: skip
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: Any = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present place in the cosine."""
        self._warn_outside_step()
        return _between(self.eta_min, self.base_lrs, self.T_cur, self.T_i)

    def step(self, epoch: float | None = None) -> None:
        """Go on by one, or to `epoch`, which may lie between two: epoch + batch / batches."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**restarts


def _between(lowest: float, rates: list[Rate], epoch: float, whole: int) -> list[Rate]:
    """Return where half a cosine of `whole` epochs is, rounded in torch's order: scripts compare all digits."""
    return [lowest + (rate - lowest) * (1 + math.cos(math.pi * epoch / whole)) / 2 for rate in rates]
