"""Why a program is compiled: what differs between it and one of the same ops that was compiled before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from funcgrad._program.trie import Call
from funcgrad._program.value import Aval

_KEPT, _LONGEST = 128, 2048  # programs to compare with, and instructions: longer ones would hold much memory
_before: OrderedDict[tuple[str, ...], tuple[Call, tuple[Aval, ...]]] = OrderedDict()  # by the names of the ops


def reason(last: Call, leaves: Sequence[Aval]) -> str:
    """Return why the program that ends with `last` has to be compiled: "batch changed 64 -> 7 at train.py:41"."""
    if last.plans:
        return "other results are wanted of a known program"
    if last.depth > _LONGEST:
        return "a program not seen before"
    path = last.path()
    ops = tuple([call.op.name for call in path])
    earlier = _before.pop(ops, None)
    _before[ops] = last, tuple(leaves)
    if len(_before) > _KEPT:
        _before.popitem(last=False)
    if earlier is None:
        return "a program not seen before"
    call, avals = earlier
    changed = _changed_leaf(path, avals, leaves) if len(avals) == len(leaves) else None
    return changed or _changed_call(call.path(), path)


def _changed_leaf(path: list[Call], old: Sequence[Aval], new: Sequence[Aval]) -> str | None:
    for place, (before, now) in enumerate(zip(old, new, strict=True)):
        if before is not now:
            line = next((call.line for call in path if -1 - place in call.arguments), path[-1].line)
            return f"{_difference(before, now)} at {line}"
    return None


def _difference(before: Aval, now: Aval) -> str:
    if before.dtype is not now.dtype:
        return f"dtype changed {before.dtype.name} -> {now.dtype.name}"
    sizes = [i for i, pair in enumerate(zip(before.shape, now.shape, strict=False)) if pair[0] != pair[1]]
    if len(before.shape) != len(now.shape):
        return f"shape changed {list(before.shape)} -> {list(now.shape)}"
    if sizes:
        what = "batch" if sizes[0] == 0 else f"dimension {sizes[0]}"
        return f"{what} changed {before.shape[sizes[0]]} -> {now.shape[sizes[0]]}"
    return "devices changed"


def _changed_call(old: list[Call], new: list[Call]) -> str:
    for before, now in zip(old, new, strict=True):
        if before.statics != now.statics:
            return f"an option of {now.op.name} changed {before.statics} -> {now.statics} at {now.line}"
        if before.arguments != now.arguments:
            return f"{now.op.name} was given other tensors or numbers at {now.line}"
    return "a program that had been dropped to make room"
