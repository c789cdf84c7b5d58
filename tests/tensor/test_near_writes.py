"""Tables filled in by loops: written on the host, with nothing recorded, and the same as when it is."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base.config import settings


def one_hot(labels: list[int]) -> torch.Tensor:
    table = torch.zeros(len(labels), 10)
    for i, label in enumerate(labels):
        table[i][label] = 1
    return table


def padded(rows: list[list[int]]) -> torch.Tensor:
    table = torch.zeros(len(rows), 8, dtype=torch.long)
    for i, row in enumerate(rows):
        table[i, : len(row)] = torch.tensor(row)
    return table


def confusion(pairs: list[tuple[int, int]]) -> torch.Tensor:
    counts = torch.zeros(4, 4, dtype=torch.int64)
    for target, guess in zip(*torch.tensor(pairs).T, strict=True):
        counts[target.item(), guess.item()] += 1
    return counts


def test_tables_filled_in_by_loops_record_and_run_nothing() -> None:
    rng = random.Random(0)
    labels = [rng.randrange(10) for _ in range(300)]
    rows = [[rng.randrange(50) for _ in range(rng.randrange(1, 9))] for _ in range(300)]
    with torch.explain.counted() as seen:
        assert one_hot(labels).argmax(1).tolist() == labels
        assert padded(rows).tolist() == [row + [0] * (8 - len(row)) for row in rows]
    assert seen.runs == 1  # argmax
    assert seen.misses < 5


def test_counting_in_a_table_runs_nothing() -> None:
    pairs = [(i % 4, i * i % 4) for i in range(100)]
    expected = np.zeros((4, 4), np.int64)
    for target, guess in pairs:
        expected[target, guess] += 1
    confusion(pairs[:2])
    with torch.explain.counted() as seen:
        assert confusion(pairs).tolist() == expected.tolist()
    assert seen.runs <= 1  # the transposed pairs


WRITES: dict[str, Callable[[torch.Tensor], object]] = {
    "a number": lambda x: x.__setitem__((1, 2), 5),
    "a row": lambda x: x.__setitem__(-1, torch.tensor([7.0, 8.0, 9.0, 1.0])),
    "a column of a slice": lambda x: x.__setitem__((slice(1, None), 3), 2.5),
    "every other": lambda x: x.__setitem__((..., slice(None, None, 2)), -1),
    "integers into floats": lambda x: x.__setitem__(0, torch.arange(4)),
    "numpy's": lambda x: x.__setitem__((0, 1), np.float64(0.1)),
    "a mask": lambda x: x.__setitem__(torch.tensor([True, False, True]), 4),
    "places": lambda x: x.__setitem__(torch.tensor([2, 0]), torch.ones(2, 4, dtype=x.dtype)),
    "places by a list": lambda x: x.__setitem__([0, 2], 3.0),
    "a place by a tensor": lambda x: x.__setitem__((torch.tensor(1), slice(0, 2)), 6),
    "itself, moved": lambda x: x.__setitem__(slice(1, None), x[:-1]),
    "through two views": lambda x: x[1:][0].__setitem__(slice(0, 2), 9),
    "in place": lambda x: x[1].add_(2.5),
    "in place, with a factor": lambda x: x[1].add_(torch.ones(4), alpha=3),
    "times": lambda x: x[2, 1:].mul_(torch.tensor([2.0, 3.0, 4.0])),
    "minus": lambda x: x[0][1].sub_(1),
    "filled": lambda x: x[0].fill_(0.3),
    "one more axis": lambda x: x.__setitem__((None, 1), torch.zeros(1, 4)),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_written_on_the_host_is_what_recorded_writes_give(name: str, dtype: torch.dtype, monkeypatch) -> None:
    def written() -> torch.Tensor:
        x = torch.tensor([[0.1 * i + j for i in range(4)] for j in range(3)], dtype=dtype)
        views = [x[1], x[:, 1], x[1:][0], x.detach()]
        [view.tolist() for view in views]
        WRITES[name](x)
        return torch.cat([x.flatten(), *[view.flatten() for view in views]]).double()

    near = written().tolist()
    monkeypatch.setattr(settings, "eager", True)
    assert near == written().tolist()


def test_what_was_computed_before_a_write_keeps_its_numbers() -> None:
    x = torch.zeros(4)
    x[0] = 1
    doubled, copied, row = x * 2, x.clone(), x[0]
    x[0] = 5
    assert (doubled[0].item(), copied[0].item(), row.item()) == (2, 1, 5)


def test_a_large_table_is_written_where_it_is_unless_somebody_else_has_it() -> None:
    x = torch.zeros(600, 1000)
    x[0, 0] = 1
    array = x._current().value.array
    address = array.ctypes.data
    del array
    x[1, 1] = 2
    assert x._current().value.array.ctypes.data == address
    y = x.clone()
    x[2, 2] = 3
    assert (y[2, 2].item(), y[1, 1].item(), x[2, 2].item()) == (0, 2, 3)


def test_a_tensor_with_history_is_written_with_history() -> None:
    w = torch.ones(3, requires_grad=True)
    x = torch.zeros(3)
    x[1] = w[1] * 2
    x[0] = 4
    x.sum().backward()
    assert w.grad.tolist() == [0, 2, 0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w[0] = 1
    with torch.no_grad():
        w[0] = 3
    assert w.tolist() == [3, 1, 1] and w.requires_grad


def test_errors_are_those_of_recorded_writes() -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(IndexError, match="index 2 is out of bounds for dimension 0 with size 2"):
        x[2] = 1
    with pytest.raises(RuntimeError, match="expand"):
        x[0] = torch.ones(2)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1] = 1
    with pytest.raises(RuntimeError, match="cast"):
        torch.zeros(2, dtype=torch.long)[0].add_(1.5)
    assert x.tolist() == [[0] * 3] * 2


def test_another_dtype_is_refused_where_tensors_select() -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    for places in (torch.tensor([True, True, False]), torch.tensor([0, 2])):
        with pytest.raises(RuntimeError, match="Index put requires the source and destination dtypes match, got Float"):
            x[places] = torch.tensor([True, False])
    x[torch.tensor([True, False, False])] = torch.tensor([7])
    x[1:] = torch.tensor([4, 5])
    assert x.tolist() == [7.0, 4.0, 5.0]
