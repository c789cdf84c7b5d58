"""L-BFGS goes torch's way, evaluation by evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._program.counters import counted
from funcgrad.optim.lbfgs import _cubic_interpolate, _strong_wolfe
from tests.optim import cases
from tests.optim.running import parameter, recorded

SEARCHES = recorded("searches")


@pytest.mark.parametrize("name", list(cases.SEARCHES))
def test_losses_and_evaluations_equal_torch(name: str) -> None:
    losses, evaluations = cases.fit(torch.tensor, parameter, torch.optim.LBFGS, cases.SEARCHES[name])
    wanted, count = SEARCHES[name]
    np.testing.assert_allclose(losses, wanted, rtol=1e-8)
    assert evaluations == count


def quadratic(lr: float = 1, **options: object) -> tuple[torch.Tensor, torch.optim.LBFGS, object]:
    w = parameter([3.0, -2.0])
    optimizer = torch.optim.LBFGS([w], lr=lr, **options)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (w * w * torch.tensor([1.0, 10.0])).sum()
        loss.backward()
        return loss

    return w, optimizer, closure


def test_programs_do_not_depend_on_the_length_of_the_history() -> None:
    w, optimizer, closure = quadratic(lr=0.1, max_iter=3)
    for _ in range(2):
        optimizer.step(closure)
    with counted() as seen:
        for _ in range(3):
            optimizer.step(closure)
    assert seen.compiles == 0
    assert len(optimizer.state[w]["old_dirs"]) > 8


def test_the_state_has_what_torch_keeps_in_it() -> None:
    _, optimizer, closure = quadratic(lr=0.1, max_iter=3, history_size=4)
    optimizer.step(closure)
    optimizer.step(closure)
    kept = optimizer.state_dict()["state"][0]
    wanted = "H_diag al d func_evals n_iter old_dirs old_stps prev_flat_grad prev_loss ro t"
    assert sorted(kept) == wanted.split()
    assert repr(kept["al"]) == "[tensor(-0.3497), tensor(-0.1555), tensor(9.1695), None]"
    assert repr(kept["ro"]) == "[tensor(6.5977), tensor(1.3047), tensor(1.5471)]"
    assert repr(kept["H_diag"]) == "tensor(0.0508)"


def test_what_is_kept_between_steps_is_tensors() -> None:
    w, optimizer, closure = quadratic(lr=0.1, max_iter=1, history_size=4)
    optimizer.step(closure)
    kept = optimizer.state[w]
    wanted = "func_evals n_iter d t old_dirs old_stps ro H_diag prev_flat_grad prev_loss"
    assert list(kept) == wanted.split()
    assert repr(kept["t"]) == "tensor(0.0022)"
    optimizer.step(closure)
    assert kept["d"].norm() > 0
    assert isinstance(kept["t"], float)
    assert all(isinstance(step, torch.Tensor) for step in kept["old_stps"])
    w, optimizer, closure = quadratic(line_search_fn="strong_wolfe")
    optimizer.step(closure)
    assert repr(optimizer.state[w]["t"]) == "1"  # the learning rate, as it was given


def test_a_closure_that_fails_leaves_the_state_of_the_step_before() -> None:
    w, optimizer, closure = quadratic(lr=0.1, max_iter=3)
    optimizer.step(closure)
    before = optimizer.state[w]["d"].tolist()

    def failing() -> torch.Tensor:
        if optimizer.state[w]["func_evals"] > 4:
            raise ArithmeticError
        return closure()

    with pytest.raises(ArithmeticError):
        optimizer.step(failing)
    assert optimizer.state[w]["d"].tolist() == before


def test_a_checkpoint_goes_on_where_it_was() -> None:
    w, optimizer, closure = quadratic(lr=0.1, max_iter=4)
    optimizer.step(closure)
    v, again, other = quadratic(max_iter=4)
    saved = optimizer.state_dict()
    assert isinstance(saved["state"][0]["d"], torch.Tensor)
    with torch.no_grad():
        v.copy_(w)
    again.load_state_dict(saved)
    optimizer.step(closure)
    again.step(other)
    np.testing.assert_allclose(v.detach().numpy(), w.detach().numpy(), rtol=1e-6)


def test_complex_parameters_are_pairs_of_real_ones() -> None:
    w = parameter(np.array([1 + 2j, -3j], "complex64"))
    optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = ((w - (2 + 1j)) * (w - (2 + 1j)).conj()).real.sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(w.detach().numpy(), [2 + 1j, 2 + 1j], atol=1e-5)


def test_an_unknown_line_search_is_refused() -> None:
    _, optimizer, closure = quadratic(line_search_fn="golden")
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer.step(closure)


def _valley(x: Any, t: Any, d: Any) -> tuple[float, Any]:
    moved = (x + t * d).detach().requires_grad_()
    loss = 100 * (moved[1] - moved[0] ** 2) ** 2 + (1 - moved[0]) ** 2
    loss.backward()
    return loss.item(), moved.grad


@pytest.mark.parametrize(
    ("start", "first", "options", "loss", "size", "evaluations"),  # torch's
    [
        ([-1.2, 1.0], 1.0, {}, 4.128138340789158, 0.0007892073839786151, 8),
        ([-1.2, 1.0], 1e-4, {}, 19.179584813931886, 1e-4, 1),
        ([0.5, -0.3], 0.01, {"c1": 0.1, "c2": 0.2}, 1.1915602451171672, 0.0034565049629211855, 2),
        ([3.0, 2.0], 5.0, {"max_ls": 4}, 4904.0, 0.0, 5),
    ],
)
def test_the_line_search_is_there_by_torchs_name(
    start: list[float], first: float, options: dict[str, Any], loss: float, size: float, evaluations: int
) -> None:
    x = torch.tensor(start, dtype=torch.float64)
    before, gradient = _valley(x, 0, torch.zeros(2))
    direction = -gradient
    found = _strong_wolfe(_valley, x, first, direction, before, gradient, gradient.dot(direction), **options)
    assert found[0] == pytest.approx(loss, rel=1e-9)
    assert float(found[2]) == pytest.approx(size, rel=1e-9)
    assert found[3] == evaluations
    assert torch.allclose(found[1], _valley(x, found[2], direction)[1])


def test_a_cubic_is_smallest_within_its_bounds() -> None:
    slopes = torch.tensor([-1.0, 0.3])
    assert _cubic_interpolate(0.0, 1.0, -1.0, 2.0, 0.5, 0.3) == pytest.approx(4 / 3)
    assert _cubic_interpolate(0.0, 1.0, slopes[0], 2.0, 0.5, slopes[1]).item() == pytest.approx(4 / 3)
    assert _cubic_interpolate(0.0, 1.0, slopes[0], 2.0, 0.5, slopes[1], bounds=(1.5, 3)) == 1.5
