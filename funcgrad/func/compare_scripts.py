"""python -m funcgrad compare a.py b.py: a stateful script and its functional twin, side by side."""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Sequence

from funcgrad.func.compare import compare
from funcgrad.func.export import export


def main(arguments: Sequence[str]) -> int:
    """Run both scripts' steps from the same state, print where they part, and write the page.

    The first script has `setup() -> (step, batches)`, with step(*batch) -> loss. The second has
    `setup(state) -> (step, state)`, with step(state, *batch) -> (state, loss) or (state, loss, gradients).
    """
    parser = argparse.ArgumentParser("python -m funcgrad compare", description=(main.__doc__ or "").split("\n")[0])
    parser.add_argument("stateful", help="a script whose setup() returns (step, batches)")
    parser.add_argument("functional", help="a script whose setup(state) returns (step, state)")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--out", default="compare.html", help="where the page goes")
    options = parser.parse_args(list(arguments))
    step, batches = runpy.run_path(options.stateful)["setup"]()
    _, state = export(step, *batches[0])
    functional, start = runpy.run_path(options.functional)["setup"](state)
    found = compare(step, functional, data=batches, steps=options.steps, state=start)
    found.save(options.out)
    print(found)
    print(f"page: {options.out}")
    return 0
