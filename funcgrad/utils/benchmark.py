"""torch.utils.benchmark: how long a statement takes. What it gives is computed, though nobody reads it."""

from __future__ import annotations

import ast
import math
import statistics
import time
import timeit
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from funcgrad._tensor.names import flush, synchronize

__all__ = ["Compare", "Measurement", "Timer", "timer"]


def timer() -> float:
    """Return the clock's seconds once the devices are idle."""
    synchronize()
    return time.perf_counter()


@dataclass
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
        return f"{self.label}{': ' if self.label else ''}{self.sub_label or self.description}"

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean something, judged by the spread of the blocks; 1 to 4."""
        if self.iqr == 0:
            return 1 if len(self.raw_times) < 2 else 4
        width = self.iqr / len(self.raw_times) ** 0.5
        return min(max(int(math.log10(self.median / width)), 1), 4)

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
        if len(self.raw_times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
        return third - first

    def __repr__(self) -> str:
        return f"<Measurement {self.title}\n  Median: {_shown(self.median)}\n  {len(self.raw_times)} measurements, "\
            f"{self.number_per_run} runs per measurement>"  # fmt: skip


class Timer:
    """Measure a statement, given as text with its names in `globals`, or as a function."""

    def __init__(
        self, stmt: str | Callable[[], Any] = "pass", setup: str | Callable[[], Any] = "pass",
        global_setup: str = "", timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None,
        env: str | None = None, num_threads: int = 1, language: Any = None,
    ) -> None:  # fmt: skip
        shown = stmt if isinstance(stmt, str) else getattr(stmt, "__name__", "")
        names = {**(globals or {}), "_statement": stmt, "_computed": _computed}
        self._timer = timeit.Timer(_computing(stmt), setup, timer, names)
        prepared = setup if isinstance(setup, str) else getattr(setup, "__name__", "")
        self._titles = (label or shown, sub_label or "", description or "", num_threads, shown, prepared)

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
    """A table of measurements: a row for each label, a column for each description."""

    def __init__(self, results: Sequence[Measurement]) -> None:
        self._results = list(results)

    def extend_results(self, results: Sequence[Measurement]) -> None:
        """Add measurements."""
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Accepted: times are shown with four figures."""

    colorize = highlight_warnings = trim_significant_figures

    def __str__(self) -> str:
        columns = list(dict.fromkeys(result.description for result in self._results))
        rows = list(dict.fromkeys((result.label, result.sub_label) for result in self._results))
        found = {(r.label, r.sub_label, r.description): _shown(r.median) for r in self._results}
        cells = [["", *columns], *([" ".join(row), *(found.get((*row, c), "") for c in columns)] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(" | ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells)

    def print(self) -> None:
        """Print the table."""
        print(self)


def _shown(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
