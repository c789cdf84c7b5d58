"""explain says what happened: what is recorded, what was compiled and why, and which lines forced a run."""

from __future__ import annotations

import re
import threading

import pytest

import funcgrad as torch
from funcgrad import explain


@pytest.fixture(autouse=True)
def nothing_is_recorded() -> None:
    explain.flush()


def lines_of(runs: list[explain.Run] | list[explain.Compile]) -> list[str]:
    """Return the text of the source lines that the entries name."""
    places = [run.line.rpartition(":") for run in runs]
    assert all(file == __file__ for file, _, _ in places)
    with open(__file__) as file:
        source = file.read().splitlines()
    return [source[int(number) - 1].strip() for _, _, number in places]


def test_pending_lists_the_instructions_that_wait() -> None:
    x = torch.tensor([1.0] * 18 + [3.0])  # of a size at which no other test multiplies by another number
    assert explain.pending() == ""
    y = x * 2 + 1
    values, indices = y.max(0)
    assert explain.pending().splitlines() == [
        "%0 = mul(leaf 0, 2) -> float32[19]",
        "%1 = add(%0, 1) -> float32[19]",
        "%2 = max_dim(%1) -> float32[], int64[]",
    ]
    assert (values.item(), indices.item()) == (7.0, 18)
    assert explain.pending() == ""


def test_pending_shows_numbers_that_have_become_inputs() -> None:
    x = torch.tensor([1.0, 2.0])
    shown = []
    for number in (0.5, 0.25):
        y = x / number
        shown.append(explain.pending())
        y.tolist()
    assert shown == ["%0 = div(leaf 0, 0.5) -> float32[2]", "%0 = div(leaf 0, number 0) -> float32[2]"]


def test_pending_is_each_threads_own() -> None:
    y = torch.tensor([1.0, 2.0]).exp()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(explain.pending()))
    thread.start()
    thread.join()
    assert seen == [""]
    assert explain.pending() == "%0 = exp(leaf 0) -> float32[2]"
    assert y.shape == (2,)


def test_flush_runs_what_is_recorded_once() -> None:
    y = torch.tensor([1.0, 2.0]).sin()
    with explain.counted() as cost:
        explain.flush()
        explain.flush()
        y.tolist()
    assert cost.runs == 1
    assert explain.pending() == ""


def test_compiles_name_the_line_that_needed_them() -> None:
    x = torch.arange(5.0).reshape(5, 1) @ torch.full((1, 7), 0.125)
    x.tolist()
    x.sum().item()
    made = explain.compiles()[-2:]
    assert lines_of(made) == ["x.tolist()", "x.sum().item()"]
    assert [compile.results for compile in made] == [1, 1]
    assert made[0].instructions > made[1].instructions == 1
    assert made[0].reason == "a program not seen before"


def test_a_compile_for_other_results_of_a_known_program_says_so() -> None:
    x = torch.tensor([0.5, 0.75, 1.25])
    for keep in (False, True):
        y = x.tan()
        z = y.cos()
        if not keep:
            del y
        z.tolist()
    assert explain.compiles()[-1].reason == "other results are wanted of a known program"


def test_what_was_compiled_is_not_compiled_again() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    (x.sinh() + 3).tolist()
    before = explain.compiles()
    (x.sinh() + 3).tolist()
    assert explain.compiles() == before


def test_watch_notes_the_lines_that_force_a_run() -> None:
    x = torch.tensor([1.0, 2.0])
    with explain.watch():
        (x * 5).tolist()
        if (x.sum() * 2) > 1:
            x = x + 4
        x = x * 2
        print(x)
    assert lines_of(explain.flushes()) == ["(x * 5).tolist()", "if (x.sum() * 2) > 1:", "print(x)"]
    assert all(run.instructions >= 1 for run in explain.flushes())


def test_nothing_is_noted_while_nobody_watches() -> None:
    with explain.watch():
        torch.tensor([1.0, 2.0]).cosh().tolist()
    assert len(explain.flushes()) == 1
    torch.tensor([1.0, 2.0]).cosh().tolist()
    assert len(explain.flushes()) == 1


def test_watch_begins_anew_and_ends_with_an_error_too() -> None:
    with pytest.raises(ValueError, match="enough"), explain.watch():
        torch.tensor([1.0, 2.0]).cosh().tolist()
        raise ValueError("enough")
    torch.tensor([1.0, 2.0]).cosh().tolist()
    assert len(explain.flushes()) == 1
    with explain.watch():
        pass
    assert explain.flushes() == []


def test_counted_counts_what_happens_inside() -> None:
    x = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
    costs = []
    for _ in range(2):
        with explain.counted() as cost:
            (x @ x.T).cos().sum().item()
        costs.append(cost)
    assert (costs[0].compiles, costs[0].runs) == (1, 1)
    assert costs[0].misses > 0
    fresh = {name: count for name, count in costs[1].as_dict().items() if count and name != "donated"}
    assert fresh == {"runs": 1}


def test_counters_only_grow() -> None:
    before = explain.counters.as_dict()
    torch.tensor([1.0, 2.0]).log().tolist()
    after = explain.counters.as_dict()
    assert all(after[name] >= before[name] for name in before)
    assert after["runs"] == before["runs"] + 1


def test_pending_has_one_form_for_every_line() -> None:
    weight = torch.ones(3, 2, requires_grad=True)
    loss = (torch.tensor([[1.0, 2.0, 3.0]]) @ weight).relu().sum()
    loss.backward()
    assert weight.grad is not None
    for line in explain.pending().splitlines():
        assert re.fullmatch(r"%\d+ = [\w<> ]+\(.*\) -> \w+\[.*\](, \w+\[.*\])*", line), line


def test_a_compile_says_which_dimension_changed_where_and_how_long_it_took() -> None:
    def forward(x: torch.Tensor) -> float:
        return (x.cosh() * 3).sum().item()

    for rows in (13, 7):
        forward(torch.tensor([[0.5] * 3] * rows))
    made = explain.compiles()[-1]
    place = f"{__file__}:{forward.__code__.co_firstlineno + 1}"
    assert made.reason == f"batch changed 13 -> 7 at {place}"
    assert made.seconds > 0
    forward(torch.tensor([[0.5] * 3] * 7, dtype=torch.float64))
    assert explain.compiles()[-1].reason == f"dtype changed float32 -> float64 at {place}"


def test_compiles_and_flushes_print_a_line_each() -> None:
    with explain.watch():
        for rows in (3, 5):
            torch.ones(rows, 2).cumsum(0).sum().item()
    lines = str(explain.flushes()).splitlines()
    assert len(lines) == len(explain.flushes()) == 2
    assert all(line.startswith(__file__) and " ran " in line and "ops" in line for line in lines)
    last = str(explain.compiles()).splitlines()[-1]
    assert last.startswith(__file__) and " compiled " in last and " s: " in last
