"""Schedules as tables: the numbers that schedulers would set, step after step, worked out beforehand."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._tensor.interop import from_jax
from funcgrad.func.holding import held
from funcgrad.optim.recorded import RuleOptimizer

Key = tuple[int, int, str, int]  # which optimizer, which of its groups, which option, which entry of it (-1: the whole)


def numbers_of(optimizers: Sequence[Any]) -> dict[Key, float]:
    """Return the numbers that the optimizers' rules are given: rates, momenta, betas, decays."""
    return {
        (i, j, name, place): number
        for i, optimizer in enumerate(optimizers)
        if isinstance(optimizer, RuleOptimizer)
        for j, group in enumerate(optimizer.param_groups)
        for name, place, number in _numbers_of_group(optimizer, group)
    }


def set_number(optimizers: Sequence[Any], key: Key, number: float) -> None:
    """Put a number into its group."""
    i, j, name, place = key
    group = optimizers[i].param_groups[j]
    if place < 0:
        group[name] = number
    else:
        group[name] = (*group[name][:place], number, *group[name][place + 1 :])


class _Noting(dict[str, Any]):
    """A group that notes which options are read."""

    def __init__(self, group: dict[str, Any]) -> None:
        super().__init__(group)
        self.read: list[str] = []

    def __getitem__(self, name: str) -> Any:
        self.read.append(name)
        return super().__getitem__(name)


def _numbers_of_group(optimizer: RuleOptimizer, group: dict[str, Any]) -> list[tuple[str, int, float]]:
    noting = _Noting(group)
    given = optimizer._numbers(noting)
    named: list[tuple[str, int, Any]] = []
    for name in dict.fromkeys(noting.read):
        value = group[name]
        named += [(name, k, x) for k, x in enumerate(value)] if isinstance(value, tuple) else [(name, -1, value)]
    if [x for *_, x in named] != list(given):
        return []
    return [(name, k, float(x)) for name, k, x in named if isinstance(x, (int, float))]


@contextmanager
def numbers_from(optimizers: Sequence[Any], present: dict[Key, Any]) -> Iterator[None]:
    """Give the rules, inside, the arrays in `present` for their numbers."""
    changed = [i for i in range(len(optimizers)) if any(key[0] == i for key in present)]
    for i in changed:
        optimizers[i].given_numbers = _giving(i, optimizers[i], present)
    try:
        yield
    finally:
        for i in changed:
            optimizers[i].given_numbers = None


def _giving(i: int, optimizer: RuleOptimizer, present: dict[Key, Any]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    def numbers(group: dict[str, Any]) -> tuple[Any, ...]:
        j = next(k for k, one in enumerate(optimizer.param_groups) if one is group)
        keys = [(i, j, name, place) for name, place, _ in _numbers_of_group(optimizer, group)]
        return tuple(from_jax(present[key]) for key in keys)

    return numbers


class Schedule:
    """The numbers that change, a row for each step from now on; after the last row they stay."""

    __slots__ = ("table",)

    def __init__(self, optimizers: Sequence[Any], order: Sequence[Any], horizon: int) -> None:
        """order: the schedulers in the order in which one training step calls them."""
        rows = [numbers_of(optimizers)]
        if order:
            with held(optimizers, order), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows += _rows_to_come(optimizers, order, horizon)
        self.table = {
            key: column for key in rows[0] if len(set(column := np.array([row[key] for row in rows]).tolist())) > 1
        }

    def at(self, steps: Any) -> dict[Key, jax.Array]:
        """Return the numbers that change as they are after `steps` training steps, traced or not."""
        place = jnp.asarray(steps)
        return {
            key: jnp.asarray(np.array(column))[jnp.minimum(place, len(column) - 1)]
            for key, column in self.table.items()
        }


def _rows_to_come(optimizers: Sequence[Any], order: Sequence[Any], horizon: int) -> Iterator[dict[Key, float]]:
    """Yield the numbers after each of `horizon` steps of the schedulers, or up to where a schedule ends."""
    for optimizer in optimizers:
        optimizer._opt_called = True
    for _ in range(horizon):
        try:
            for scheduler in order:
                scheduler.step()
        except ValueError:  # the schedule is at its end
            return
        yield numbers_of(optimizers)


@contextmanager
def counted_calls(schedulers: Sequence[Any], calls: list[Any]) -> Iterator[None]:
    """Note inside which schedulers are stepped, instead of stepping them; a metric given to one must be a number."""
    for scheduler in schedulers:
        scheduler.step = _noting_step(scheduler, calls)
    try:
        yield
    finally:
        for scheduler in schedulers:
            del scheduler.step


def _noting_step(scheduler: Any, calls: list[Any]) -> Any:
    def step(*given: Any) -> None:
        for metric in given:
            float(metric)
        calls.append(scheduler)

    return step
