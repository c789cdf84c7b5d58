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
from dataclasses import dataclass, replace
from typing import Any

from funcgrad._tensor.names import flush, synchronize
from funcgrad.utils.fuzzing import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias

__all__ = [
    "Compare", "FuzzedParameter", "FuzzedTensor", "Fuzzer", "Measurement", "ParameterAlias", "Timer", "timer",
]  # fmt: skip


def timer() -> float:
    """Return the clock's seconds once the devices are idle."""
    synchronize()
    return time.perf_counter()


@dataclass(repr=False)
class Measurement:
    """Seconds that blocks of `number_per_run` runs took."""

    number_per_run: int
    raw_times: Sequence[float]
    label: str = ""
    sub_label: str = ""
    description: str = ""
    num_threads: int = 1
    stmt: str = ""
    setup: str = ""

    @property
    def as_row_name(self) -> str:
        """What names its row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    @property
    def title(self) -> str:
        """What was measured, in words."""
        return ": ".join(filter(None, (self.label or self.stmt, self.sub_label)))

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
        return self.iqr > self.median / 10

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Whether the quartiles are less than this share of the median apart."""
        return self.iqr <= threshold * self.median

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Put together the blocks of what was measured under the same titles."""
        found: dict[tuple[Any, ...], Measurement] = {}
        for each in measurements:
            key = (each.number_per_run, each.label, each.sub_label, each.description, each.num_threads)
            before = found[key].raw_times if key in found else ()
            found[key] = replace(each, raw_times=[*before, *each.raw_times])
        return list(found.values())

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
        setup = "" if self.setup in ("", "pass") else f"setup: {self.setup}"
        if "\n" in setup:
            setup = f"setup:\n{textwrap.indent(self.setup, '  ')}\n"
        lines = [object.__repr__(self), self.title, self.description, setup]
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
        self._titles = (label or "", sub_label or "", description or "", num_threads, shown, prepared)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement a few times to compile it, then `number` times in one block."""
        self._timer.timeit(max(number // 100, 2))
        return Measurement(number, [self._timer.timeit(number)], *self._titles)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Measure blocks, each long enough for the clock, for `min_run_time` seconds."""
        self._timer.timeit(2)
        number = 1
        while (taken := self._timer.timeit(number)) < min_run_time / 1000 and number < 10**9:
            number *= 10
        blocks = [taken]
        while sum(blocks) < min_run_time:
            blocks.append(self._timer.timeit(number))
        return Measurement(number, blocks, *self._titles)

    adaptive_autorange = blocked_autorange


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


class Compare:
    """A table for each label: rows of what was measured, after their numbers of threads, columns of descriptions."""

    def __init__(self, results: Sequence[Measurement]) -> None:
        self._results = list(results)
        self._trims = False

    def extend_results(self, results: Sequence[Measurement]) -> None:
        """Add measurements."""
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show no more digits than mean something."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted: tables have no colours."""

    def highlight_warnings(self) -> None:
        """Accepted: a measurement that is printed alone warns of its spread."""

    def __str__(self) -> str:
        tables: dict[str, list[Measurement]] = {}
        for result in self._results:
            tables.setdefault(result.label, []).append(result)
        return "\n".join(_table(label, results, self._trims) for label, results in tables.items())

    def print(self) -> None:
        """Print the table."""
        print(self)


def _table(label: str, results: Sequence[Measurement], trims: bool) -> str:
    unit, scale = _unit(min(result.median for result in results))
    found = {(r.num_threads, r.as_row_name, r.description): r for r in results}
    rows = sorted(dict.fromkeys((r.num_threads, r.as_row_name) for r in results), key=lambda row: row[0])
    titles = list(dict.fromkeys(result.description for result in results))
    names = ["", *(f"      {name}" for _, name in rows)]
    columns = [[name.ljust(max(map(len, names))) for name in names]]
    for title in titles:
        cells = [title, *_column([found.get((*row, title)) for row in rows], scale, trims)]
        columns.append([cell.center(max(map(len, cells))) for cell in cells])
    head, *lines = ["  |  ".join(row) for row in zip(*columns, strict=True)]
    shown = [f"[{f' {label} '.center(len(head) - 2, '-')}]", head]
    for (threads, _), (before, _), line in zip(rows, [(0, ""), *rows[:-1]], lines, strict=True):
        if threads != before:
            shown.append(f"{threads} threads: ".ljust(len(head), "-"))
        shown.append(line)
    return "\n".join([*shown, "", f"Times are in {_UNIT_NAMES[unit]} ({unit}).", ""])


def _column(results: Sequence[Measurement | None], scale: float, trims: bool) -> list[str]:
    """Return the medians of a column as text, with as many digits as the surest of them has."""
    medians = [r and (r.median / scale, r.significant_figures) for r in results]
    leading = [math.ceil(math.log10(found[0])) for found in medians if found]
    decimals = min(max(f[1] - n, 0) for f, n in zip(filter(None, medians), leading, strict=True)) if trims else 1
    width = max(leading) + decimals + bool(decimals)
    shown = [found and (_trimmed(*found) if trims else found[0]) for found in medians]
    return [" " * width if number is None else f"{number:>{width}.{decimals}f}" for number in shown]


def _trimmed(number: float, figures: int) -> float:
    return round(number, figures - math.ceil(math.log10(number)))
