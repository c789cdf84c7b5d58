"""Programs that differ by a length: after two lengths that were compiled as they are, one executable serves many.

Two programs are of one family if they are the same calls of the same results, whatever the shapes. From three of a
family whose shapes and options differ by one integer alone, or by up to 32 that vary independently, a form is made:
the program with these integers open. Its executables have room for 4, 8, 16, ... and take the true lengths as inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._program.lengths.fit import Fit, Follows, Varies, fits, names_in, summands
from funcgrad._program.lengths.symbol import (
    NAMES,
    NEAR,
    AtLengths,
    Bounds,
    at,
    between,
    is_symbolic,
    lengths_in,
    narrow,
    room_for,
    wide,
)
from funcgrad._program.line import Instruction, Recorded
from funcgrad._program.stepwise import is_costly
from funcgrad._program.trie import Hole, Signature, inferred, is_open
from funcgrad._program.value import Aval, in_any_order

_WAITS = 64  # programs of a family that are run without a compile before one is made for all of them
_TRIED = 12  # times that a form is looked for in a family before it counts as one that has none
_REMEMBERED = 1 << 14  # signatures that were found to fit a form
_LONGEST = 4096  # instructions: longer programs are not compared


class Sample(NamedTuple):
    """A program as it was recorded: its needed calls and its leaves."""

    calls: Sequence[Recorded]
    leaves: Sequence[Aval]


class Form:
    """A program with lengths open. `numbers`: the places (call, argument) of the numbers that are its inputs.

    executables: by the bounds of the lengths that they have room for; or why there can be none. grows: whether the
    last program is one longer than the one before it, as where a text is being written.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = tuple(samples)
        self.numbers = tuple(_open_numbers([sample.calls for sample in samples]))
        self.places, self.following = _of_leaves(samples), list[Any]()
        while True:  # a length may show in the options of a call only, and one may follow from the others
            self.columns = [tuple([_found_at(place, sample) for sample in samples]) for place in self.places]
            if len(self.places) > len(NAMES):
                raise Varies
            try:
                self.leaves, self.calls = self.opened((narrow if len(self.places) == 1 else wide)(self.longest))
                break
            except _Loose as loose:
                self.places = [*self.places, loose.place]
                self._let_sum_follow()
            except Follows as follows:
                self._let_follow(follows)
        opened = [*self.leaves, *[aval for call in self.calls for aval in call.avals]]
        self._sizes = {size for aval in opened for size in aval.shape if is_symbolic(size)}
        self.grows = len(self.places) == 1 and _grows(*self.samples[-2:])
        self.executables: dict[Bounds, Any] = {}
        self._read = [[i for i, name in enumerate(NAMES) if name in names_in(call.signature)] for call in self.calls]
        self._fitting = set[tuple[Any, ...]]()
        if any(self.lengths_of(sample) is None for sample in samples):
            raise Varies

    @property
    def longest(self) -> tuple[int, ...]:
        """Rooms for the lengths that were seen before there was the form."""
        return tuple([room_for(max(column)) for column in self.columns])

    @property
    def rows(self) -> Sequence[tuple[int, ...]]:
        """The lengths of the programs that it was made of."""
        return list(zip(*self.columns, strict=True))

    def opened(self, bounds: Bounds) -> tuple[Sequence[Aval], Sequence[Instruction]]:
        """Return leaves and calls with symbols within these bounds for the lengths."""
        symbols = between(bounds)
        fit = Fit(self.columns, symbols, at(tuple(self.following), symbols))
        leaves = fit.of(*[tuple(sample.leaves) for sample in self.samples])
        known = {-1 - i: leaf for i, leaf in enumerate(leaves)}
        holes = {place: i for i, place in enumerate(self.numbers)}
        calls: list[Instruction] = []
        for i, found in enumerate(zip(*[sample.calls for sample in self.samples], strict=True)):
            first = found[0]
            arguments = tuple([Hole(holes[i, j], _kind_of_number(x)) if (i, j) in holes else x
                               for j, x in enumerate(first.arguments)])  # fmt: skip
            instruction = Instruction(_opened(fit, i, found, arguments, known), arguments, first.first)
            known.update(enumerate(instruction.avals, first.first))
            calls.append(instruction)
        return leaves, calls

    def elements(self, lengths: tuple[int, ...]) -> int:
        """Return how many elements its calls write at these lengths."""
        there = AtLengths(lengths)
        return sum(math.prod(there.of(tuple(aval.shape))) for call in self.calls for aval in call.avals)

    def _let_sum_follow(self) -> None:
        """Drop a length that is the sum of others, now that one more is known: what is split, where all parts are."""
        columns = [tuple([_found_at(place, sample) for sample in self.samples]) for place in self.places]
        symbols = between(wide((NEAR,) * len(columns)))
        for i, column in enumerate(columns):
            others = [*range(i), *range(i + 1, len(columns))]
            parts = summands(column, [columns[j] for j in others])
            if parts:
                self._let_follow(Follows(i, sum([symbols[others[j]] for j in parts[1:]], symbols[others[parts[0]]])))
                return

    def _let_follow(self, follows: Follows) -> None:
        """Drop a length that an op makes of others: all expressions are of these from now on."""
        del self.places[follows.length]
        symbols = list(between(wide((NEAR,) * len(self.places))))
        symbols.insert(follows.length, 0)
        symbols[follows.length] = size = at(follows.size, symbols)
        self.following = [*[at(earlier, symbols) for earlier in self.following], size]

    def lengths_of(self, sample: Sample) -> AtLengths | None:
        """Return at which lengths this form is that program, or None if it is not."""
        lengths = tuple([_found_at(place, sample) for place in self.places])
        if not lengths or any(type(length) is not int or length < 2 for length in lengths):
            return None
        there = AtLengths(lengths)
        if any(there[size] < 2 for size in self._sizes):  # an axis of size 1 is another thing: it is broadcast
            return None
        same = fits(self.leaves, tuple(sample.leaves), there) and all(
            self._fits_at(i, call.signature, there) and _same_numbers(mine, call)
            for i, (mine, call) in enumerate(zip(self.calls, sample.calls, strict=True))
        )
        return there if same else None

    def _fits_at(self, place: int, signature: Signature | None, there: AtLengths) -> bool:
        """Tell whether a call has this signature; remembered by the lengths on which it depends."""
        key = place, signature, *[there.lengths[i] for i in self._read[place]]
        if key in self._fitting:
            return True
        if not fits(self.calls[place].signature, signature, there):
            return False
        if len(self._fitting) >= _REMEMBERED:
            self._fitting.clear()
        self._fitting.add(key)
        return True

    def numbers_of(self, sample: Sample) -> list[int | float]:
        """Return for each open number where it is found in the program's own (an int), or the number (a float)."""
        found = [sample.calls[call].arguments[argument] for call, argument in self.numbers]
        return [x.position if type(x) is Hole else float(x.number) for x in found]


class Family:
    """What is known of programs of one kind: the last of them, and the forms that were found.

    waited: how many others were run without a compile before. is_for_host: whether numpy may run them, as far as is
    known.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.forms: list[Form] = []
        self.tried = self.waited = 0
        self.is_for_host = True

    @property
    def has_others(self) -> bool:
        """Whether the last program was given arrays of other shapes before, and not just other numbers."""
        shapes = [list(map(in_any_order, sample.leaves)) for sample in self.samples]
        return any(shape != shapes[-1] for shape in shapes)

    @property
    def may_wait(self) -> bool:
        """Whether another program that needs no compile is run as it is, before one executable is made for many."""
        return not self.forms and self.waited < _WAITS

    @property
    def may_go_to_host(self) -> bool:
        """Whether numpy is asked to run another: it refused none, and ran few."""
        return self.is_for_host and self.may_wait

    def note_host(self, *, runs: bool) -> None:
        """Remember whether numpy runs one of them: what it refuses it refuses at all lengths."""
        self.is_for_host = runs
        self.waited += runs

    def known_form_of(self, sample: Sample) -> tuple[Form, AtLengths] | None:
        """Return the form that was found before of which a program is, and at which lengths."""
        for form in self.forms:
            there = form.lengths_of(sample)
            if there is not None:
                return form, there
        return None

    def new_form_of(self, sample: Sample) -> tuple[Form, AtLengths] | None:
        """Remember a program of which there is no form; return one if it makes one with those before."""
        self.samples = [*self.samples[-settings.lengths - 1 :], sample]
        fewest = 2 if len(self.samples) > 1 and _grows(*self.samples[-2:]) else settings.lengths + 1
        # what is the same in all programs of one form may be a length too: the number of boxes, image by image
        across = [earlier for form in self.forms for earlier in form.samples[:2]]
        for samples in ([*across, sample], self.samples, self.samples[1:]):
            if len(samples) >= fewest and self.tried < _TRIED:
                self.tried += 1
                try:
                    form = Form(samples)
                except Varies:
                    continue
                self.forms = [*self.forms[-3:], form]
                there = form.lengths_of(sample)
                return None if there is None else (form, there)
        return None


def family_of(sample: Sample, wanted: Sequence[int]) -> Family | None:
    """Return the family of a program, or None where programs are not compared.

    Which leaves somebody else holds is no part of it: of these copies are given to an executable that eats them.
    """
    if not settings.lengths or len(sample.calls) > _LONGEST or any(leaf.placement for leaf in sample.leaves):
        return None
    return _FAMILIES.found(_key(sample, wanted), Family)


def known_family_of(sample: Sample, wanted: Sequence[int]) -> Family | None:
    """Return the family of a program, if others of it were compared before."""
    return _FAMILIES.get(_key(sample, wanted)) if settings.lengths else None


def _key(sample: Sample, wanted: Sequence[int]) -> tuple[Any, ...]:
    return tuple(map(_kind, sample.calls)), tuple([(a.dtype, len(a.shape)) for a in sample.leaves]), tuple(wanted)


_FAMILIES: Bounded[Family] = Bounded(128)


def forget_lengths() -> None:
    """Begin anew: no program is of a family with earlier ones."""
    _FAMILIES.clear()


def _grows(earlier: Sample, later: Sample) -> bool:
    """Tell whether all that differs in what two programs are given is one longer: a text that is being written.

    Not so where a recurrent layer reads it: that takes as many turns as there is room, however short the text is.
    """
    if any(map(is_costly, later.calls)):
        return False
    sizes = [
        (m, n) for a, b in zip(earlier.leaves, later.leaves, strict=True) for m, n in zip(a.shape, b.shape, strict=True)
    ]
    return {n - m for m, n in sizes if m != n} == {1}


def _kind(call: Recorded) -> Any:
    return call.op.name, tuple([_kind_of_number(a) if _is_number(a) else a for a in call.arguments])


def _is_number(argument: Any) -> bool:
    return type(argument) is Hole or is_open(argument)


def _kind_of_number(argument: Any) -> Any:
    return argument.kind if type(argument) is Hole else type(argument.number)


def _open_numbers(programs: Sequence[Sequence[Recorded]]) -> Iterator[tuple[int, int]]:
    """Yield the places of numbers that are inputs of one of the programs, or differ."""
    for i, calls in enumerate(zip(*programs, strict=True)):
        for j, arguments in enumerate(zip(*[call.arguments for call in calls], strict=True)):
            if _is_number(arguments[0]) and (any(type(a) is Hole for a in arguments) or len(set(arguments)) > 1):
                yield i, j


class _Loose(Varies):
    """A number among the options of a call is no function of the known lengths: it may be another length."""

    def __init__(self, place: Place) -> None:
        self.place = place


def _opened(
    fit: Fit, place: int, found: Sequence[Recorded], arguments: Sequence[Any], known: Mapping[int, Aval]
) -> Signature:
    """Return the signature of a call with the lengths open: shapes follow from the leaves' where no line fits them."""
    _refuse_loose(fit, (_OPTIONS, place), tuple([call.statics for call in found]))
    statics = fit.of(*[call.statics for call in found])
    taken = tuple([known[x] if type(x) is int else x.kind if type(x) is Hole else x for x in arguments])
    if not lengths_in((taken, statics)):  # the pull-back of a sum is given one number
        _refuse_loose(fit, (_RESULT, place), tuple([_sizes(call.avals) for call in found]))
    op = fit.of(*[call.op for call in found])
    try:
        avals = fit.of(*[call.avals for call in found])
        if not lengths_in(avals) <= lengths_in((taken, statics)):
            raise Varies  # a length that the op is not given is one that it makes
    except Varies:
        if not lengths_in(taken):
            _refuse_loose(fit, (_RESULT, place), tuple([_sizes(call.avals) for call in found]))
        avals = inferred(op, taken, statics)
    signature = Signature(op, taken, statics, avals)
    fit.know([call.signature for call in found], signature)
    return signature


def _refuse_loose(fit: Fit, place: Place, found: tuple[Any, ...]) -> None:
    """Raise _Loose for the first integer in nested tuples that no expression of the lengths fits."""
    if all(type(x) is int for x in found):
        if not fit.knows(found):
            raise _Loose(place)
    elif all(type(x) is tuple for x in found) and len(set(map(len, found))) == 1:
        for i, parts in enumerate(zip(*found, strict=True)):
            _refuse_loose(fit, (*place, i), parts)


def _same_numbers(mine: Instruction, call: Recorded) -> bool:
    pairs = zip(mine.arguments, call.arguments, strict=True)
    return all(type(a) is Hole or not _is_number(b) or a == b for a, b in pairs)


Place: TypeAlias = tuple[int, ...]  # where a length stands: of what (a leaf, options, results), then indices
_LEAF, _OPTIONS, _RESULT = range(3)


def _found_at(place: Place, sample: Sample) -> Any:
    """Return what stands there in a program; None if there is nothing."""
    kind, first, *rest = place
    if kind == _LEAF:
        found: Any = tuple(sample.leaves[first].shape)
    else:
        found = sample.calls[first].statics if kind == _OPTIONS else _sizes(sample.calls[first].avals)
    for i in rest:
        if type(found) is not tuple or i >= len(found):
            return None
        found = found[i]
    return found


def _sizes(avals: Sequence[Aval]) -> tuple[tuple[int, ...], ...]:
    return tuple([tuple(aval.struct.shape) for aval in avals])


def _of_leaves(samples: Sequence[Sample]) -> list[Place]:
    """Return where in the leaves the lengths stand of which all other sizes there are lines.

    The size that varies least comes first (n rather than 4 n).
    """
    rows: list[tuple[int, tuple[int, ...], Place]] = []
    for leaf, avals in enumerate(zip(*[sample.leaves for sample in samples], strict=True)):
        for dimension, sizes in enumerate(zip(*[aval.shape for aval in avals], strict=True)):
            if len(set(sizes)) > 1:
                rows.append((max(sizes) - min(sizes), sizes, (_LEAF, leaf, dimension)))
    places: list[Place] = []
    columns: list[tuple[int, ...]] = []
    for _, sizes, place in sorted(rows, key=lambda row: row[0]):
        symbols = between(wide(tuple([room_for(max(column)) for column in columns]))) if columns else ()
        if not Fit(columns, symbols).knows(sizes):
            places.append(place)
            columns.append(sizes)
            if len(columns) > len(NAMES):
                raise Varies
    for i in reversed(range(len(places))):  # edges and nodes, not edges and both together
        if summands(columns[i], [*columns[:i], *columns[i + 1 :]]):
            del places[i], columns[i]
    return places
