"""Which entry of op_db is which function of ours, and which entries are left out (docs/differences.md says why)."""

from __future__ import annotations

import contextlib
import functools
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db, python_ref_db
from torch.testing._internal.opinfo.core import OpInfo

import funcgrad
import funcgrad.ops
from tests.ops.op_db.convert import from_torch, into_ours

DIFFERENCES = Path(__file__).parents[3] / "docs" / "differences.md"
EMPTY = re.compile(r"(new_)?empty(_like|_strided|_permuted)?|resize_(as_)?")  # what they hold is left open
_ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$")


@functools.cache
def left_out() -> dict[str, str]:
    """Return the reason for each entry that is left out, by the entry's name, as docs/differences.md has them."""
    return _table("## Ops that are left out")


def is_left_out(entry: Any) -> bool:
    """Tell whether an entry, or this variant of it, is left out."""
    return entry.name in left_out() or title(entry) in left_out()


@functools.cache
def set_aside(name: str) -> tuple[str, ...]:
    """Return the checks of an entry that docs/differences.md excepts: torch is wrong, or has other strides."""
    tables = (_table("## Derivatives in which PyTorch is wrong"), _table("### Layouts are XLA's"))
    return tuple(check for table in tables for check in table.get(name, "").partition(" |")[0].split(", "))


@functools.cache
def _table(heading: str) -> dict[str, str]:
    _, _, section = DIFFERENCES.read_text(encoding="utf-8").partition(f"\n{heading}\n")
    rows = map(_ROW.match, section.partition("\n##")[0].splitlines())
    return {row[1]: row[2] for row in rows if row}


def title(entry: Any) -> str:
    """Return an entry's name with its variant."""
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name


def selected(
    pattern: str | None = None, first: str | None = None, last: str | None = None, *, references: bool = False
) -> list[Any]:
    """Return the entries whose name matches, or whose name has no dot and begins with a letter of the range.

    references: of torch's own definitions of its functions in Python (python_ref_db) that funcgrad has a function for.
    """
    found = [entry for entry in python_ref_db if _is_ours(entry)] if references else list(op_db)
    if pattern is not None:
        found = [entry for entry in found if re.fullmatch(pattern, entry.name) or re.fullmatch(pattern, title(entry))]
    if first is not None or last is not None:
        low, high = first or "_", last or "z"
        found = [e for e in found if "." not in e.name and _within(e.name[0].lower(), low, high)]
    return found


def _is_ours(reference: Any) -> bool:
    """Tell whether a definition in Python is of a function that we have, and of one whose result is not left open."""
    name = reference.name.removeprefix("_refs.")
    with contextlib.suppress(AttributeError):
        return callable(by_name(name)) and not EMPTY.fullmatch(name)
    return False


def _within(letter: str, low: str, high: str) -> bool:
    return low <= letter.replace("_", " ") <= high if low != "_" else letter == "_" or letter <= high


class _Aten:
    """Stands for `torch.ops.aten`: our public function of that name, wherever it lives."""

    def __getattr__(self, name: str) -> Any:
        return by_name(name)


class _Torch:
    """Stands for the module torch inside op_db's own small functions."""

    ops = types.SimpleNamespace(aten=_Aten())

    def __getattr__(self, name: str) -> Any:
        return getattr(funcgrad, name)


def by_name(name: str) -> Any:
    """Return our public function with a dotted name; an op that is only an aten one, by its public equivalent."""
    name = name.removeprefix("torch.").removeprefix("ops.aten.").removesuffix(".default")
    for home in (
        funcgrad,
        funcgrad.Tensor,
        funcgrad.nn.functional,
        funcgrad.special,
        funcgrad.linalg,
        funcgrad.ops.aten,
    ):
        with contextlib.suppress(AttributeError):
            return functools.reduce(getattr, name.split("."), home)
    raise AttributeError(f"funcgrad has no {name}")


def ours(theirs: Any) -> Any:
    """Return our counterpart of a function of torch, or of a small function that op_db wrote around one."""
    if isinstance(theirs, (types.FunctionType, functools.partial)) and _is_of_op_db(theirs):
        return _rewritten(theirs)
    if isinstance(theirs, functools.partial):
        return functools.partial(ours(theirs.func), *theirs.args, **theirs.keywords)
    qualified = getattr(theirs, "__qualname__", "")
    if hasattr(theirs, "__objclass__") or qualified.startswith(("Tensor.", "TensorBase.")):
        return getattr(funcgrad.Tensor, qualified.rpartition(".")[2])
    if isinstance(theirs, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return by_name(str(theirs).removeprefix("aten.").removesuffix(".default").removesuffix(".Tensor"))
    found = _paths().get(id(theirs))
    if found is None:
        raise AttributeError(f"no counterpart of {theirs!r} is known")
    return by_name(found)


@functools.cache
def _paths() -> dict[int, str]:
    """Return the dotted name of each public function of torch, by its identity."""
    found: dict[int, str] = {}
    for home in ("", "nn.functional", "linalg", "special", "fft", "masked", "signal.windows"):
        module = functools.reduce(getattr, home.split("."), torch) if home else torch
        for name in dir(module):
            found.setdefault(id(getattr(module, name)), f"{home}.{name}" if home else name)
    return found


def _is_of_op_db(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return (function.__module__ or "").startswith("torch.testing")


def _rewritten(function: Any) -> Callable[..., Any]:
    """Return one of op_db's small functions with funcgrad in torch's place."""
    if isinstance(function, functools.partial):
        return functools.partial(_counterpart(function.func), *function.args, **function.keywords)
    names = _names_in(function.__code__)
    found = {name: _counterpart(function.__globals__[name]) for name in names if name in function.__globals__}
    cells = tuple(types.CellType(_counterpart(cell.cell_contents)) for cell in function.__closure__ or ())
    made = types.FunctionType(function.__code__, found, None, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _names_in(code: types.CodeType) -> set[str]:
    inner = [_names_in(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names, *(name for names in inner for name in names)}


def _counterpart(given: Any) -> Any:
    """Return what one of op_db's functions should see in the place of a global or a closed-over object."""
    if given is torch:
        return _Torch()
    if isinstance(given, types.ModuleType) and given.__name__.startswith("torch."):
        return by_name(given.__name__.removeprefix("torch."))
    if getattr(given, "__name__", "") == "freeze_rng_state":
        return contextlib.nullcontext
    if given is torch.Tensor:
        return funcgrad.Tensor
    if isinstance(given, torch.Tensor):
        return into_ours(from_torch(given))
    if isinstance(given, OpInfo):
        return given
    if isinstance(given, types.FunctionType) and _is_of_op_db(given):
        return _rewritten(given)
    return _plain(given) if callable(given) else given


def _plain(given: Any) -> Any:
    module = getattr(given, "__module__", None) or ""
    return ours(given) if module.startswith("torch") or hasattr(given, "__objclass__") else given


def function_of(entry: Any) -> Callable[..., Any]:
    """Return our function for an entry. AttributeError: we have none."""
    if entry.name.startswith("_refs."):
        return by_name(entry.name.removeprefix("_refs."))
    if _is_of_op_db(entry.op) if isinstance(entry.op, types.FunctionType) else False:
        return ours(entry.op)
    with contextlib.suppress(AttributeError):
        found = functools.reduce(getattr, entry.name.split("."), funcgrad)
        if callable(found):
            return found
    with contextlib.suppress(AttributeError):
        return ours(entry.op)
    return by_name(entry.name)
