"""What optimizers refuse of their arguments and of loaded states, in torch's words."""

from __future__ import annotations

import math
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import optim


def _weight() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


@pytest.mark.parametrize("lr", ["0.1", None])
def test_a_rate_that_is_no_number_is_refused_by_its_comparison_with_zero(lr: Any) -> None:
    with pytest.raises(TypeError, match=f"^'<=' not supported between instances of 'float' and '{type(lr).__name__}'$"):
        optim.Adam([_weight()], lr=lr)


def test_sgd_takes_a_rate_that_is_not_a_number() -> None:
    assert math.isnan(optim.SGD([_weight()], lr=float("nan")).param_groups[0]["lr"])


def test_foreach_refuses_tensors_for_numbers() -> None:
    with pytest.raises(ValueError, match=r"^lr as a Tensor is not supported for capturable=False and foreach=True$"):
        optim.Adam([_weight()], lr=torch.tensor(0.1), foreach=True)
    betas = torch.tensor(0.9), torch.tensor(0.99)
    with pytest.raises(ValueError, match=r"^betas\[0\] as a Tensor is not supported for capturable=False and foreach"):
        optim.Adam([_weight()], betas=betas, foreach=True)


def test_a_state_of_another_optimizer_lacks_options_of_this_one() -> None:
    weight = _weight()
    sgd = optim.SGD([weight], lr=0.1, momentum=0.9)
    sgd.load_state_dict(optim.Adam([weight]).state_dict())
    assert "momentum" not in sgd.param_groups[0]
    assert sgd.param_groups[0]["nesterov"] is False
    weight.sum().backward()
    with pytest.raises(KeyError, match=r"^'momentum'$"):
        sgd.step()


def test_options_that_older_files_lack_are_those_that_are_off() -> None:
    weight = _weight()
    rmsprop = optim.RMSprop([weight])
    state = rmsprop.state_dict()
    state["param_groups"] = [{"params": [0], "lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0}]
    rmsprop.load_state_dict(state)
    weight.sum().backward()
    rmsprop.step()
    assert rmsprop.param_groups[0]["momentum"] == 0
    assert rmsprop.param_groups[0]["centered"] is False
