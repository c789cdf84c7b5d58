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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from funcgrad.explain.steps import Enough, Steps
from funcgrad.func.compare import Comparison, compare, compared, pure, ran, style
from funcgrad.func.export import export

RunScript = Callable[[str, Sequence[str]], int]


def main(arguments: Sequence[str], run_script: RunScript) -> int:
    """Run both scripts' steps, print where they part and what each costs, and write the page.

    The first may be any PyTorch script: it is run unchanged until its optimizers have made so many steps. The second
    has `setup() -> (step, state, batches)`, with step(state, *batch) -> (state, loss) or (state, loss, gradients).
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
    setup = runpy.run_path(options.functional)["setup"]
    if inspect.signature(setup).parameters:
        sys.exit(
            f"{options.functional}: setup(state) takes the state of a stateful setup(), but {options.stateful} is a "
            "whole script: let setup() take nothing and return (step, state, batches)"
        )
    function, state, batches = setup()
    data = list(itertools.islice(iter(batches), len(steps.trees)))
    made, trees = ran(pure(function, state, data))
    stateful = style("stateful", steps.ran, steps.jaxpr)
    return compared(stateful, steps.trees, style("functional", made, function, state, data[0]), trees)
