"""The benchmark's timer computes what a statement gives; trees come apart and together again."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import pytest

import funcgrad as torch
from funcgrad.explain import counted
from funcgrad.utils._pytree import tree_flatten, tree_map, tree_unflatten
from funcgrad.utils.benchmark import Compare, Measurement, Timer


@pytest.mark.parametrize("statement", ["x + 1", "y = x + 1", lambda: None])
def test_a_timer_runs_each_statement(statement: object) -> None:
    x = torch.ones(3)
    with counted() as seen:
        measured = Timer(statement, globals={"x": x}).timeit(10)  # type: ignore[arg-type]
    assert measured.number_per_run == 10
    assert measured.median > 0
    assert seen.runs >= (10 if statement == "x + 1" else 0)


def test_measurements_are_compared_in_a_table() -> None:
    fast = Measurement(2, [2e-6, 4e-6, 6e-6], "add", "small", "ours")
    slow = Measurement(1, [1.24e-5], "add", "small", "theirs")
    many = Measurement(1, [2e-6] * 3, "add", "large", "ours", 4)
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


def test_a_measurement_is_shown_as_torch_shows_it() -> None:
    several = Measurement(10, [v * 1e-5 for v in (5, 9, 6, 5, 5)], "dot", "[1, 1]", "bmm", 2, "x @ y", "import z")
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
    once = Measurement(1, [2e-3], stmt="x @ y", setup="pass")
    assert repr(once).splitlines()[1:] == ["x @ y", "  2.00 ms", "  1 measurement, 1 runs , 1 thread"]


def test_a_measurement_says_what_was_measured() -> None:
    measured = Timer("1 + 1", "pass", label="sums", sub_label="small", num_threads=2).timeit(10)
    assert (measured.as_row_name, measured.num_threads, measured.stmt, measured.setup) == ("small", 2, "1 + 1", "pass")
    assert Timer("1 + 1").timeit(10).as_row_name == "1 + 1"


def test_a_measurement_says_how_sure_it_is() -> None:
    sure, unsure = Measurement(1, [1.0, 1.01, 0.99], "add"), Measurement(1, [1.0, 2.0, 3.0], "add", "small")
    assert (sure.has_warnings, unsure.has_warnings, sure.title, unsure.title) == (False, True, "add", "add: small")
    assert sure.meets_confidence() and sure.significant_figures == 2
    assert [len(m.raw_times) for m in Measurement.merge([sure, unsure, sure])] == [6, 3]


def test_a_tree_keeps_its_structure() -> None:
    Pair = namedtuple("Pair", "left right")
    tree = {"a": [1, (2, None)], "b": Pair(3, OrderedDict(c=4))}
    leaves, spec = tree_flatten(tree)
    assert leaves == [1, 2, None, 3, 4]
    assert tree_unflatten(leaves, spec) == tree
    assert tree_map(lambda x: (x or 0) * 2, tree)["b"] == Pair(6, OrderedDict(c=8))
    with pytest.raises(ValueError, match="5 leaves, 4"):
        tree_unflatten(leaves[:4], spec)
