"""Learning rates over epochs are torch's; checkpoints, warnings and schedules of one's own work."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.optim import lr_scheduler
from tests.optim import cases
from tests.optim.running import parameter, recorded

RECORDED = recorded("schedules")


def two_groups() -> Any:
    groups = [{"params": [parameter([0.0])]}, {"params": [parameter([0.0])], "lr": 0.5}]
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9)


@pytest.mark.parametrize("name", list(cases.SCHEDULES))
def test_rates_equal_torch(name: str) -> None:
    found = cases.schedule(cases.SCHEDULES[name], lr_scheduler, two_groups())
    np.testing.assert_allclose(found, RECORDED["schedules"][name], rtol=1e-13, atol=1e-18)


@pytest.mark.parametrize("name", list(cases.PLATEAUS))
def test_plateaus_equal_torch(name: str) -> None:
    found = cases.plateau(lr_scheduler, two_groups(), cases.PLATEAUS[name])
    np.testing.assert_allclose(found, RECORDED["plateaus"][name], rtol=1e-13)


def test_half_a_cosine_is_rounded_in_torchs_order() -> None:
    lowest, bases, optimizer = 0.013, [0.23, 0.037], two_groups()
    for group, base in zip(optimizer.param_groups, bases, strict=True):
        group["lr"] = base
    restarts = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 9, eta_min=lowest)
    for epoch in range(9):
        assert restarts.get_last_lr() == [
            lowest + (base - lowest) * (1 + math.cos(math.pi * epoch / 9)) / 2 for base in bases
        ]
        optimizer.step()
        restarts.step()


def test_plateaus_tell_the_epoch_in_which_they_make_rates_smaller() -> None:
    class Noting(lr_scheduler.ReduceLROnPlateau):
        def _reduce_lr(self, epoch: int) -> None:
            super()._reduce_lr(epoch)
            noted.append(epoch)

    noted: list[int] = []
    scheduler = Noting(two_groups(), patience=1)
    for _ in range(6):
        scheduler.step(1.0)
    assert noted == [3, 5]


def test_states_end_with_what_they_keep_a_part_of() -> None:
    made = {
        "lr_lambdas": lr_scheduler.LambdaLR(two_groups(), lambda epoch: 0.5**epoch),
        "_schedulers": lr_scheduler.ChainedScheduler([lr_scheduler.ExponentialLR(two_groups(), 0.9)]),
        "_scale_fn_custom": lr_scheduler.CyclicLR(two_groups(), 0.1, 0.5),
    }
    assert {name: list(scheduler.state_dict())[-1] for name, scheduler in made.items()} == {name: name for name in made}


@pytest.mark.parametrize("name", list(cases.SCHEDULES))
def test_a_checkpoint_goes_on_where_it_was(name: str) -> None:
    optimizer = two_groups()
    scheduler = cases.SCHEDULES[name](lr_scheduler, optimizer)
    for _ in range(6):
        optimizer.step()
        scheduler.step()
    saved = copy.deepcopy((optimizer.state_dict(), scheduler.state_dict()))
    again = two_groups()
    resumed = cases.SCHEDULES[name](lr_scheduler, again)
    again.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    for _ in range(6):
        for one, schedule in ((optimizer, scheduler), (again, resumed)):
            one.step()
            schedule.step()
        assert resumed.get_last_lr() == scheduler.get_last_lr()
    assert "optimizer" not in saved[1]


def test_a_schedule_of_ones_own_needs_get_lr_only() -> None:
    class Warmup(lr_scheduler._LRScheduler):
        def __init__(self, optimizer: Any, steps: int) -> None:
            self.steps = steps
            super().__init__(optimizer)

        def get_lr(self) -> list[float]:
            assert self._get_lr_called_within_step
            return [base * min(1.0, (self.last_epoch + 1) / self.steps) for base in self.base_lrs]

    optimizer = two_groups()
    scheduler = Warmup(optimizer, 4)
    rates = []
    for _ in range(5):
        optimizer.step()
        rates.append(scheduler.get_last_lr()[0])
        scheduler.step()
    np.testing.assert_allclose(rates, [0.025, 0.05, 0.075, 0.1, 0.1])
    assert set(scheduler.state_dict()) >= {"steps", "base_lrs", "last_epoch", "_step_count", "_last_lr"}


def test_the_wrong_order_warns_once() -> None:
    scheduler = lr_scheduler.StepLR(two_groups(), 2)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step\\(\\)` before `optimizer.step\\(\\)`"):
        scheduler.step()
    scheduler.step()


def test_the_right_order_does_not_warn() -> None:
    optimizer = two_groups()
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        scheduler.step()


def test_steps_before_the_scheduler_was_made_do_not_count() -> None:
    optimizer = two_groups()
    optimizer.step()
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    with pytest.warns(UserWarning, match="Detected call"):
        scheduler.step()


def test_a_replaced_step_warns() -> None:
    optimizer = two_groups()
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden"):
        scheduler.step()


def test_an_epoch_given_to_step_warns_and_uses_the_closed_form() -> None:
    optimizer = two_groups()
    scheduler = lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    optimizer.step()
    with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step\\(\\)`"):
        scheduler.step(5)
    assert scheduler.get_last_lr() == [0.1 * 0.25, 0.5 * 0.25]


def test_get_lr_outside_of_step_warns() -> None:
    scheduler = lr_scheduler.StepLR(two_groups(), 2)
    with pytest.warns(UserWarning, match="please use `get_last_lr\\(\\)`"):
        scheduler.get_lr()


def test_a_step_of_ones_own_may_ask_for_rates_without_a_warning() -> None:
    scheduler = lr_scheduler.StepLR(two_groups(), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with lr_scheduler._enable_get_lr_call(scheduler) as same:
            assert same is scheduler and scheduler.get_lr() == scheduler.get_last_lr()
    assert not scheduler._get_lr_called_within_step


def test_a_rate_that_is_a_tensor_is_changed_in_place() -> None:
    rate = torch.tensor(0.5)
    optimizer = torch.optim.SGD([parameter([1.0])], lr=rate)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.25
    assert optimizer.param_groups[0]["initial_lr"].item() == 0.5


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda s, o: s.StepLR(None, 2), TypeError, "NoneType is not an Optimizer"),
        (lambda s, o: s.LambdaLR(o, [cases.half]), ValueError, "Expected 2 lr_lambdas, but got 1"),
        (lambda s, o: s.ConstantLR(o, 2.0), ValueError, "expected to be between 0 and 1"),
        (lambda s, o: s.LinearLR(o, 0.0), ValueError, "greater than 0 and less or equal to 1"),
        (lambda s, o: s.OneCycleLR(o, 0.1), ValueError, "You must define either total_steps OR"),
        (lambda s, o: s.CyclicLR(o, [0.1], 0.2), ValueError, "base_lr must have the same length"),
        (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0."),
        (lambda s, o: s.ReduceLROnPlateau(o, mode="low"), ValueError, "mode low is unknown!"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), ValueError, "Expected positive integer T_0, but got 0"),
        (lambda s, o: s.StepLR(o, 2, last_epoch=3), KeyError, "param 'initial_lr' is not specified in param_groups"),
        (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2)], [3]), ValueError, "one more than the number of milestone"),
        (lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]), ValueError, "does not support `ReduceLROnPlateau`"),
    ],
)
def test_mistakes_are_named(build: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        build(lr_scheduler, two_groups())


def test_one_cycle_says_when_it_is_over() -> None:
    optimizer = two_groups()
    scheduler = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=2)
    optimizer.step()
    scheduler.step()
    scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 3 times"):
        scheduler.step()


def test_a_multiplicative_schedule_is_no_lambda_schedule() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    schedule = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    assert not isinstance(schedule, torch.optim.lr_scheduler.LambdaLR)
    assert schedule.state_dict()["lr_lambdas"] == [None]
