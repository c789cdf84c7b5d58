"""Runs docstrings' examples one by one, in whichever library answers to the name torch, and keeps what each printed.

`python -m funcgrad -m tests.docstrings.run theirs.json ours.json` runs what another run left, and writes the same.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch


class Outcome(NamedTuple):
    """What one example did: `raised` holds the names of the exception's classes, the nearest first; empty without."""

    source: str
    printed: str
    raised: list[str]
    message: str


Outcomes = dict[str, list[Outcome]]


def run(sources: Sequence[str]) -> list[Outcome]:
    """Run the examples of one docstring in a namespace of their own, from the same seeds."""
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    names: dict[str, Any] = {
        "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim, "np": np, "numpy": np,
        "math": math, "__name__": "docstring",
    }  # fmt: skip
    with _settings_kept():
        return [_run_one(source, names) for source in sources]


def _run_one(source: str, names: dict[str, Any]) -> Outcome:
    printed, raised, message = io.StringIO(), [], ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(source, "<docstring>", "single"), names)
        except (Exception, SystemExit) as error:  # what an example raises is its outcome
            raised, message = [kind.__name__ for kind in type(error).__mro__], str(error)
    return Outcome(source, printed.getvalue(), raised, message)


@contextlib.contextmanager
def _settings_kept() -> Iterator[None]:
    """Put back what examples set for the whole process."""
    dtype = torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_default_device("cpu")
        torch.set_grad_enabled(True)
        torch.set_printoptions(profile="default")


def read(path: Path) -> Outcomes:
    """Read what `write` wrote."""
    return {name: [Outcome(*each) for each in found] for name, found in json.loads(path.read_text()).items()}


def write(path: Path, outcomes: Outcomes) -> None:
    """Write outcomes by the names of their docstrings, as JSON."""
    path.write_text(json.dumps(outcomes))


if __name__ == "__main__":
    theirs, ours = sys.argv[1:]
    write(Path(ours), {name: run([each.source for each in found]) for name, found in read(Path(theirs)).items()})
