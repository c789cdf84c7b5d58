"""detect_anomaly: which NaN is told of, when, with which lines; and that programs are fused as without it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import autograd, nn
from funcgrad.explain import counted


@pytest.fixture
def detecting() -> Iterator[None]:
    with autograd.set_detect_anomaly(True):
        yield


def _warned(run: Any) -> tuple[str, list[str]]:
    """Return what the error says that `run` raises, and the warnings before it."""
    with warnings.catch_warnings(record=True) as caught, pytest.raises(RuntimeError) as raised:
        warnings.simplefilter("always")
        run()
    return str(raised.value), [str(each.message) for each in caught]


def test_anomaly_mode_names_the_forward_line() -> None:
    x = torch.tensor(0.0, requires_grad=True)
    with warnings.catch_warnings(record=True) as announced:
        warnings.simplefilter("always")
        detecting = autograd.detect_anomaly()
    with warnings.catch_warnings(record=True) as caught, detecting:
        warnings.simplefilter("always")
        y = (x - 1).sqrt() * 0  # the line to be named
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            y.backward()
    assert any("Anomaly Detection has been enabled" in str(w.message) for w in announced)
    assert any("the line to be named" in str(w.message) for w in caught)


def test_anomaly_mode_says_where_it_was_not_on_in_the_forward_pass() -> None:
    y = (torch.tensor(-1.0, requires_grad=True)).sqrt()
    with warnings.catch_warnings(record=True) as caught, pytest.raises(RuntimeError, match="nan values"):
        warnings.simplefilter("always")
        with autograd.detect_anomaly():
            y.backward()
    expected = "Error detected in SqrtBackward0. No forward pass information available. Enable detect anomaly during"
    assert str(caught[-1].message).startswith(expected)


class Power(autograd.Function):
    """x ** 1.5, whose backward can be differentiated."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**1.5

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * 1.5 * x.sqrt()  # whose own gradient is infinite at 0


@pytest.mark.usefixtures("detecting")
def test_a_gradient_of_a_gradient_is_told_with_what_induced_it() -> None:
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    (gradient,) = autograd.grad(Power.apply(x).sum(), x, create_graph=True)
    said, warned = _warned(lambda: (gradient * 0).sum().backward())
    assert said == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert warned[0].startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n")
    assert "whose own gradient is infinite at 0" in warned[0]
    assert warned[1].startswith(
        "\n\nPrevious calculation was induced by PowerBackward. "
        "Traceback of forward call that induced the previous calculation:\n"
    )
    assert "Power.apply(x).sum()" in warned[1] and len(warned) == 2


@pytest.mark.usefixtures("detecting")
def test_what_a_function_returns_is_searched_before_others_are_called() -> None:
    called = []

    class Spoils(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, name: str) -> torch.Tensor:
            ctx.name = name
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> Any:
            called.append(ctx.name)
            return gradient * float("nan"), None

    x = torch.ones(2, requires_grad=True)
    said, warned = _warned(lambda: Spoils.apply(Spoils.apply(x, "first").sin(), "second").sum().backward())
    assert said == "Function 'SpoilsBackward' returned nan values in its 0th output."
    assert called == ["second"] and x.grad is None and 'Spoils.apply(x, "first")' in warned[0]


@pytest.mark.usefixtures("detecting")
def test_hooks_are_called_up_to_the_nan_and_leaves_get_nothing() -> None:
    seen = []
    before, after = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    root = after.sqrt()
    before.register_hook(lambda _: seen.append("before"))
    root.register_hook(lambda _: seen.append("root"))
    after.register_hook(lambda _: seen.append("after"))
    said, _ = _warned((root * 0 * before).sum().backward)
    assert said == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert seen == ["before", "root"] and after.grad is None


@pytest.mark.usefixtures("detecting")
def test_the_first_nan_of_a_pass_is_told_of() -> None:
    x = torch.zeros(2, requires_grad=True)
    said, warned = _warned(lambda: ((x.sin().sqrt() * 0).sqrt() * 0).sum().backward())
    assert said == "Function 'SqrtBackward0' returned nan values in its 0th output." and len(warned) == 1
    weight = torch.zeros(2, requires_grad=True)
    said, _ = _warned(lambda: (torch.ones(2) / (x * 0 / weight)).sum().backward())
    assert said == "Function 'DivBackward0' returned nan values in its 1th output."


def test_without_check_nan_a_nan_goes_on() -> None:
    x = torch.ones(2, requires_grad=True)
    with autograd.set_detect_anomaly(True, check_nan=False):
        (x * float("nan")).sum().backward()
    assert x.grad is not None and x.grad.isnan().all()


@pytest.mark.usefixtures("detecting")
def test_five_steps_are_compiled_as_often_as_without_it() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    x, target = torch.randn(64, 6), torch.arange(64) % 3
    costs, losses = [], []
    for _ in range(5):
        with counted() as cost:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        costs.append((cost.compiles, cost.runs))
    assert sorted(losses, reverse=True) == losses
    assert [compiles for compiles, _ in costs[2:]] == [0, 0, 0]
    assert all(runs <= 2 for _, runs in costs)  # up to the search, and the update
