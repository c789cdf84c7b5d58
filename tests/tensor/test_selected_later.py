"""x[mask] = y[mask] and the like: nobody looks at the mask, and what is read is what torch gives."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base.config import settings
from funcgrad._program.counters import counted
from funcgrad._tensor.selected_later import Selection

Change = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]


def made() -> tuple[torch.Tensor, torch.Tensor]:
    """Return two tensors that are promised, not here."""
    return torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]) * 2, torch.tensor([[2.0, 0.0, 9.0], [1.0, 0.5, 3.0]]) * 3


def moved(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> None:
    x[mask] = y[mask]


def raised(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> None:
    x[mask] += 1


def scaled(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> None:
    x[mask] *= y[mask]


def mixed(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> None:
    x[mask] = torch.exp(-0.1 * x[mask]).tanh() + 0.5 * y[mask]


def taken_before(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> None:
    taken = x[mask]
    taken.mul_(2)
    x.add_(1)
    x[mask] = taken


@pytest.mark.parametrize("change", [moved, raised, scaled, mixed, taken_before])
def test_nothing_runs_where_the_same_mask_selects(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made()
    with counted() as seen:
        change(x, y, x > y)
    assert seen.runs == 0
    monkeypatch.setattr(settings, "eager", True)
    expected, y = made()
    change(expected, y, expected > y)
    np.testing.assert_allclose(x.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x, y, m: x.__setitem__(m, x[m] - x[m].mean()), [[2.0, -4.0, 6.0], [-1.0, 1.0, -12.0]]),
        (lambda x, y, m: x.__setitem__(m, y[x < -3][:2]), [[2.0, -4.0, 6.0], [0.0, 9.0, -12.0]]),
        (lambda x, y, m: x.__setitem__(m, y.flip(0)[m]), [[2.0, -4.0, 6.0], [6.0, 0.0, -12.0]]),
        (lambda x, y, m: x[m].zero_(), [[2.0, -4.0, 6.0], [8.0, 10.0, -12.0]]),
    ],
)
def test_what_another_mask_selects_or_all_that_is_selected_decides_is_looked_at(
    change: Change, expected: list[list[float]]
) -> None:
    x, y = made()
    change(x, y, torch.tensor([[False] * 3, [True, True, False]]))
    assert x.tolist() == expected


def test_a_mask_that_was_written_to_meanwhile_is_another() -> None:
    x, y = made()
    mask = x > 5
    taken = y[mask]
    mask[0, 0], mask[0, 2] = True, False
    x[mask] = taken
    assert x.tolist() == [[27.0, -4.0, 6.0], [3.0, 1.5, -12.0]]


def test_rows_and_columns_are_moved() -> None:
    x, y = made()
    rows, columns = y.sum(1) > 20, y.sum(0) > 5
    with counted() as seen:
        x[rows] = y[rows]
        x[:, columns] = -y[:, columns]
    assert seen.runs == 0
    assert x.tolist() == [[-6.0, 0.0, -27.0], [-3.0, 10.0, -9.0]]


def test_whoever_reads_what_is_selected_gets_it() -> None:
    x, y = made()
    mask = x > y
    assert repr(x[mask]) == "tensor([ 8., 10.])"
    assert (len(x[mask]), x[mask].shape, x[mask].dtype, x[mask].requires_grad) == (2, (2,), torch.float32, False)
    assert x[mask].numpy().tolist() == list(x[mask]) == x[mask].detach().tolist() == [8.0, 10.0]
    assert copy.deepcopy(x[mask]).tolist() == copy.copy(x[mask]).data.tolist() == [8.0, 10.0]
    assert (x[mask] // y[mask]).tolist() == [2.0, 6.0]
    assert torch.cat([x[mask], y[mask]]).tolist() == [8.0, 10.0, 3.0, 1.5]
    assert (2 * x[mask] + torch.tensor([1.0, 2.0])).tolist() == [17.0, 22.0]
    assert x[mask]._version == 0


def test_divisors_that_are_not_selected_may_be_zero() -> None:
    x, y = torch.arange(6) + 1, torch.tensor([0, 1, 2, 0, 3, 0]) * 1
    mask = y > 0
    x[mask] = x[mask] // y[mask]
    assert x.tolist() == [1, 2, 1, 4, 1, 6]


def test_history_goes_through_what_is_written_to() -> None:
    y = torch.tensor([1.0, 2.0, 3.0]) * 2
    leaf = torch.nn.Parameter(torch.tensor([1.0, 5.0, 9.0]))
    x = leaf * 2
    mask = y > x
    x[mask] = y[mask]
    assert type(x.grad_fn).__name__ == "IndexPutBackward0"
    x.sum().backward()
    assert (x.tolist(), leaf.grad.tolist()) == ([2.0, 10.0, 18.0], [2.0, 2.0, 2.0])
    z = leaf * 3
    z[leaf < 4] = leaf[leaf < 4]
    z.sum().backward()
    assert leaf.grad.tolist() == [3.0, 5.0, 5.0]


def test_what_does_not_fit_is_refused_at_once() -> None:
    x, y = made()
    with pytest.raises(IndexError, match=r"The shape of the mask \[3\] at index 0 does not match the shape of the"):
        y[y[0] > 1]
    with pytest.raises(RuntimeError, match="Index put requires the source and destination dtypes match, got Float"):
        x[x > y] = y.double()[x > y]


def test_only_so_many_wait_and_hold_all_of_what_they_select_of() -> None:
    x, y = made()
    kept = [x[x > y] for _ in range(200)]
    assert len(Selection.waiting) == 64
    assert {tuple(part.tolist()) for part in kept} == {(8.0, 10.0)}
    assert not Selection.waiting
