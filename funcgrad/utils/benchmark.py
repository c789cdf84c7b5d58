"""torch.utils.benchmark: how long a statement takes. What it gives is computed, though nobody reads it."""

from __future__ import annotations

import ast
import math
import statistics
import sys
import textwrap
import time
import timeit
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from funcgrad._tensor.names import flush, synchronize
from funcgrad.utils.fuzzing import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias

__all__ = [
    "Colorize", "Compare", "FuzzedParameter", "FuzzedTensor", "Fuzzer", "Measurement", "ParameterAlias", "TaskSpec",
    "Timer", "timer",
]  # fmt: skip


def timer() -> float:
    """Return the clock's seconds once the devices are idle."""
    synchronize()
    return time.perf_counter()


@dataclass(repr=False, frozen=True)
class TaskSpec:
    """What a `Timer` measures, and what it is called; all but the values of its names."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """What is measured, in words."""
        if self.label is None and "\n" in self.stmt:
            named = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{named}\n{textwrap.indent(self.stmt, '  ')}"
        named = f": {self.sub_label}" if self.sub_label else ""
        return (self.stmt if self.label is None else self.label) + named

    def setup_str(self) -> str:
        """Return what runs before, as it is shown: nothing where nothing runs."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Return title, description and setup, those of several lines with an empty one below."""
        parts = filter(None, (self.title, self.description, self.setup_str()))
        return "\n".join(f"{part}\n" if "\n" in part else part for part in parts)


@dataclass(repr=False)
class Measurement:
    """Seconds that blocks of `number_per_run` runs took. It has the fields of its `task_spec` too.

    metadata: anything; for who measures.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        return self.__getattribute__(name)

    @property
    def as_row_name(self) -> str:
        """What names its row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    @property
    def title(self) -> str:
        """What was measured, in words."""
        return self.task_spec.title

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean something, judged by the spread between the quartiles; 1 to 4."""
        count = len(self.raw_times)
        middle = sorted(self.times)[count // 4 : math.ceil(3 * count / 4)]
        width = max(1.645 * statistics.pstdev(middle) / len(middle) ** 0.5, 25e-9)
        return min(max(math.floor(math.log10(self.median / width)), 1), 4)

    @property
    def has_warnings(self) -> bool:
        """Whether blocks differ too much (a tenth of the median between the quartiles) to say much."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Whether the quartiles are less than this share of the median apart."""
        return self.iqr / self.median < threshold

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Put together the blocks of the same task, as seconds of one run. Metadata is not kept."""
        found: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            found.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, times, task) for task, times in found.items()]

    @property
    def times(self) -> list[float]:
        """Seconds of one run, for each block."""
        return [seconds / self.number_per_run for seconds in self.raw_times]

    @property
    def mean(self) -> float:
        """Seconds of one run on average."""
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        """Seconds of the middle run."""
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """Seconds between the quartiles."""
        first, third = self._quartiles()
        return third - first

    def _quartiles(self) -> tuple[float, float]:
        if len(self.raw_times) < 2:
            return self.median, self.median
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
        return first, third

    def __repr__(self) -> str:
        count, (unit, scale) = len(self.raw_times), _unit(self.median)
        several, (first, third) = count > 1, self._quartiles()
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'Median: ' * several}{self.median / scale:.2f} {unit}")
        if count >= 4:
            spread = f"({first / scale:.2f} to {third / scale:.2f})"
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} {spread}")
        runs = f"{self.number_per_run} runs {'per measurement' * several}"
        threads = f"{self.num_threads} thread{'s' * (self.num_threads > 1)}"
        lines.append(f"  {count} measurement{'s' * several}, {runs}, {threads}")
        if self.has_warnings:
            cause = "suggests significant environmental influence" if self.iqr > self.median / 4 else _FLUCTUATION
            lines.append(f"  WARNING: Interquartile range is {self.iqr / self.median:.1%} of the median measurement.")
            lines.append(f"           This {cause}.")
        return "\n".join(filter(None, lines))


_FLUCTUATION = "could indicate system fluctuation"
_UNITS = {-3: ("ns", 1e-9), -2: ("us", 1e-6), -1: ("ms", 1e-3)}
_UNIT_NAMES = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}


def _unit(seconds: float) -> tuple[str, float]:
    """Return the unit that shows a time best, and its seconds."""
    return _UNITS.get(int(math.log10(seconds) // 3) if seconds else 0, ("s", 1.0))


class Timer:
    """Measure a statement, given as text with its names in `globals`, which has `torch` too, or as a function."""

    def __init__(
        self, stmt: str | Callable[[], Any] = "pass", setup: str | Callable[[], Any] = "pass",
        global_setup: str = "", timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None,
        env: str | None = None, num_threads: int = 1, language: Any = None,
    ) -> None:  # fmt: skip
        shown = stmt if isinstance(stmt, str) else getattr(stmt, "__name__", "")
        torch = sys.modules[__name__.partition(".")[0]]
        names = {"torch": torch, **(globals or {}), "_statement": stmt, "_computed": _computed}
        self._timer = timeit.Timer(_computing(stmt), setup, timer, names)
        prepared = setup if isinstance(setup, str) else getattr(setup, "__name__", "")
        self._task_spec = TaskSpec(shown, prepared, global_setup, label, sub_label, description, env, num_threads)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement a few times to compile it, then `number` times in one block."""
        self._timer.timeit(max(number // 100, 2))
        return Measurement(number, [self._timer.timeit(number)], self._task_spec)

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measure blocks, each long enough for the clock, for `min_run_time` seconds.

        callback: called after each block with the number of its runs and the seconds that it took.
        """

        def is_enough(measured: Measurement) -> bool:
            return sum(measured.raw_times) >= min_run_time

        return self._measure(self._block_size(min_run_time), is_enough, callback)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:  # fmt: skip
        """Measure blocks until the quartiles of four or more are less than `threshold` of the median apart.

        It takes `min_run_time` seconds at least, and ends with the block that passes `max_run_time` in any case.
        """

        def is_enough(measured: Measurement) -> bool:
            seconds = sum(measured.raw_times)
            is_steady = len(measured.raw_times) > 3 and measured.meets_confidence(threshold)
            return seconds > max_run_time or (seconds >= min_run_time and is_steady)

        return self._measure(self._block_size(0.05), is_enough, callback)

    def _block_size(self, min_run_time: float) -> int:
        """Return how many runs take a thousandth of this many seconds; the first ones compile."""
        self._timer.timeit(2)
        number = 1
        while self._timer.timeit(number) < min_run_time / 1000 and number < 10**9:
            number *= 10
        return number

    def _measure(
        self, number: int, is_enough: Callable[[Measurement], bool], callback: Callable[[int, float], Any] | None
    ) -> Measurement:
        measured = Measurement(number, [], self._task_spec)
        while not measured.raw_times or not is_enough(measured):
            measured.raw_times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, measured.raw_times[-1])
        return measured


def _computed(result: Any) -> None:
    """Run what is recorded while somebody holds the result: nobody's results are never computed."""
    flush()


def _computing(statement: str | Callable[[], Any]) -> str:
    """Return the statement such that what it gives is computed, if it gives something."""
    if callable(statement):
        return "_computed(_statement())"
    try:
        ast.parse(statement, mode="eval")
    except SyntaxError:
        return f"{statement}\n_computed(None)"
    return f"_computed({statement})"


class Colorize(Enum):
    """Which measurements of a table are coloured by how far they are from the best of them."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A table for each label: rows of what was measured, after their numbers of threads, columns of descriptions."""

    def __init__(self, results: Sequence[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trims = self._warns = False
        self._colorize = Colorize.NONE

    def extend_results(self, results: Sequence[Measurement]) -> None:
        """Add measurements. ValueError for what is none."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show no more digits than mean something."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour what is near the best of its column, or row, and what is far from it."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Write behind a measurement that says little how far its quartiles are apart."""
        self._warns = True

    def __str__(self) -> str:
        tables: dict[str | None, list[Measurement]] = {}
        for result in Measurement.merge(self._results):
            tables.setdefault(result.label, []).append(result)
        return "\n".join(map(self._table, tables.values()))

    def print(self) -> None:
        """Print the tables."""
        print(self)

    def _table(self, results: Sequence[Measurement]) -> str:
        unit, scale = _unit(min(result.median for result in results))
        rows = sorted(dict.fromkeys(map(_row_of, results)), key=lambda row: row[0])
        titles = list(dict.fromkeys(result.description for result in results))
        found = {(_row_of(result), result.description): result for result in results}
        grid = [[found.get((row, title)) for title in titles] for row in rows]
        names = ["", *(f"      {name}" for _, name in rows)]
        columns = [[name.ljust(max(map(len, names))) for name in names]]
        for title, column in zip(titles, zip(*grid, strict=True), strict=True):
            cells = [title or "", *_column(column, scale, self._trims, self._warns)]
            columns.append([cell.center(max(map(len, cells))) for cell in cells])
        head = "  |  ".join(column[0] for column in columns)
        for place, column in enumerate(columns[1:]):
            column[1:] = [self._coloured(cell, grid, rows, row, place) for row, cell in enumerate(column[1:])]
        _, *lines = ["  |  ".join(row) for row in zip(*columns, strict=True)]
        label = results[0].label or ""
        shown = [f"[{f' {label} '.center(len(head) - 2, '-')}]", head]
        for (threads, _), (before, _), line in zip(rows, [(0, ""), *rows[:-1]], lines, strict=True):
            if threads != before:
                shown.append(f"{threads} threads: ".ljust(len(head), "-"))
            shown.append(line)
        has_warnings = self._warns and any(result.has_warnings for result in results)
        return "\n".join([*shown, "", f"Times are in {_UNIT_NAMES[unit]} ({unit}).", *[_SPREAD] * has_warnings, ""])

    def _coloured(self, cell: str, grid: _Grid, rows: Sequence[_Row], row: int, place: int) -> str:
        """Return a cell in the colour of its distance from the best one: of its row, or of those with its threads."""
        result = grid[row][place]
        if result is None or self._colorize is Colorize.NONE:
            return cell
        if self._colorize is Colorize.ROWWISE:
            others = grid[row]
        else:
            others = [line[place] for line, (threads, _) in zip(grid, rows, strict=True) if threads == rows[row][0]]
        best = min(other.median for other in others if other is not None)
        colour = _colour(result.median, best)
        return f"{colour}{cell}{_PLAIN}" if colour else cell


def _colour(median: float, best: float) -> str:
    if median <= max(best * 1.01, best + 100e-9):
        return "\033[92m\033[1m"
    if median <= best * 1.1:
        return "\033[34m\033[1m"
    if median >= best * 5:
        return "\033[31m\033[1m"
    return "\033[2m\033[91m" if median >= best * 2 else ""


_PLAIN = "\033[0m" * 2
_Row = tuple[int, str]
_Grid = Sequence[Sequence[Measurement | None]]
_SPREAD = "(! XX%) Measurement has high variance, where XX is the IQR / median * 100."


def _row_of(result: Measurement) -> _Row:
    return result.num_threads, result.as_row_name


def _column(results: Sequence[Measurement | None], scale: float, trims: bool, warns: bool) -> list[str]:
    """Return the medians of a column as text, with as many digits as the surest of them has."""
    medians = [r and (r.median / scale, r.significant_figures) for r in results]
    leading = [math.ceil(math.log10(found[0])) for found in medians if found]
    decimals = min(max(f[1] - n, 0) for f, n in zip(filter(None, medians), leading, strict=True)) if trims else 1
    width = max(leading) + decimals + bool(decimals)
    shown = [found and (_trimmed(*found) if trims else found[0]) for found in medians]
    texts = [" " * width if number is None else f"{number:>{width}.{decimals}f}" for number in shown]
    if not warns or not any(r.has_warnings for r in results if r):
        return texts
    spreads = [f" (! {r.iqr / r.median * 100:.0f}%)" if r and r.has_warnings else "" for r in results]
    return [f"{text}{spread:>7}" for text, spread in zip(texts, spreads, strict=True)]


def _trimmed(number: float, figures: int) -> float:
    return round(number, figures - math.ceil(math.log10(number)))
