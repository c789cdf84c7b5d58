"""explain.check names ten planted faults, each with its line, and finds nothing wrong with a step that is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import explain, nn

Made = tuple[Callable[[], Any], str, str]


def parts(*, frozen: bool = False) -> tuple[nn.Sequential, torch.optim.Optimizer, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
    model[0].requires_grad_(not frozen)
    return model, torch.optim.SGD(model.parameters(), lr=0.01), torch.randn(16, 4), torch.randn(16, 1)


def forgotten_zero_grad() -> Made:
    model, optimizer, x, y = parts()

    def step() -> None:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return step, "forgotten zero_grad", "nn.functional.mse_loss(model(x), y).backward()"


def state_not_detached() -> Made:
    cell, x = nn.GRUCell(4, 8), torch.randn(16, 4)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)
    carried = {"state": torch.zeros(16, 8)}

    def step() -> None:
        optimizer.zero_grad()
        carried["state"] = cell(x, carried["state"])
        carried["state"].sum().backward()
        optimizer.step()

    return step, "missing detach of a carried state", 'carried["state"] = cell(x, carried["state"])'


def frozen_layer() -> Made:
    model, optimizer, x, y = parts(frozen=True)

    def step() -> None:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()

    return step, "frozen layer", "loss = nn.functional.mse_loss(model(x), y)"


def wrong_parameters() -> Made:
    model, _, x, y = parts()
    optimizer = torch.optim.SGD(nn.Linear(4, 1).parameters(), lr=0.01)

    def step() -> None:
        model.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return step, "wrong parameters in the optimizer", "optimizer.step()"


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.other = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.body(x)
        other = self.other(x)
        return self.head(x), other


def unused_head() -> Made:
    model, x = TwoHeads(), torch.randn(16, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        model(x)[0].sum().backward()
        optimizer.step()

    return step, "unused layer", "other = self.other(x)"


def step_before_backward() -> Made:
    model, optimizer, x, y = parts()

    def step() -> None:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.step()
        loss.backward()

    return step, "step before backward", "optimizer.step()"


def gradients_dropped_before_the_step() -> Made:
    model, optimizer, x, y = parts()

    def step() -> None:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()

    return step, "step before backward", "optimizer.step()"


def graph_retained() -> Made:
    model, optimizer, x, y = parts()

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward(retain_graph=True)
        optimizer.step()

    return step, "retain_graph for no reason", "nn.functional.mse_loss(model(x), y).backward(retain_graph=True)"


def leaf_in_place() -> Made:
    weight = torch.ones(4, requires_grad=True)

    def _run() -> None:  # `check` has a function of this name too
        weight.mul_(0.5)
        weight.sum().backward()

    return _run, "in-place change of a leaf", "weight.mul_(0.5)"


def averaged_twice() -> Made:
    model, optimizer, x, y = parts()

    def step() -> None:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss = loss / len(x)
        loss.backward()
        optimizer.step()

    return step, "loss averaged twice", "loss = loss / len(x)"


def mean_of_a_mean() -> Made:
    model, optimizer, x, y = parts()

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).mean().backward()
        optimizer.step()

    return step, "loss averaged twice", "nn.functional.mse_loss(model(x), y).mean().backward()"


def eval_forgotten() -> Made:
    model, _, x, y = parts()

    def step() -> float:
        with torch.no_grad():
            return nn.functional.mse_loss(model(x), y).item()

    return step, "eval mode forgotten", "return nn.functional.mse_loss(model(x), y).item()"


def train_forgotten() -> Made:
    model, optimizer, x, y = parts()
    model.eval()

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return step, "train mode forgotten", "nn.functional.mse_loss(model(x), y).backward()"


PLANTED = [
    forgotten_zero_grad, state_not_detached, frozen_layer, wrong_parameters, unused_head, step_before_backward,
    gradients_dropped_before_the_step, graph_retained, leaf_in_place, averaged_twice, mean_of_a_mean, eval_forgotten,
    train_forgotten,
]  # fmt: skip


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_fault_is_named_with_its_line(plant: Callable[[], Made]) -> None:
    step, fault, text = plant()
    found = explain.check(step)
    assert [one.fault for one in found] == [fault], str(found)
    file, _, number = found[0].line.rpartition(":")
    assert file == __file__
    with open(file) as source:
        assert source.read().splitlines()[int(number) - 1].strip() == text


def test_a_step_that_is_right_has_no_findings_and_is_put_back() -> None:
    model, optimizer, x, y = parts()

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    before = [p.tolist() for p in model.parameters()]
    found = explain.check(step)
    assert found == [] and str(found) == "nothing wrong was found"
    assert [p.tolist() for p in model.parameters()] == before
    assert all(p.grad is None for p in model.parameters())


def test_accumulating_gradients_and_dividing_by_their_number_is_right() -> None:
    model, optimizer, x, y = parts()

    def step() -> None:
        optimizer.zero_grad()
        for _ in range(4):
            (nn.functional.mse_loss(model(x), y) / 4).backward()
        optimizer.step()

    # 16 rows, 4 features: dividing by 4 looks like dividing by a size only where the loss has one
    assert explain.check(step) == []


def test_another_error_is_raised_as_it_is() -> None:
    def step() -> None:
        torch.ones(2, 3) @ torch.ones(2, 3)

    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        explain.check(step)


def test_a_step_whose_module_has_no_name_is_checked_too() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step() -> None:
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()

    step.__module__ = None  # type: ignore[assignment]  # as what `exec` makes in a namespace of its own
    assert [finding.fault for finding in explain.check(step)] == ["forgotten zero_grad"]
