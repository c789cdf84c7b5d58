"""The benchmark's timer computes what a statement gives; trees come apart and together again."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from itertools import count
from typing import Any

import pytest

import funcgrad as torch
from funcgrad.explain import counted
from funcgrad.utils._pytree import tree_flatten, tree_map, tree_unflatten
from funcgrad.utils.benchmark import Compare, Measurement, TaskSpec, Timer


@pytest.mark.parametrize("statement", ["x + 1", "y = x + 1", lambda: None])
def test_a_timer_runs_each_statement(statement: object) -> None:
    x = torch.ones(3)
    with counted() as seen:
        measured = Timer(statement, globals={"x": x}).timeit(10)  # type: ignore[arg-type]
    assert measured.number_per_run == 10
    assert measured.median > 0
    assert seen.runs >= (10 if statement == "x + 1" else 0)


def test_measurements_are_compared_in_a_table() -> None:
    fast = Measurement(2, [2e-6, 4e-6, 6e-6], _task("small", "ours"))
    slow = Measurement(1, [1.24e-5], _task("small", "theirs"))
    many = Measurement(1, [2e-6] * 3, _task("large", "ours", num_threads=4))
    assert [fast.median, fast.mean, fast.iqr] == pytest.approx([2e-6, 2e-6, 1e-6])
    assert str(Compare([fast, slow, many])).splitlines() == [
        "[------------ add ------------]",
        "             |  ours  |  theirs",
        "1 threads: --------------------",
        "      small  |  2.0   |   12.4 ",
        "4 threads: --------------------",
        "      large  |  2.0   |        ",
        "",
        "Times are in microseconds (us).",
    ]
    trimmed = Compare([fast, slow])
    trimmed.trim_significant_figures()
    assert str(trimmed).splitlines()[3] == "      small  |   2    |    12  "


def _task(sub_label: str | None = None, description: str | None = None, **others: Any) -> TaskSpec:
    return TaskSpec("a + b", "pass", label="add", sub_label=sub_label, description=description, **others)


def test_a_table_shows_what_is_best_and_what_says_little() -> None:
    times = {"best": [1e-5], "near": [1.05e-5], "far": [2.5e-5], "worst": [6e-5], "odd": [1e-5, 1e-5, 3e-5]}
    measured = [Measurement(1, seconds, _task("small", name)) for name, seconds in times.items()]
    table = Compare([*measured, Measurement(1, [3e-5], _task("large", "far"))])
    table.highlight_warnings()
    assert str(table).splitlines()[3:] == [
        "      small  |  10.0  |  10.5  |  25.0  |   60.0  |  10.0 (! 100%)",
        "      large  |        |        |  30.0  |         |               ",
        "",
        "Times are in microseconds (us).",
        "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.",
    ]
    table.colorize(rowwise=True)
    best, near, far, worst, _ = str(table).splitlines()[3].split("  |  ")[1:]
    assert (best, near) == ("\033[92m\033[1m10.0\033[0m\033[0m", "\033[34m\033[1m10.5\033[0m\033[0m")
    assert far == "\033[2m\033[91m25.0\033[0m\033[0m" and worst == "\033[31m\033[1m 60.0\033[0m\033[0m"
    table.colorize()
    assert str(table).count("\033[2m\033[91m") == 0 and str(table).count("\033[92m\033[1m") == 5
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        Compare([1])  # type: ignore[list-item]


def test_a_measurement_is_shown_as_torch_shows_it() -> None:
    task = TaskSpec("x @ y", "import z", label="dot", sub_label="[1, 1]", description="bmm", num_threads=2)
    several = Measurement(10, [v * 1e-5 for v in (5, 9, 6, 5, 5)], task)
    assert repr(several).splitlines()[1:] == [
        "dot: [1, 1]",
        "bmm",
        "setup: import z",
        "  Median: 5.00 us",
        "  IQR:    1.00 us (5.00 to 6.00)",
        "  5 measurements, 10 runs per measurement, 2 threads",
        "  WARNING: Interquartile range is 20.0% of the median measurement.",
        "           This could indicate system fluctuation.",
    ]
    once = Measurement(1, [2e-3], TaskSpec("x @ y", "pass"))
    assert repr(once).splitlines()[1:] == ["x @ y", "  2.00 ms", "  1 measurement, 1 runs , 1 thread"]


def test_a_measurement_says_what_was_measured() -> None:
    measured = Timer("1 + 1", "pass", label="sums", sub_label="small", num_threads=2).timeit(10)
    assert (measured.as_row_name, measured.num_threads, measured.stmt, measured.setup) == ("small", 2, "1 + 1", "pass")
    assert Timer("1 + 1").timeit(10).as_row_name == "1 + 1"


def test_a_measurement_says_how_sure_it_is() -> None:
    sure, unsure = Measurement(1, [1.0, 1.01, 0.99], _task()), Measurement(2, [2.0, 4.0, 6.0], _task("small"))
    assert (sure.has_warnings, unsure.has_warnings, sure.title, unsure.title) == (False, True, "add", "add: small")
    assert sure.meets_confidence() and sure.significant_figures == 2
    merged = Measurement.merge([sure, unsure, sure])
    assert [(m.number_per_run, len(m.raw_times), m.times[-1]) for m in merged] == [(1, 6, 0.99), (1, 3, 3.0)]


def test_a_measurement_has_the_fields_of_its_task() -> None:
    measured = Timer("1 + 1", label="sums", env="here").timeit(10)
    assert measured.task_spec == TaskSpec("1 + 1", "pass", label="sums", env="here")
    assert (measured.label, measured.env, measured.sub_label, measured.metadata) == ("sums", "here", None, None)
    assert TaskSpec("a = 1\na + 1", "b = 1\nc = 2", sub_label="s").summarize() == (
        "stmt: (s)\n  a = 1\n  a + 1\n\nsetup:\n  b = 1\n  c = 2\n"
    )
    with pytest.raises(AttributeError, match="nothing"):
        _ = measured.nothing


def test_blocks_are_measured_until_they_agree() -> None:
    told: list[tuple[int, float]] = []
    ticks = iter(count())  # each block takes a second, by this clock
    timer = Timer("pass", timer=lambda: float(next(ticks)))
    measured = timer.adaptive_autorange(threshold=0.5, callback=lambda number, seconds: told.append((number, seconds)))
    assert measured.raw_times == [1.0] * 4 and told == [(1, 1.0)] * 4
    assert timer.adaptive_autorange(0.0, max_run_time=5.5).raw_times == [1.0] * 6
    assert timer.blocked_autorange(lambda *block: told.append(block), 2.5).raw_times == [1.0] * 3
    assert len(told) == 7


def test_a_tree_keeps_its_structure() -> None:
    Pair = namedtuple("Pair", "left right")
    tree = {"a": [1, (2, None)], "b": Pair(3, OrderedDict(c=4))}
    leaves, spec = tree_flatten(tree)
    assert leaves == [1, 2, None, 3, 4]
    assert tree_unflatten(leaves, spec) == tree
    assert tree_map(lambda x: (x or 0) * 2, tree)["b"] == Pair(6, OrderedDict(c=8))
    with pytest.raises(ValueError, match="5 leaves, 4"):
        tree_unflatten(leaves[:4], spec)
