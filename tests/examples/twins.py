"""Compares each script of `examples/scripts/` with its functional twin in `examples/twins/`, and writes the table.

python -m tests.examples.twins                      # all of them
python -m tests.examples.twins --only vae dcgan     # some of them
python -m tests.examples.twins --steps 20 --write-docs
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.examples import tables
from tests.examples.scripts import ROOT, names

PAGE = ROOT / "docs" / "twins.md"
KINDS = ("loss", "gradients", "parameters", "optimizer")
HEAD = [
    "script", "twin", "lines", "steps", "last loss", *[f"{kind} apart" for kind in KINDS], "script, ms a step",
    "twin, ms a step",
]  # fmt: skip


# A bias in front of a batch norm, or of a softmax's scores, has a gradient of nothing but rounding, of which Adam makes
# whole steps: so far as its rate.
AMPLIFIED = {"multi_task": 2e-3, "seq2seq_attention": 5e-3}
# L-BFGS without a line search lets rounding grow in each of its ten turns.
CHAOTIC = {"neural_style": 2e-2}


class Apart(NamedTuple):
    """How far a script and its twin are apart: the last losses, the largest difference of each kind that was compared.

    lonely: the paths that only one of them has. milliseconds: of a usual step of each.
    """

    name: str
    losses: tuple[float, float]
    differences: dict[str, float]
    lonely: list[str]
    steps: int
    milliseconds: tuple[float, float]

    @property
    def is_rounding(self) -> bool:
        """Tell whether no more than rounding (relative above 1) keeps losses, gradients and parameters apart."""
        scale = max(1.0, abs(self.losses[0]))
        usual = CHAOTIC.get(self.name, 1e-4)
        amplified = 2 * self.steps * AMPLIFIED.get(self.name, 0.0)
        most = {"loss": usual, "gradients": usual, "parameters": max(usual, amplified)}
        return all(self.differences.get(kind, 1.0) < bound * scale for kind, bound in most.items())


def compared(name: str, steps: int) -> Apart:
    """Compare a script and its twin for some steps; RuntimeError with what was said where that fails."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["-m", "funcgrad", "compare", f"examples/scripts/{name}.py", f"examples/twins/{name}.py"]
        words += ["--steps", str(steps), "--out", str(Path(folder) / "page.html")]
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": paths}
        ran = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"{' '.join(words)} failed:\n{ran.stderr[-3000:]}")
    return read(name, ran.stdout)


def read(name: str, printed: str) -> Apart:
    """Return what `compare` printed."""
    differences, steps = {}, 0
    for kind in KINDS:
        parted = re.search(rf"^{kind}: part at step \d+ in .* by .*; at most (\S+) later", printed, re.MULTILINE)
        equal = re.search(rf"^{kind}: equal to the last bit", printed, re.MULTILINE)
        if parted or equal:
            differences[kind] = float(parted[1]) if parted else 0.0
    found = re.search(r"^steps compared +(\d+)", printed, re.MULTILINE)
    steps = int(found[1]) if found else 0
    lonely = re.search(r"^only in one of the two: (.*)$", printed, re.MULTILINE)
    return Apart(
        name, _pair(printed, "last loss"), differences, lonely[1].split(", ") if lonely else [], steps,
        _pair(printed, "time per step"),
    )  # fmt: skip


def _pair(printed: str, label: str) -> tuple[float, float]:
    found = re.search(rf"^{label} +(\S+)(?: ms)? +(\S+)", printed, re.MULTILINE)
    assert found is not None, printed
    return float(found[1]), float(found[2])


def twins() -> list[str]:
    """Return the names of the scripts that have a twin."""
    return [name for name in names() if (ROOT / "examples" / "twins" / f"{name}.py").exists()]


def _cells(name: str, apart: Apart) -> list[str]:
    twin = ROOT / "examples" / "twins" / f"{name}.py"
    return [
        f"[{name}](../examples/scripts/{name}.py)", f"[twin](../examples/twins/{name}.py)",
        str(len(twin.read_text().splitlines())), str(apart.steps), f"{apart.losses[0]:.5g}",
        *[f"{apart.differences[kind]:.0e}" if kind in apart.differences else "-" for kind in KINDS],
        *[f"{one:.2f}" for one in apart.milliseconds],
    ]  # fmt: skip


def page(rows: Sequence[list[str]]) -> str:
    """Return the page of the docs."""
    return "\n".join([
        "# Scripts and their functional twins", "",
        "Each script in `examples/scripts/` is a loop in PyTorch's manner, and has a twin in `examples/twins/`: a pure "
        "loss in JAX, an optax transformation, and a jitted step that takes its state and gives the next. "
        "`python -m funcgrad compare examples/scripts/vae.py examples/twins/vae.py` runs the script unchanged and the "
        "twin from the same weights on the same data, and says where they part.", "",
        "`apart` is the largest absolute difference in any of the steps: rounding. `-`: not compared (L-BFGS keeps its "
        "history elsewhere; plain SGD keeps none). A step's time is the median, its batch included.",
        "`multi_task` and `seq2seq_attention` have a bias in front of a batch norm, or of a softmax's scores: its "
        "gradient is nothing but rounding, of which Adam makes whole steps. The L-BFGS of `neural_style` has no line "
        "search and lets rounding grow, under PyTorch too ([scripts](scripts.md)): it is shown after one step of ten "
        "turns. After some dozens of steps a ReLU may turn over in the one and not in the other, where rounding "
        "decides, and gradients part by what that one is worth; that happens between any two machines.", "",
        *tables.markdown(HEAD, rows), "",
        tables.measured(("jax", "jaxlib", "optax"), "python -m tests.examples.twins --write-docs"), "",
    ])  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare what the command line names; return 1 where a script and its twin part by more than rounding."""
    parser = argparse.ArgumentParser(description="Compare examples/scripts with examples/twins.")
    parser.add_argument("--only", nargs="+", choices=twins(), help="these alone")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/twins.md")
    options = parser.parse_args(arguments)
    rows, fine = [], True
    print(" | ".join(HEAD))
    for name in options.only or twins():
        try:
            apart = compared(name, 1 if name in CHAOTIC else options.steps)
        except RuntimeError as error:
            print(error, flush=True)
            fine = False
            continue
        fine &= apart.is_rounding
        rows.append(_cells(name, apart))
        print(" | ".join(rows[-1]), "" if apart.is_rounding else "MORE THAN ROUNDING", *apart.lonely, flush=True)
    if options.write_docs and rows:
        PAGE.write_text(page(rows))
    return int(not fine)


if __name__ == "__main__":
    sys.exit(main())
