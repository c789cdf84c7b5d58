"""Collects the examples of torch's own docstrings and runs them with torch.

`python -m tests.docstrings.collect theirs.json 0 4` takes the first of four parts of the docstrings; a fifth word is a
regular expression for whole names.
"""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tests.docstrings.exceptions import LEFT_OUT, LEFT_OUT_MODULES
from tests.docstrings.run import run, write

PARSER = doctest.DocTestParser()
IMPORTED_ON_REQUEST = (
    "torch.autograd.graph", "torch.distributions", "torch.futures", "torch.fx", "torch.library", "torch.masked",
    "torch.nested", "torch.nn.attention", "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.optim.swa_utils",
    "torch.signal", "torch.utils.checkpoint", "torch.utils.data", "torch.utils.flop_counter",
)  # fmt: skip


def collected() -> dict[str, list[str]]:
    """Return the examples of each public docstring of torch, by its name; of modules left out, none."""
    for name in IMPORTED_ON_REQUEST:
        importlib.import_module(name)
    found: dict[str, list[str]] = {}
    for name, text in _docstrings(torch, set()):
        try:
            examples = [each.source for each in PARSER.get_examples(text)]
        except ValueError:  # not doctest's own form
            continue
        if examples and name not in LEFT_OUT:
            found.setdefault(name, examples)
    return found


def _docstrings(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, str]]:
    for key in dir(module):
        if key.startswith("_") or (module is torch and re.fullmatch(r"\w+Tensor", key)):  # older names of Tensor
            continue
        value = getattr(module, key)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, ModuleType):
            if value.__name__.startswith("torch") and not re.match(LEFT_OUT_MODULES, value.__name__):
                yield from _docstrings(value, seen)
            continue
        yield from _documented(f"{module.__name__}.{key}", value)
        if isinstance(value, type) and value.__module__.startswith("torch"):
            for method_name, method in _methods(value).items():
                if id(method) not in seen:
                    seen.add(id(method))
                    yield from _documented(f"{module.__name__}.{key}.{method_name}", method)


def _methods(kind: type) -> dict[str, Any]:
    """Return what a class has of its own or from a private base, as Tensor has most methods."""
    bases = [base for base in kind.__bases__ if base.__module__.startswith("torch._")]
    return {name: value for each in (kind, *bases) for name, value in vars(each).items()}


def _documented(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(text := getattr(value, "__doc__", None), str):
        yield name, text


if __name__ == "__main__":
    path, part, parts, *wanted = sys.argv[1:]
    chosen = list(collected().items())[int(part) :: int(parts)]
    write(Path(path), {name: run(given) for name, given in chosen if not wanted or re.fullmatch(wanted[0], name)})
