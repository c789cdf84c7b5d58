"""By which names a call gave its arguments, and errors that tell the place of those alone that came by position."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterable
from types import FrameType

_PLACE = re.compile(r"(\w+\(\): argument '(\w+)') \(position \d+\)( must be .+)", re.DOTALL)
_COUNTED = re.compile(r"(\w+)(\(\): argument '\w+' \(position )(\d+)(\) must be (?:int|tuple of ints)\b.+)", re.DOTALL)
_NUMPYS = {"axis": "dim", "keepdims": "keepdim"}


def names_in_call(frame: FrameType | None) -> tuple[str, ...]:
    """Return the keywords of the call that a frame is in, in their order; where it passes on `kwargs`, theirs."""
    if frame is None:
        return ()
    code = frame.f_code
    passed = [one for one in dis.get_instructions(code) if one.offset <= frame.f_lasti]
    names = [one.arg for one in passed[-3:-1] if one.opname == "KW_NAMES"]
    if passed[-1].opname == "CALL_KW":  # since Python 3.13
        names = [passed[-2].arg]
    if passed[-1].opname in ("CALL", "CALL_KW") and names and names[-1] is not None:
        return tuple(code.co_consts[names[-1]])
    passed_on = frame.f_locals.get("kwargs") if passed[-1].opname == "CALL_FUNCTION_EX" else None
    return tuple(passed_on) if isinstance(passed_on, dict) else ()


def forget_places(error: BaseException, names: Iterable[str]) -> None:
    """Let an error about an argument that was given by name say nothing of a position."""
    told = _PLACE.fullmatch(str(error)) if names else None
    if told is not None and told[2] in {_NUMPYS.get(name, name) for name in names}:
        error.args = (told[1] + told[3],)


def count_tensor(error: BaseException, name: str) -> None:
    """Let an error of a method's sizes and places count as the function of that name does: from the tensor on."""
    told = _COUNTED.fullmatch(str(error))
    if told is not None and told[1] == name:
        error.args = (f"{name}{told[2]}{int(told[3]) + 1}{told[4]}",)
