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


RULES: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9}, "Adam": {"amsgrad": True}, "AdamW": {}, "Adadelta": {}, "Adagrad": {}, "Adamax": {},
    "ASGD": {}, "NAdam": {}, "RAdam": {}, "RMSprop": {"centered": True, "momentum": 0.9}, "Muon": {},
}  # fmt: skip
_SIZES = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"
_STRETCHED = "output with shape {} doesn't match the broadcast shape {}"


def _step(optimizer: optim.Optimizer, weight: torch.Tensor) -> None:
    optimizer.zero_grad()
    (weight**2).sum().backward()
    optimizer.step()


def _given_the_state_of(shape: tuple[int, ...], own: tuple[int, ...], rule: str, **options: Any) -> str:
    """Return what a step says to the state of a parameter of another shape; nothing of the step may be done."""
    other, weight = torch.ones(shape, requires_grad=True), torch.ones(own, requires_grad=True)
    trained, optimizer = (getattr(optim, rule)([one], lr=0.1, **options) for one in (other, weight))
    _step(trained, other)
    optimizer.load_state_dict(trained.state_dict())
    with pytest.raises(RuntimeError) as refused:
        _step(optimizer, weight)
    assert weight.tolist() == torch.ones(own).tolist()
    return str(refused.value)


@pytest.mark.parametrize("rule", RULES)
def test_a_state_of_a_parameter_of_another_shape_is_refused_by_the_step(rule: str) -> None:
    options = RULES[rule]
    assert _given_the_state_of((3, 4), (3, 5), rule, **options) == _SIZES.format(4, 5, 1)
    assert _given_the_state_of((3, 1), (3, 4), rule, **options) == _STRETCHED.format([3, 1], [3, 4])
    assert _given_the_state_of((3, 4), (3, 1), rule, **options) == _STRETCHED.format([3, 1], [3, 4])


def test_states_of_which_a_rule_reads_the_gradient_first_or_that_are_of_rows_are_refused_too() -> None:
    assert _given_the_state_of((3, 4), (3, 5), "Rprop") == _SIZES.format(5, 4, 1)
    assert _given_the_state_of((3, 4), (3, 5), "Adafactor") == _SIZES.format(4, 5, 1)
    assert _given_the_state_of((3, 1), (3, 4), "Adafactor") == _STRETCHED.format([1, 1], [1, 4])


def test_small_and_large_states_among_others_are_refused_too() -> None:
    def parameters(width: int) -> list[torch.Tensor]:
        return [torch.ones(n, requires_grad=True) for n in (3, 4, width, 3000)]

    first, second = parameters(5), parameters(6)
    trained, optimizer = optim.Adam(first), optim.Adam(second)
    torch.cat(first).sum().backward()
    trained.step()
    optimizer.load_state_dict(trained.state_dict())
    torch.cat(second).sum().backward()
    with pytest.raises(RuntimeError, match=r"^The size of tensor a \(5\) must match the size of tensor b \(6\) at"):
        optimizer.step()


def test_a_parameter_that_was_cut_is_refused_by_the_next_step() -> None:
    weight = torch.ones(4, 3, requires_grad=True)
    optimizer = optim.Adam([weight])
    _step(optimizer, weight)
    weight.data = weight.data[:2]
    weight.grad = None
    with pytest.raises(RuntimeError, match=r"^The size of tensor a \(4\) must match the size of tensor b \(2\) at"):
        _step(optimizer, weight)
