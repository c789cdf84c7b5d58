"""Writes docs/coverage.md: how many of torch's public names funcgrad has, and which it lacks, each with its reason.

`python -m tests.ops.coverage` writes it anew; `--check` says whether it is up to date. torch's names were recorded by
`python -m tests.ops.record_names`.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import funcgrad
from tests.ops.absent import WHY_SHORT, reason_for

NAMES = Path(__file__).parent / "recorded" / "torch_names.json"
OP_DB = Path(__file__).parent / "recorded" / "op_db.json"
PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
NAMESPACES = (
    "torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils",
    "torch.nn.utils.rnn", "torch.nn.utils.parametrize", "torch.nn.utils.parametrizations", "torch.nn.utils.prune",
    "torch.nn.utils.stateless", "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils", "torch.utils",
    "torch.utils.data", "torch.utils.checkpoint", "torch.utils.hooks", "torch.autograd", "torch.autograd.functional",
    "torch.autograd.forward_ad", "torch.linalg", "torch.fft", "torch.special", "torch.signal.windows", "torch.masked",
    "torch.sparse", "torch.random", "torch.distributions", "torch.distributions.transforms",
    "torch.distributions.constraints", "torch.func", "torch.amp", "torch.cuda", "torch.cuda.amp", "torch.cpu",
    "torch.mps", "torch.xpu", "torch.accelerator", "torch.backends", "torch.backends.cudnn", "torch.backends.cuda",
    "torch.jit", "torch.compiler", "torch.profiler", "torch.hub", "torch.multiprocessing", "torch.distributed",
    "torch.overrides", "torch.serialization", "torch.testing", "torch.types", "torch.version", "torch.return_types",
    "torch.storage", "torch.nested", "torch.library", "torch.fx", "torch.export", "torch.onnx", "torch.package",
)  # fmt: skip


@functools.cache
def recorded() -> dict[str, Any]:
    """Return torch's version and, by namespace, its names."""
    found: dict[str, Any] = json.loads(NAMES.read_text(encoding="utf-8"))
    return found


def ours(path: str) -> Any:
    """Return our object behind torch's dotted path, or None."""
    found: Any = funcgrad
    for part in path.split(".")[1:]:
        try:
            found = getattr(found, part)
        except (AttributeError, ModuleNotFoundError):
            name = f"funcgrad.{'.'.join(path.split('.')[1:])}"
            try:
                return importlib.import_module(name)
            except ModuleNotFoundError:
                return None
    return found


def has(home: Any, name: str) -> bool:
    """Tell whether a namespace of ours has a name."""
    try:
        getattr(home, name)
    except (AttributeError, ModuleNotFoundError):
        return False
    return True


@functools.cache
def missing(path: str) -> tuple[str, ...]:
    """Return torch's names under a path that we lack."""
    home = ours(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(name for name in recorded()["names"][path] if home is None or not has(home, name))


def by_reason(path: str) -> dict[str, list[str]]:
    """Return the missing names by the reason why they are; "" for those that are still to come."""
    found: dict[str, list[str]] = {}
    for name in missing(path):
        found.setdefault(reason_for(path, name), []).append(name)
    return dict(sorted(found.items()))


def page() -> str:
    """Return the text of docs/coverage.md."""
    names = recorded()["names"]
    lines = [
        "# What of PyTorch is here", "",
        f"torch {recorded()['version']}'s public names, and how many of them funcgrad has. Written by",
        "`python -m tests.ops.coverage`; a test holds it to the code.", "",
        "`python -m tests.docstrings` runs the 5,800 examples in torch's own docstrings under both libraries: what",
        "they print is the same, or `tests/docstrings/exceptions.py` says why not.", "",
        *_op_db_section(), "## Names", "",
        "| namespace | torch's names | here | left out, with a reason below | missing |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for path in NAMESPACES:
        groups = by_reason(path)
        left_out, open_ones = sum(len(n) for reason, n in groups.items() if reason), len(groups.get("", ()))
        here = len(names[path]) - left_out - open_ones
        lines.append(f"| `{path}` | {len(names[path])} | {here} | {left_out} | {open_ones} |")
    lines += ["", "## What is not here, and why", ""]
    for path in NAMESPACES:
        groups = by_reason(path)
        if groups:
            lines += [f"### {path}", ""]
            lines += [
                f"- {reason or '*missing*'}: {', '.join(f'`{n}`' for n in found)}" for reason, found in groups.items()
            ]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


_RESPECTS = {
    "forward": "values, shapes, dtypes, in float32, float64, int64, bool, bfloat16, float16, complex64",
    "gradient": "what `backward` gives every input, in float32, float64, complex64",
    "gradgrad": "gradients of gradients",
    "jvp": "tangents by `jax.jvp` through the public function",
    "forms": "method, operator, in place, aliases, `out=`",
    "errors": "wrong inputs raise torch's exception",
}


def _op_db_section() -> list[str]:
    """Return what the last whole run of op_db found, as `python -m tests.ops.op_db.merged` recorded it."""
    if not OP_DB.exists():
        return []
    found = json.loads(OP_DB.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    lines = [
        "## Ops", "",
        f"torch's own sample database, `op_db`, has {found['entries']} entries;",
        f"{found['left out']} are left out ([each with its reason](differences.md)). The others were run in pieces",
        "by `python -m tests.ops.op_db --json FILE`, and put together by `python -m tests.ops.op_db.merged FILE ...`,",
        f"with {versions} on {found['date']}: {found['samples']}.", "",
        "| check | what is compared | entries that hold | that have it |", "|---|---|---|---|",
        *(f"| {check} | {_RESPECTS[check]} | {held} | {having} |" for check, (held, having) in found["hold"].items()),
        "",
    ]  # fmt: skip
    if found["short"]:
        lines += ["Entries that fall short:", "", "| entry | check | dtype | first difference | why |", "|-" * 5 + "|"]
        for entry, check, dtype, what in found["short"]:
            text = re.sub(r"[|\n]", " ", what)[:160]
            lines.append(f"| `{entry}` | {check} | {dtype} | {text} | {WHY_SHORT.get(entry, '')} |")
        lines.append("")
    return lines


def main(arguments: list[str]) -> int:
    """Write the page, or check that it is up to date."""
    text = page()
    outdated = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif outdated:
        print("docs/coverage.md is out of date: run python -m tests.ops.coverage")
    return int(outdated and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
