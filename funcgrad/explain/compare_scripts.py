"""python -m funcgrad compare a.py b.py: a stateful script and its functional twin, side by side."""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import io
import itertools
import runpy
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from funcgrad.explain.steps import Enough, Steps
from funcgrad.func.compare import Comparison, Step, compare, compared, pure, ran, style
from funcgrad.func.export import export

RunScript = Callable[[str, Sequence[str]], int]


def main(arguments: Sequence[str], run_script: RunScript) -> int:
    """Run both scripts' steps, print where they part and what each costs, and write the page.

    The first may be any PyTorch script: it is run unchanged until its optimizers have made so many steps. The second
    has `setup() -> (step, state, batches)`, with step(state, *batch) -> (state, loss) or (state, loss, gradients).
    Where a script trains one thing after another, setup() yields those, and is sent the last state of each; where a
    batch depends on the weights, batches is a generator that is sent the state after each step.
    Or they share state and data: the first has `setup() -> (step, batches)`, with step(*batch) -> loss, and the second
    `setup(state) -> (step, state)`.
    """
    given = list(arguments)
    own = given[given.index("--") + 1 :] if "--" in given else []
    parser = argparse.ArgumentParser(
        "python -m funcgrad compare",
        description=inspect.cleandoc(main.__doc__ or ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="What stands after -- goes to the stateful script.",
    )
    parser.add_argument("stateful", help="any PyTorch script, or one whose setup() returns (step, batches)")
    parser.add_argument("functional", help="a script whose setup() returns (step, state, batches)")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--out", default="compare.html", help="where the page goes")
    options = parser.parse_args(given[: len(given) - len(own) - ("--" in given)])
    lacking = next((path for path in (options.stateful, options.functional) if not Path(path).is_file()), None)
    if lacking is not None:
        parser.error(f"there is no file {lacking}")
    if not _has_setup(options.functional):
        parser.error(f"{options.functional} has no function setup(): see --help for what it returns")
    found = _of_steps(options) if _has_setup(options.stateful) else _of_scripts(options, own, run_script)
    found.save(options.out)
    print(found)
    print(f"page: {options.out}")
    return 0


def _has_setup(path: str) -> bool:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"), path)
    return any(isinstance(part, ast.FunctionDef) and part.name == "setup" for part in tree.body)


def _of_steps(options: Any) -> Comparison:
    step, batches = runpy.run_path(options.stateful)["setup"]()
    _, state = export(step, *batches[0])
    functional, start = runpy.run_path(options.functional)["setup"](state)
    return compare(step, functional, data=batches, steps=options.steps, state=start)


def _of_scripts(options: Any, arguments: Sequence[str], run_script: RunScript) -> Comparison:
    steps = Steps(options.steps)
    with steps.watched(), contextlib.suppress(Enough), contextlib.redirect_stdout(io.StringIO()):
        run_script(options.stateful, arguments)
    if not steps.trees:
        sys.exit(f"{options.stateful}: no optimizer made a step, so there is nothing to compare")
    sys.path.insert(0, str(Path(options.functional).resolve().parent))  # as for a script that is run: its neighbours
    setup = runpy.run_path(options.functional)["setup"]
    if inspect.signature(setup).parameters:
        sys.exit(
            f"{options.functional}: setup(state) takes the state of a stateful setup(), but {options.stateful} is a "
            "whole script: let setup() take nothing and return (step, state, batches)"
        )
    twin = Twin(setup)
    made, trees = ran(itertools.islice(twin.run(), len(steps.trees)))
    if not trees:
        sys.exit(f"{options.functional}: setup() gives no batch, so there is nothing to compare")
    stateful = style("stateful", steps.ran.first(len(trees)), steps.jaxpr)
    return compared(stateful, steps.trees[: len(trees)], style("functional", made, *twin.first), trees)


class Twin:
    """The steps of what a setup() returns, or yields one after another. first: a step, with its state and batch."""

    def __init__(self, setup: Callable[[], Any]) -> None:
        self.setup = setup
        self.first: Any = None

    def run(self) -> Iterator[Step]:
        """Yield the steps, phase after phase; each phase begins with the state that the one before ended with."""
        found = self.setup()
        phases, state = found if isinstance(found, Generator) else (phase for phase in [found]), None
        while True:
            try:
                step, start, batches = phases.send(state)
            except StopIteration:
                return
            state = yield from pure(self._noting(step, start), start, batches)

    def _noting(self, step: Callable[..., Any], start: Any) -> Callable[..., Any]:
        def noting(state: Any, *batch: Any) -> Any:
            self.first = self.first or (step, start, batch)
            return step(state, *batch)

        return noting
