"""Tell where the time of a step goes, of the first and of a later one: XLA's part and Python's.

    python -m tests.benchmarks.phases                      # everything, two minutes
    python -m tests.benchmarks.phases --workloads tiny mlp

The workloads are those of `steps`, under funcgrad and by hand, each in a process of its own without a cache of compiled
programs. Of a first step: what compiling by XLA took, and all else (Python, tracing, lowering). Of a later one: what
the executables took until their results were there, and all else, for each instruction that is recorded too. What numpy
runs counts as an executable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from statistics import median
from typing import Any

import jax

from tests.benchmarks.apart import chosen, measured_apart
from tests.benchmarks.measured import build
from tests.benchmarks.workloads import WORKLOADS

ENGINES = ("funcgrad", "by hand")
WARM, STEPS, SECONDS = 30, 400, 4.0
COLUMNS = (
    "step us", "run us", "rest us", "programs", "recorded", "us each", "first s", "compile s", "rest s", "compiles",
)  # fmt: skip
COMPILED = "/jax/core/compile/backend_compile_duration"


class Clock:
    """Seconds that executables took since `clear`, and how many were called. It runs only while `is_on`."""

    def __init__(self) -> None:
        self.is_on = False
        self.clear()

    def clear(self) -> None:
        self.seconds, self.calls = 0.0, 0

    def timed(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        """Return `execute`, which is waited for and timed while the clock is on."""

        @wraps(execute)
        def run(*arguments: Any, **named: Any) -> Any:
            if not self.is_on:
                return execute(*arguments, **named)
            start = time.perf_counter()
            results = jax.block_until_ready(execute(*arguments, **named))
            self.seconds += time.perf_counter() - start
            self.calls += 1
            return results

        return run


def measure(engine: str, workload: str) -> dict[str, float]:
    """Return the figures of one engine's step."""
    clock, compiles = Clock(), []
    with _jitted(clock) if engine == "by hand" else nullcontext():
        step = build(engine, workload)
        jax.monitoring.register_event_duration_secs_listener(
            lambda event, seconds, **_: compiles.append(seconds) if event == COMPILED else None
        )
        first = _seconds(step)
        found = {"first s": first, "compile s": sum(compiles), "compiles": len(compiles)}
        found["rest s"] = first - found["compile s"]
        for _ in range(WARM):
            last = _seconds(step)
        return found | _later(step, clock, int(min(STEPS, max(10, SECONDS / last))), engine)


def _later(step: Callable[[], float], clock: Clock, count: int, engine: str) -> dict[str, float]:
    """Return the medians over so many steps."""
    whole = median(_seconds(step) for _ in range(count))
    if engine == "funcgrad":
        _time_plans(clock)
    clock.is_on, shares = True, []
    for _ in range(count):
        clock.clear()
        taken = _seconds(step)
        shares.append((clock.seconds, taken - clock.seconds))
    found = {"step us": 1e6 * whole, "programs": clock.calls, "recorded": _instructions(step, engine)}
    found["run us"], found["rest us"] = (1e6 * median(share) for share in zip(*shares, strict=True))
    if found["recorded"]:
        found["us each"] = found["rest us"] / found["recorded"]
    return found


def _seconds(step: Callable[[], float]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


@contextmanager
def _jitted(clock: Clock) -> Iterator[None]:
    """Let what is jitted inside be timed."""
    jitted = jax.jit
    jax.jit = lambda *given, **named: clock.timed(jitted(*given, **named))  # type: ignore[assignment]
    try:
        yield
    finally:
        jax.jit = jitted


def _time_plans(clock: Clock) -> None:
    """Let the executables of all plans be timed."""
    from funcgrad._program.apart import InStages
    from funcgrad._program.trie import forest

    waiting = list(forest._planned)
    while waiting:
        plan = waiting.pop()
        if isinstance(plan.execute, InStages):
            waiting += [stage for _, stage in plan.execute.stages]
        else:
            plan.execute = clock.timed(plan.execute)


def _instructions(step: Callable[[], float], engine: str) -> int:
    """Return how many instructions a step records; by hand there are none."""
    if engine == "by hand":
        return 0
    from funcgrad._program.journal import Journal

    Journal.runs.clear()
    Journal.watching = True
    step()
    Journal.watching = False
    return sum(run.instructions for run in Journal.runs)


def main() -> None:
    """Print two rows for each workload."""
    workloads = chosen(__doc__, WORKLOADS, measure)
    print(f"{'':20}" + "".join(f"{column:>10}" for column in COLUMNS))
    for workload in workloads:
        for engine in ENGINES:
            figures = measured_apart("tests.benchmarks.phases", engine, workload)
            print(f"{workload + ' ' + engine:20}" + "".join(f"{_figure(figures.get(name)):>10}" for name in COLUMNS))


def _figure(value: float | None) -> str:
    return "-" if not value else f"{value:.2f}" if value < 10 and value != int(value) else f"{value:.0f}"


if __name__ == "__main__":
    main()
