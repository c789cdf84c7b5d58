"""Runs `examples/scripts/` under PyTorch and under funcgrad, unchanged, and compares what they print.

    python -m tests.examples.scripts                     # all of them, live
    python -m tests.examples.scripts --only vae dcgan    # some of them
    python -m tests.examples.scripts --quick             # one run each: no other CPU, the compile cache as it is
    python -m tests.examples.scripts --record            # write down what PyTorch prints, for the tests
    python -m tests.examples.scripts --write-docs        # and the table into docs/scripts.md

Two runs of one script drift apart by rounding, and some scripts let rounding grow. How much, PyTorch itself shows: the
column `torch, other CPU` is PyTorch against PyTorch with an older instruction set and one thread.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.examples import tables

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "examples" / "scripts"
RECORDED = Path(__file__).parent / "recorded"
PAGE = ROOT / "docs" / "scripts.md"

SAME = 1e-4  # how near the first fifth of a curve must be; later drift is reported
SHORT = 0.2  # seconds; the second half of a script that takes less says nothing about its speed
_OTHER_CPU = {"ATEN_CPU_CAPABILITY": "default", "DNNL_MAX_CPU_ISA": "SSE41", "OMP_NUM_THREADS": "1"}
_SECONDS = re.compile(r"[-+]?\d+(?:\.\d*)?\s?(?:ms|s|seconds)\b")
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|\bnan\b|\binf\b")


class Output(NamedTuple):
    """What a script printed: its lines, when each came (seconds after the start), and how long it took."""

    lines: list[str]
    times: list[float]
    seconds: float

    @property
    def second_half(self) -> float:
        """How long the second half of the lines took: the script in full swing, all compiled."""
        return self.times[-1] - self.times[len(self.times) // 2]


class Difference(NamedTuple):
    """How far two outputs are apart (relative to numbers above 1), at first and at most; lines that read otherwise."""

    early: float
    largest: float
    other_words: list[tuple[str, str]]

    @property
    def is_same_curve(self) -> bool:
        return self.early <= SAME and not self.other_words


def names() -> list[str]:
    """Return the names of all scripts."""
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


def path_of(name: str) -> Path:
    """Return where a script is."""
    return SCRIPTS / f"{name}.py"


def run(script: Path, *, funcgrad: bool, environment: dict[str, str] | None = None, timeout: float = 600) -> Output:
    """Run a script in a fresh process; RuntimeError with what it said where it fails."""
    words = [sys.executable, "-u", *(["-m", "funcgrad"] if funcgrad else []), str(script)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(environment or {})}
    lines, times, start = [], [], time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen(words, cwd=folder, env=known, stdout=subprocess.PIPE, stderr=errors, text=True) as child:
            assert child.stdout is not None
            for line in child.stdout:
                lines.append(line.rstrip())
                times.append(time.perf_counter() - start)
                if times[-1] > timeout:
                    child.kill()
        if child.returncode:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(words[2:])} failed:\n{errors.read()[-3000:]}")
    return Output(lines, times, time.perf_counter() - start)


def difference(expected: Sequence[str], found: Sequence[str]) -> Difference:
    """Compare two outputs number by number; times ("12.3 ms") do not count."""
    other_words: list[tuple[str, str]] = []
    if len(expected) != len(found):
        other_words.append((f"{len(expected)} lines", f"{len(found)} lines"))
    by_line = []
    for one, other in zip(expected, found, strict=False):
        one, other = (_SECONDS.sub("(time)", line) for line in (one, other))
        if _words(one) != _words(other):
            other_words.append((one, other))
            continue
        pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
        by_line.append(max((_apart(float(a), float(b)) for a, b in pairs), default=0.0))
    first = max(1, len(by_line) // 5)
    return Difference(max(by_line[:first], default=0.0), max(by_line, default=0.0), other_words)


def _words(line: str) -> list[str]:
    """Return the words without numbers, and without the spaces around these: numpy pads them to one width."""
    return re.sub(r"\s*#\s*", " # ", _NUMBER.sub("#", line)).split()


def _apart(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other) / max(1.0, abs(one))
    return distance if math.isfinite(distance) else math.inf


class Row(NamedTuple):
    """One script in the table: funcgrad against torch, torch against torch on another CPU, and the times of all."""

    name: str
    difference: Difference
    control: Difference | None
    torch: Output
    first: Output | None
    second: Output

    def cells(self) -> list[str]:
        """Return the row's cells as text."""
        link = f"[{self.name}](../examples/scripts/{self.name}.py)"
        verdict = "same" if self.difference.is_same_curve else "differs"
        control = f"{self.control.largest:.0e}" if self.control else "-"
        first = f"{self.first.seconds:.1f}" if self.first else "-"
        half = self.torch.second_half
        steady = f"{self.second.second_half / half:.2f}" if half > SHORT else "-"
        return [
            link, verdict, f"{self.difference.early:.0e}", f"{self.difference.largest:.0e}", control,
            f"{self.torch.seconds:.1f}", first, f"{self.second.seconds:.1f}",
            f"{self.second.seconds / self.torch.seconds:.2f}", steady,
        ]  # fmt: skip


HEAD = [
    "script", "curve", "first fifth", "largest", "torch, other CPU", "torch, s", "first run, s", "second run, s",
    "second / torch", "steady / torch",
]  # fmt: skip


def measure(name: str, quick: bool) -> Row:
    """Run one script five times, twice under funcgrad, the first time with an empty compile cache; or (quick) twice."""
    script = path_of(name)
    torch = run(script, funcgrad=False)
    if quick:
        second = run(script, funcgrad=True)
        return Row(name, difference(torch.lines, second.lines), None, torch, None, second)
    control = run(script, funcgrad=False, environment=_OTHER_CPU)
    with tempfile.TemporaryDirectory() as cache:
        first, second = (run(script, funcgrad=True, environment={"FUNCGRAD_CACHE": cache}) for _ in range(2))
    apart = difference(torch.lines, control.lines)
    return Row(name, difference(torch.lines, second.lines), apart, torch, first, second)


def recorded(name: str) -> list[str]:
    """Return what PyTorch printed when it was recorded."""
    return (RECORDED / f"{name}.txt").read_text().splitlines()


def record(wanted: Iterable[str]) -> None:
    """Write down what PyTorch prints."""
    RECORDED.mkdir(exist_ok=True)
    for name in wanted:
        lines = run(path_of(name), funcgrad=False).lines
        (RECORDED / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(f"recorded {name}: {len(lines)} lines", flush=True)


def page(rows: Sequence[Row]) -> str:
    """Return the page of the docs."""
    same = sum(row.difference.is_same_curve for row in rows)
    return "\n".join([
        "# Scripts, unchanged", "",
        "`python -m funcgrad script.py` runs a PyTorch script with funcgrad in torch's place. These are written "
        "against PyTorch in the manner of the tutorials, papers and repositories that people start from. Each runs "
        "unchanged under both, with the same seed; what they print is compared number by number.", "",
        f"{same} of {len(rows)} give the same curve: the same words, and numbers within {SAME:g} (relative above 1) in "
        "the first fifth of the lines.",
        "`largest` is how far they part later on, by rounding; `torch, other CPU` is the same figure for PyTorch "
        "against PyTorch on an older instruction set and one thread. `first run` has an empty compile cache. `steady` "
        "is the time of the second half of the printed lines.", "",
        *tables.markdown(HEAD, [row.cells() for row in rows]), "",
        tables.measured(("torch", "jax", "jaxlib"), "python -m tests.examples.scripts --write-docs"), "",
    ])  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; return 1 where a script's curve differs."""
    parser = argparse.ArgumentParser(description="Compare PyTorch and funcgrad on examples/scripts.")
    parser.add_argument("--only", nargs="+", choices=names(), help="these scripts alone")
    parser.add_argument("--quick", action="store_true", help="run each script once under each")
    parser.add_argument("--record", action="store_true", help="write down what PyTorch prints, and do no more")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/scripts.md")
    options = parser.parse_args(arguments)
    wanted = options.only or names()
    if options.record:
        record(wanted)
        return 0
    rows = []
    print(" | ".join(HEAD))
    for name in wanted:
        try:
            rows.append(measure(name, options.quick))
        except RuntimeError as error:
            print(error, flush=True)
            continue
        print(" | ".join(rows[-1].cells()), *rows[-1].difference.other_words[:3], flush=True)
    if options.write_docs and rows:
        PAGE.write_text(page(rows))
    return int(len(rows) < len(wanted) or not all(row.difference.is_same_curve for row in rows))


if __name__ == "__main__":
    sys.exit(main())
