"""Averages of weights over training are means, exponential or equal; schedules and batch norm follow."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._program.counters import counted
from funcgrad.optim import swa_utils
from tests.optim import cases
from tests.optim.running import recorded
from tests.optim.test_schedules import two_groups


def model_with(number: float) -> Any:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    with torch.no_grad():
        for tensor in (*model.parameters(), model[1].running_mean):
            tensor.fill_(number)
    return model


def set_to(model: Any, number: float) -> None:
    model.load_state_dict(model_with(number).state_dict())


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, (1 + 2 + 6) / 3),
        ({"avg_fn": swa_utils.get_swa_avg_fn()}, (1 + 2 + 6) / 3),
        ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, (1 + 2 + 6) / 3),
        ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, (1 * 0.75 + 2 * 0.25) * 0.75 + 6 * 0.25),
        ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}, (1 * 0.75 + 2 * 0.25) * 0.75 + 6 * 0.25),
        ({"avg_fn": lambda average, new, count: average + new * count}, 1 + 2 * 1 + 6 * 2),
    ],
)
def test_averages(options: dict[str, Any], wanted: float) -> None:
    model = model_with(0.0)
    averaged = swa_utils.AveragedModel(model, **options)
    for number in (1.0, 2.0, 6.0):
        set_to(model, number)
        averaged.update_parameters(model)
    for param in averaged.parameters():
        np.testing.assert_allclose(param.detach().numpy(), wanted, rtol=1e-6)
    assert averaged.module[1].running_mean.tolist() == [6.0, 6.0]
    assert averaged.n_averaged.item() == 3


def test_buffers_are_averaged_on_request() -> None:
    model = model_with(0.0)
    averaged = swa_utils.AveragedModel(model, use_buffers=True)
    for number in (1.0, 2.0):
        set_to(model, number)
        averaged.update_parameters(model)
    assert averaged.module[1].running_mean.tolist() == [1.5, 1.5]


def test_the_plain_average_compiles_once_and_waits_for_nothing() -> None:
    model = model_with(1.0)
    averaged = swa_utils.AveragedModel(model)
    set_to(model, 2.0)  # a copy shares its arrays with the model until one of them is changed
    averaged.update_parameters(model)
    averaged.update_parameters(model)
    with counted() as seen:
        for _ in range(3):
            averaged.update_parameters(model)
    assert (seen.compiles, seen.runs) == (0, 3)


def test_it_is_a_module_like_its_model() -> None:
    model = nn.Linear(3, 2)
    averaged = swa_utils.AveragedModel(model)
    assert isinstance(averaged, nn.Module)
    assert isinstance(averaged, swa_utils.AveragedModel)
    assert list(averaged.state_dict()) == ["n_averaged", "module.weight", "module.bias"]
    x = torch.ones(1, 3)
    assert averaged(x).tolist() == model(x).tolist()
    again = copy.deepcopy(averaged)
    again.load_state_dict(averaged.state_dict())
    assert again.module.weight is not averaged.module.weight


def test_a_subclass_may_have_arguments_of_its_own() -> None:
    class ExponentialMovingAverage(swa_utils.AveragedModel):
        def __init__(self, model: Any, decay: float) -> None:
            super().__init__(model, None, swa_utils.get_ema_avg_fn(decay), use_buffers=True)

    averaged = ExponentialMovingAverage(nn.Linear(1, 1), 0.5)
    assert isinstance(averaged, ExponentialMovingAverage)
    assert isinstance(averaged, nn.Module)


def test_update_bn_takes_the_mean_over_all_batches() -> None:
    model = nn.BatchNorm1d(2)
    batches = [torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]])]
    model.eval()
    swa_utils.update_bn([(batch, "label") for batch in batches], model)
    np.testing.assert_allclose(model.running_mean.numpy(), [4.0, 5.0], rtol=1e-6)
    assert model.momentum == 0.1
    assert not model.training


@pytest.mark.parametrize("name", list(cases.SWA_SCHEDULES))
def test_rates_equal_torch(name: str) -> None:
    found = cases.schedule(cases.SWA_SCHEDULES[name], swa_utils, two_groups())
    np.testing.assert_allclose(found, recorded("schedules")["swa"][name], rtol=1e-13)


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="Invalid decay value 2"):
        swa_utils.get_ema_avg_fn(2)
    with pytest.raises(ValueError, match="anneal_strategy must be one of 'cos' or 'linear'"):
        swa_utils.SWALR(two_groups(), 0.1, anneal_strategy="step")
    with pytest.raises(ValueError, match="anneal_epochs must be equal or greater than 0"):
        swa_utils.SWALR(two_groups(), 0.1, anneal_epochs=-1)


def test_averages_are_pickled_with_their_count() -> None:
    averaged = swa_utils.AveragedModel(model_with(1.0))
    averaged.update_parameters(model_with(3.0))
    found = pickle.loads(pickle.dumps(averaged))
    assert isinstance(found, swa_utils.AveragedModel) and isinstance(found, nn.Module)
    assert found.n_averaged == 1 and torch.equal(found.module[0].weight, torch.full((2, 2), 3.0))


def test_the_moving_average_of_a_count_is_cut_off_once_it_is_computed() -> None:
    averages, counts = [torch.tensor(0), torch.tensor(7)], [torch.tensor(10), torch.tensor(7)]
    swa_utils.get_ema_multi_avg_fn(0.9)(averages, counts, 1)
    assert [average.item() for average in averages] == [1, 6]  # 6.9999995, as in torch
