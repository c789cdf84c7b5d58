"""Finds or compiles the executable that serves a program's length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from funcgrad._base.config import settings
from funcgrad._program.lengths.family import Form, Sample, family_of, known_family_of
from funcgrad._program.lengths.masking import Unmaskable
from funcgrad._program.lengths.running import AtLength, Roomy
from funcgrad._program.lengths.symbol import (
    NEAR,
    AtLengths,
    Bounds,
    Refusal,
    attempted,
    is_symbolic,
    narrow,
    open_up_to,
    room_for,
    wide,
)
from funcgrad._program.line import line_of
from funcgrad._program.rolling import LONG, rolled
from funcgrad._program.stepwise import COMPILE, ELEMENT
from funcgrad._program.whole import Whole, donations

FEW = 3  # lengths that vary: where more do, an executable serves everything shorter
_PAID = 4  # the part of a compile's cost that room for a text to grow in may cost


class Served(NamedTuple):
    """How one program is run by an executable that serves many. is_new: whether that has to be compiled."""

    execute: AtLength
    whole: Whole
    is_new: bool


def for_many_lengths(
    sample: Sample, wanted: Sequence[int], free: Sequence[int], may_wait: Callable[[], bool], *, is_common: bool = False
) -> Served | Refusal | None:
    """Return what serves this program's length if it differs from earlier ones by a length; or why nothing does.

    may_wait: tells whether the program can be run without any compile. Then many lengths of it are run so first.
    is_common: whether its length comes so often that it had better not run in the ample room for longer ones.
    """
    family = family_of(sample, wanted)
    if family is None:
        return None
    if family.may_wait and may_wait():
        family.waited += 1
        return None
    found = family.known_form_of(sample) or attempted(family.new_form_of, sample)
    if found is None and family.tried:
        return Refusal("its sizes do not follow from a few lengths")
    if found is None or isinstance(found, Refusal):
        return found
    return _served(sample, *found, wanted, free, is_common=is_common)


def for_lengths_of_known_form(sample: Sample, wanted: Sequence[int], free: Sequence[int]) -> Served | None:
    """Return what serves this program if it is one of a form that is known, at lengths other than those it is made of.

    At those there may be an executable for them alone.
    """
    family = known_family_of(sample, wanted)
    found = family and family.known_form_of(sample)
    if not found or tuple(found[1].lengths) in found[0].rows:
        return None
    served = _served(sample, *found, wanted, free)
    return served if isinstance(served, Served) else None


def _served(
    sample: Sample, form: Form, there: AtLengths, wanted: Sequence[int], free: Sequence[int], *, is_common: bool = False
) -> Served | Refusal:
    lengths = tuple(there.lengths)
    known, is_new = _with_room_for(form, lengths, wanted, free, is_common)
    if isinstance(known, Refusal):
        return known
    whole, roomy = known
    made = {slot: tuple(aval.shape) for call in sample.calls for slot, aval in enumerate(call.avals, call.first)}
    for place, shape in zip(whole.order, roomy.results, strict=True):
        if there.of(shape) != made[wanted[place]]:
            return Refusal("what an op does with the length while it is a symbol is not what it does at this one")
    ample = _is_ample(roomy.rooms, lengths)
    return Served(AtLength(roomy, form, sample, there, is_ample=ample), whole, is_new)


def _with_room_for(
    form: Form, lengths: tuple[int, ...], wanted: Sequence[int], free: Sequence[int], is_common: bool
) -> tuple[tuple[Whole, Roomy] | Refusal, bool]:
    """Return the executable that serves these lengths, or why there is none; and whether it has to be compiled."""
    serving = list[tuple[Whole, Roomy]]()
    for bounds, known in form.executables.items():
        serves = all(least <= length <= most for length, (least, most) in zip(lengths, bounds, strict=True))
        if serves and not isinstance(known, Refusal) and not (is_common and _is_ample(known[1].rooms, lengths)):
            serving.append(known)
    if serving:
        return min(serving, key=lambda known: known[1].rooms), False
    choices = [*_bounds_for(form, lengths, is_common=is_common)]
    for bounds in choices:
        is_new = bounds not in form.executables
        if is_new:
            form.executables[bounds] = attempted(_with_room, form, bounds, wanted, free)
        if not isinstance(form.executables[bounds], Refusal):
            return form.executables[bounds], is_new
    return form.executables[choices[-1]], False


def _is_ample(rooms: tuple[int, ...], lengths: tuple[int, ...]) -> bool:
    """Tell whether there is more room than `_bounds_for` would give lengths that are common."""
    enough = 1 if len(lengths) == 1 else 2
    few = len(lengths) <= FEW
    return few and any(room > max(NEAR, enough * room_for(n)) for room, n in zip(rooms, lengths, strict=True))


def _bounds_for(form: Form, lengths: tuple[int, ...], *, is_common: bool) -> Iterator[Bounds]:
    """Yield between which bounds these lengths are open, the first choice first: narrow ones can be asked more.

    A text that is being written has room to grow; a few lengths have the rooms of the longest that were seen. If they
    are common, or an op asks more of n, one length has rooms for n from 17 to 32, say, or (a window over the last 20)
    for n from the least that was seen there; up to 16 one executable serves all. Where several vary there would be many
    such pairs; then one serves lengths from a quarter of its rooms on. Where many do, one serves all that are shorter;
    those that are alike, a quarter of the longest or more, have its room.
    """
    rooms = tuple(map(room_for, lengths))
    if form.grows and not is_common:
        yield from map(open_up_to, _rooms_to_grow(form, *lengths))
    elif len(rooms) <= FEW and not is_common:
        yield open_up_to(tuple([max(NEAR, room, *map(room_for, column))
                                for room, column in zip(rooms, form.columns, strict=True)]))  # fmt: skip
    if len(rooms) == 1:
        room = rooms[0]
        if room <= NEAR:
            yield wide((NEAR,))
        yield narrow(rooms)
        yield ((min(n for n in (*form.columns[0], *lengths) if room_for(n) == room), room),)
    elif len(rooms) <= FEW:
        far = [seen if seen // 4 < length <= seen else room
               for seen, length, room in zip(form.longest, lengths, rooms, strict=True)]  # fmt: skip
        yield wide(tuple(far))
        yield narrow(rooms)
    else:
        longest = [max(*seen, length) for seen, length in zip(form.columns, lengths, strict=True)]
        top = max(longest)  # of many that are alike one soon is longer than it ever was, but seldom than any ever was
        ample = [room_for(n + n // 4) for n in (top if 4 * n > top else n for n in longest)]
        made = [tuple([most for _, most in bounds]) for bounds in form.executables]
        yield open_up_to(tuple(map(max, zip(ample, *made, strict=True))))


def _rooms_to_grow(form: Form, length: int) -> Iterator[tuple[int, ...]]:
    """Yield rooms for a text that is being written, the most ample first, which an op may refuse: a table of places.

    Such a table has no place for what is joined to the longest, so each has a neighbour with room for one less. To
    write a text up to half of a room costs no more there, for what is computed in vain, than a share of a compile.
    """
    rooms = [max(NEAR, room_for(length))]
    while rooms[-1] * form.elements((2 * rooms[-1],)) * ELEMENT <= COMPILE * len(form.calls) / _PAID:
        rooms.append(2 * rooms[-1])
    for room in reversed(rooms):
        yield from ((some,) for some in (room, room - 1) if length <= some)


def _with_room(form: Form, bounds: Bounds, wanted: Sequence[int], free: Sequence[int]) -> tuple[Whole, Roomy]:
    leaves, calls = form.opened(bounds)
    line, found = line_of(calls, wanted)
    if settings.turns:
        line, found = rolled(line, found, settings.turns, LONG)
    if len(line) > settings.piece:
        raise Unmaskable("the program is too long to be compiled in one piece")
    fixed = [i for i in free if not any(map(is_symbolic, leaves[i].shape))]
    whole = Whole(line, found, wanted, donations(calls, wanted, fixed, leaves), len(leaves), once=False)
    given, kept = [leaves[i] for i in whole.given], [leaves[i] for i in whole.kept]
    roomy = Roomy(whole.step, given, kept, len(form.numbers), tuple([most for _, most in bounds]), line)
    return whole, roomy
