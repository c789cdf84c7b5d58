"""Measure whole training steps: funcgrad, the same text under torch, and the step written by hand in JAX.

    python -m tests.benchmarks.steps                                # everything, some minutes
    python -m tests.benchmarks.steps --workloads tiny mlp --quick   # a first look

Every engine runs in a process of its own. They take turns, a round of steps each, so that what else the machine does
falls on all alike; a ratio is the median over the rounds of the ratio within a round.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.measured import ENGINES
from tests.benchmarks.workloads import WORKLOADS

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {
    "vs hand": "x hand-written step", "vs torch": "x torch eager", "funcgrad": "ms", "torch": "ms", "by hand": "ms",
    "first": "s, first step", "hand first": "s, hand-written", "second run": "s, warm cache",
    "peak": "MB, funcgrad", "hand peak": "MB, hand-written", "loss": "largest difference to torch",
}  # fmt: skip


PAGE = """# Performance

Written by `python -m tests.benchmarks.steps --docs`: the same imperative loop under funcgrad and under torch, and the
step that an expert writes in JAX (jit, optax, donation, channels last, scan). Each engine in a process of its own, in
turn; a ratio is the median over rounds of the ratio within a round. `item()` is called in every step.

{machine}; {recorded}.

{table}
{columns}
What the rows are: `tiny` an MLP 8-16-16-2, batch 16; `mlp` 784-256-256-10, batch 64; `conv` two convolutions with
pooling on 28x28; `resnet` three residual blocks with BatchNorm on 32x32, batch 32; `gpt` 4 layers, width 128, context
64, batch 12; `deep` 12 layers of width 48; `lstm` 50 steps, hidden 64; `gan` two nets, two optimizers; `printed` the
`mlp` whose loss is looked at before `backward()`; `look` and `look-conv` one answer to one sample under `no_grad`.

Where a row is well above 1 hand-written step, most of it is Python, which records each op (the figure above);
`python -m tests.benchmarks.phases` tells it from the rest, decision 24 what was tried. Loops and their lengths are
measured by `python -m tests.benchmarks.loops`; see decision 7.
"""


class EndedError(RuntimeError):
    """A process has ended before it answered; what it had to say stands on standard error."""


class Engine:
    """A process that waits to be asked for steps."""

    def __init__(self, name: str, workload: str, cache: str) -> None:
        environment = os.environ | {"FUNCGRAD_CACHE": cache if name == "funcgrad" else "off"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.measured", name, workload],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.first = self._answer()

    def ask(self, what: object) -> Any:
        """Send one line and wait for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EndedError(f"{' '.join(self.process.args)} has ended with code {self.process.wait()}")  # type: ignore[arg-type]
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)


@contextmanager
def engines(names: Sequence[str], workload: str, cache: str) -> Iterator[dict[str, Engine]]:
    """Start an engine after the other, so that each has the machine to itself for its first step."""
    running: dict[str, Engine] = {}
    try:
        for name in names:
            running[name] = Engine(name, workload, cache)
        yield running
    finally:
        for engine in running.values():
            engine.close()


def measure(workload: str, names: Sequence[str], rounds: int, seconds: float) -> dict[str, float]:
    """Return one row of the table."""
    with tempfile.TemporaryDirectory() as cache, engines(names, workload, cache) as running:
        row = _first_steps(running, workload, cache)
        warm = {name: engine.ask(20) for name, engine in running.items()}
        if "torch" in names and "funcgrad" in names:
            pairs = zip(warm["funcgrad"]["losses"], warm["torch"]["losses"], strict=True)
            row["loss"] = max(abs(a - b) for a, b in pairs)
        slowest = max(median(answer["seconds"]) for answer in warm.values())
        steps = max(5, int(seconds / slowest))
        by_round: dict[str, list[float]] = {name: [] for name in names}
        for turn in range(rounds):
            for i in range(len(names)):
                name = names[(i + turn) % len(names)]
                by_round[name].append(median(running[name].ask(steps)["seconds"]))
        for name, times in by_round.items():
            row[name] = 1e3 * median(times)
        for column, other in (("vs hand", "by hand"), ("vs torch", "torch")):
            if "funcgrad" in names and other in names:
                row[column] = median(a / b for a, b in zip(by_round["funcgrad"], by_round[other], strict=True))
        for column, name in (("peak", "funcgrad"), ("hand peak", "by hand")):
            if name in names:
                row[column] = running[name].ask("memory") / 1e6
    return row


def _first_steps(running: dict[str, Engine], workload: str, cache: str) -> dict[str, float]:
    row = {}
    if "by hand" in running:
        row["hand first"] = running["by hand"].first["first"]
    if "funcgrad" in running:
        row["first"] = running["funcgrad"].first["first"]
        again = Engine("funcgrad", workload, cache)
        row["second run"] = again.first["first"]
        again.close()
    return row


def print_table(rows: dict[str, dict[str, float]]) -> None:
    """Print the rows that were measured, ratios first."""
    columns = [column for column in COLUMNS if any(column in row for row in rows.values())]
    print(f"{'':9}", *(f"{column:>10}" for column in columns))
    for workload, row in rows.items():
        print(f"{workload:9}", *(f"{_figure(row.get(column)):>10}" for column in columns), flush=True)
    print("\n" + "\n".join(f"{column:>10}  {COLUMNS[column]}" for column in columns))


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def recording() -> str:
    """Return what it costs to record one op, over 100,000 of them."""
    plain = Engine("funcgrad", "ops", "off")
    with_history = plain._answer()
    plain.close()
    return f"recording one op: {1e6 * plain.first:.2f} us; with history for backward: {1e6 * with_history:.2f} us"


def page(rows: dict[str, dict[str, float]], recorded: str) -> str:
    """Return docs/performance.md: the table, and on what it was measured."""
    columns = [column for column in COLUMNS if any(column in row for row in rows.values())]
    packages = [name for name in ("jax", "optax", "torch") if importlib.util.find_spec(name)]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    machine = f"{datetime.date.today()}, {os.cpu_count()} CPU cores ({platform.machine()})"
    table = f"| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}\n"
    for workload, row in rows.items():
        table += f"| {workload} | {' | '.join(_figure(row.get(column)) for column in columns)} |\n"
    return PAGE.format(
        machine=f"{machine}, Python {platform.python_version()}, {versions}", recorded=recorded, table=table,
        columns="".join(f"- **{column}**: {COLUMNS[column]}\n" for column in columns),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure training steps.")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="3 short rounds")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--out", type=Path, help="write the figures there as JSON too")
    parser.add_argument("--docs", action="store_true", help="write docs/performance.md")
    options = parser.parse_args()
    rounds, seconds = (3, 0.1) if options.quick else (options.rounds, 0.5)
    names = [name for name in options.engines if name != "torch" or importlib.util.find_spec("torch")]

    rows, failed = {}, []
    for workload in options.workloads:
        print(f"measuring {workload} ...", file=sys.stderr)
        try:
            rows[workload] = measure(workload, names, rounds, seconds)
        except EndedError as error:
            failed.append(f"{workload}: {error}")
    print_table(rows)
    recorded = recording() if "funcgrad" in names else ""
    print(f"\n{recorded}")
    if options.docs:
        (ROOT / "docs" / "performance.md").write_text(page(rows, recorded))
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1))
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
