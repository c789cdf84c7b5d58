"""Programs that differ by a length: after two lengths that were compiled as they are, one executable serves many.

Two programs are of one family if they are the same calls of the same results, whatever the shapes. From three of a
family whose shapes and options differ by one integer alone, a form is made: the program with that integer open. Its
executables have room for 4, 8, 16, ... and take the true length as an input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._program.lengths.fit import Fit, Varies, fits
from funcgrad._program.lengths.symbol import at, is_symbolic, room_for, symbol_of
from funcgrad._program.line import Instruction
from funcgrad._program.trie import Call, Hole, Signature, inferred, is_open
from funcgrad._program.value import Aval

_TRIED = 8  # times that a form is looked for in a family before it counts as one that has none
_LONGEST = 4096  # instructions: longer programs are not compared


class Sample(NamedTuple):
    """A program as it was recorded: its needed calls and its leaves."""

    calls: Sequence[Call]
    leaves: Sequence[Aval]


class Form:
    """A program with a length open. `numbers`: the places (call, argument) of the numbers that are its inputs.

    executables: by the longest length that they have room for; or why there can be none.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._ends = samples[0], samples[-1]
        self.place, self._lengths = _what_varies(*self._ends)
        self.numbers = tuple(_open_numbers([sample.calls for sample in samples]))
        self.leaves, self.calls = self.opened(symbol_of(room_for(self._lengths[-1])))
        self.executables: dict[int, Any] = {}
        if not all(self.length_of(sample) for sample in samples):
            raise Varies

    def opened(self, symbol: Any) -> tuple[Sequence[Aval], Sequence[Instruction]]:
        """Return leaves and calls with this symbol for the length."""
        first, last = self._ends
        fit = Fit(*self._lengths, symbol)
        leaves = fit.of(tuple(first.leaves), tuple(last.leaves))
        known = {-1 - i: leaf for i, leaf in enumerate(leaves)}
        holes = {place: i for i, place in enumerate(self.numbers)}
        calls = []
        for i, (a, b) in enumerate(zip(first.calls, last.calls, strict=True)):
            arguments = tuple([Hole(holes[i, j], _kind_of_number(x)) if (i, j) in holes else x
                               for j, x in enumerate(a.arguments)])  # fmt: skip
            instruction = Instruction(_opened(fit, a, b, arguments, known), arguments, a.first)
            known.update(enumerate(instruction.avals, a.first))
            calls.append(instruction)
        return leaves, calls

    def length_of(self, sample: Sample) -> int:
        """Return at which length this form is that program, or 0 if it is not."""
        length = _dimension(sample, self.place)
        sizes = {size for aval in (*self.leaves, *[a for call in self.calls for a in call.avals])
                 for size in aval.shape if is_symbolic(size)}  # fmt: skip
        if any(at(size, length) < 2 for size in sizes):  # an axis of size 1 is another thing: it can be broadcast
            return 0
        same = fits(self.leaves, tuple(sample.leaves), length) and all(
            fits(mine.signature, call.signature, length) and _same_numbers(mine, call)
            for mine, call in zip(self.calls, sample.calls, strict=True)
        )
        return length if same else 0

    def numbers_of(self, sample: Sample) -> list[int | float]:
        """Return for each open number where it is found in the program's own (an int), or the number (a float)."""
        found = [sample.calls[call].arguments[argument] for call, argument in self.numbers]
        return [x.position if type(x) is Hole else float(x.number) for x in found]


class Family:
    """What is known of programs of one kind: the last of them, and the forms that were found."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.forms: list[Form] = []
        self.tried = 0

    def form_for(self, sample: Sample) -> tuple[Form, int] | None:
        """Return the form that a program has, and its length; remember the program if it has none."""
        for form in self.forms:
            length = form.length_of(sample)
            if length:
                return form, length
        self.samples = [*self.samples[-settings.lengths :], sample]
        if len(self.samples) <= settings.lengths or self.tried >= _TRIED:
            return None
        self.tried += 1
        try:
            form = Form(self.samples)
        except Varies:
            return None
        self.forms = [*self.forms[-3:], form]
        return form, form.length_of(sample)


def family_of(sample: Sample, wanted: Sequence[int], free: Sequence[int]) -> Family | None:
    """Return the family of a program, or None where programs are not compared."""
    if not settings.lengths or len(sample.calls) > _LONGEST or any(leaf.placement for leaf in sample.leaves):
        return None
    key = (tuple(map(_kind, sample.calls)), tuple([(a.dtype, len(a.shape)) for a in sample.leaves]), tuple(wanted),
           tuple(free))  # fmt: skip
    return _FAMILIES.found(key, Family)


_FAMILIES: Bounded[Family] = Bounded(128)


def forget_lengths() -> None:
    """Begin anew: no program is of a family with earlier ones."""
    _FAMILIES.clear()


def _kind(call: Call) -> Any:
    return call.op.name, tuple([_kind_of_number(a) if _is_number(a) else a for a in call.arguments])


def _is_number(argument: Any) -> bool:
    return type(argument) is Hole or is_open(argument)


def _kind_of_number(argument: Any) -> Any:
    return argument.kind if type(argument) is Hole else type(argument.number)


def _open_numbers(programs: Sequence[Sequence[Call]]) -> Iterator[tuple[int, int]]:
    """Yield the places of numbers that are inputs of one of the programs, or differ."""
    for i, calls in enumerate(zip(*programs, strict=True)):
        for j, arguments in enumerate(zip(*[call.arguments for call in calls], strict=True)):
            if _is_number(arguments[0]) and (any(type(a) is Hole for a in arguments) or len(set(arguments)) > 1):
                yield i, j


def _opened(fit: Fit, a: Call, b: Call, arguments: Sequence[Any], known: Mapping[int, Aval]) -> Signature:
    """Return the signature of a call with the length open: shapes follow from the leaves' where no line fits them."""
    op, statics = fit.of(a.op, b.op), fit.of(a.statics, b.statics)
    taken = tuple([known[x] if type(x) is int else x.kind if type(x) is Hole else x for x in arguments])
    try:
        avals = fit.of(a.avals, b.avals)
    except Varies:
        avals = inferred(op, taken, statics)
    signature = Signature(op, taken, statics, avals)
    fit.know(a.signature, b.signature, signature)
    return signature


def _same_numbers(mine: Instruction, call: Call) -> bool:
    pairs = zip(mine.arguments, call.arguments, strict=True)
    return all(type(a) is Hole or not _is_number(b) or a == b for a, b in pairs)


def _what_varies(first: Sample, last: Sample) -> tuple[tuple[int, int, int], tuple[int, int]]:
    """Return where a dimension stands that varies between two programs, and what it is in each.

    That of a leaf which varies least (n rather than 4 n); where no leaf does, the first of a result. Place: (-1, leaf,
    dimension) or (call, result, dimension).
    """
    for call, (mine, others) in enumerate(_shapes(first, last), -1):
        found = [
            (abs(y - x), (call, i, dimension), (x, y))
            for i, (a, b) in enumerate(zip(mine, others, strict=True))
            for dimension, (x, y) in enumerate(zip(a.shape, b.shape, strict=False))
            if x != y
        ]
        if found:
            _, place, lengths = min(found, key=lambda row: row[0])
            return place, lengths
    raise Varies


def _shapes(first: Sample, last: Sample) -> Iterator[tuple[Sequence[Aval], Sequence[Aval]]]:
    yield first.leaves, last.leaves
    for mine, other in zip(first.calls, last.calls, strict=True):
        yield mine.avals, other.avals


def _dimension(sample: Sample, place: tuple[int, int, int]) -> int:
    call, i, dimension = place
    avals = sample.leaves if call < 0 else sample.calls[call].avals
    return avals[i].shape[dimension]
