"""Finds or compiles the executable that serves a program's length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from funcgrad._base.config import settings
from funcgrad._program.lengths.family import Form, Sample, family_of
from funcgrad._program.lengths.masking import Unmaskable
from funcgrad._program.lengths.running import AtLength, Roomy
from funcgrad._program.lengths.symbol import Refusal, at, attempted, is_symbolic, room_for, symbol_of
from funcgrad._program.line import line_of
from funcgrad._program.rolling import LONG, rolled
from funcgrad._program.whole import Whole, donations


class Served(NamedTuple):
    """How one program is run by an executable that serves many. is_new: whether that has to be compiled."""

    execute: AtLength
    whole: Whole
    is_new: bool


def for_many_lengths(sample: Sample, wanted: Sequence[int], free: Sequence[int]) -> Served | Refusal | None:
    """Return what serves this program's length if it differs from earlier ones by a length; or why nothing does."""
    family = family_of(sample, wanted, free)
    found = attempted(family.form_for, sample) if family else None
    if found is None or isinstance(found, Refusal):
        return found
    form, length = found
    room = room_for(length)
    is_new = room not in form.executables
    if is_new:
        form.executables[room] = attempted(_with_room, form, room, wanted, free)
    known = form.executables[room]
    if isinstance(known, Refusal):
        return known
    whole, roomy = known
    made = {slot: tuple(aval.shape) for call in sample.calls for slot, aval in enumerate(call.avals, call.first)}
    for place, shape in zip(whole.order, roomy.results, strict=True):
        if at(shape, length) != made[wanted[place]]:
            return Refusal("what an op does with the length while it is a symbol is not what it does at this one")
    return Served(AtLength(roomy, form, sample, length), whole, is_new)


def _with_room(form: Form, room: int, wanted: Sequence[int], free: Sequence[int]) -> tuple[Whole, Roomy]:
    leaves, calls = form.opened(symbol_of(room))
    line, found = line_of(calls, wanted)
    if settings.turns:
        line, found = rolled(line, found, settings.turns, LONG)
    if len(line) > settings.piece:
        raise Unmaskable("the program is too long to be compiled in one piece")
    fixed = [i for i in free if not any(map(is_symbolic, leaves[i].shape))]
    whole = Whole(line, found, wanted, donations(calls, wanted, fixed, leaves), len(leaves))
    given, kept = [leaves[i] for i in whole.given], [leaves[i] for i in whole.kept]
    return whole, Roomy(whole.step, given, kept, len(form.numbers), room)
