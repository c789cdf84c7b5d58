"""How a short script is run, in torch (to record) or in funcgrad (to test), and how what it shows is written down.

A script is one line of `scripts/*.txt`; its last expression is what it shows; `⏎` stands for a line break. A script
that must fail may end in `## phrase`: words that the message must hold, on both sides.
"""

from __future__ import annotations

import ast
import copy
import math
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SCRIPTS = Path(__file__).parent / "scripts"
RECORDED = Path(__file__).parent / "recorded"


class Script(NamedTuple):
    """One script, and the words that its error must hold (empty: it need not fail)."""

    source: str
    phrase: str = ""


def families() -> list[str]:
    """Return the names of the script files."""
    return sorted(path.stem for path in SCRIPTS.glob("*.txt"))


def scripts_of(family: str) -> Iterator[Script]:
    """Yield the scripts of one file."""
    for line in (SCRIPTS / f"{family}.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            source, _, phrase = line.partition(" ## ")
            yield Script(source.strip(), phrase.strip())


def shown(source: str, torch: Any) -> dict[str, Any]:
    """Run a script; return {"shows": ...} or {"error": [class names], "message": ...}."""
    scope = {"torch": torch, "np": np, "copy": copy, "math": math, "pickle": pickle, "nn": torch.nn}
    tree = ast.parse(source.replace("⏎", "\n"))
    last = tree.body.pop()
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(tree, "<script>", "exec"), scope)
            if isinstance(last, ast.Expr):
                return {"shows": described(eval(compile(ast.Expression(last.value), "<script>", "eval"), scope))}
            exec(compile(ast.Module([last], []), "<script>", "exec"), scope)
            return {"shows": None}
    except Exception as error:
        return {"error": [kind.__name__ for kind in type(error).__mro__], "message": str(error)}


def described(value: Any) -> Any:
    """Return what json can hold of a value: of a tensor its class, dtype, shape, whether it is a leaf, its numbers."""
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        facts = [type(value).__name__, str(value.dtype), list(value.shape), value.requires_grad, value.is_leaf]
        return {"tensor": facts, "device": str(value.device), "numbers": _numbers(value.detach())}
    if isinstance(value, np.ndarray):
        return {"array": [str(value.dtype), list(value.shape)], "numbers": described(value.tolist())}
    if isinstance(value, (list, tuple)):
        return {"sequence": type(value).__name__.rpartition(".")[2], "of": [described(x) for x in value]}
    if isinstance(value, dict):
        return {"mapping": {str(key): described(x) for key, x in value.items()}}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"text": str(value)}


def _numbers(tensor: Any) -> Any:
    if tensor.device.type == "meta":
        return None
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return described(tensor.numpy().tolist())


def agree(a: Any, b: Any) -> bool:
    """Tell whether two descriptions are the same, floats up to 1e-5."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6)
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(agree(a[key], b[key]) for key in a)
    return bool(a == b)
