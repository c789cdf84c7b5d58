"""What differs between programs by a few integers, written with these integers left open."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from funcgrad._base.dtypes import dtype as DType
from funcgrad._program.lengths.symbol import NAMES, AtLengths, Dimension, at, is_symbolic, lengths_in
from funcgrad._program.trie import Constant, Hole, Signature, is_open
from funcgrad._program.value import Aval, aval

_FEW = 10  # lengths of which any may be summands: there are a thousand choices


class Varies(Exception):  # noqa: N818 - no error: it says that programs do not differ by lengths alone
    """Programs differ by more than the lengths that are known, or in a way that is no line in one of them."""


class Follows(Varies):
    """What was taken for a length is, in all programs, what an op makes of the others: the frames of a recording.

    length: its place. size: the expression of the others.
    """

    def __init__(self, length: int, size: Any) -> None:
        self.length, self.size = length, size


class Fit:
    """Finds what programs have in common: `of(a, b, ...)` is `a` with the lengths open, given what stands elsewhere.

    columns: for each length what it is in each program. symbols: what stands for it. following: sizes that an op will
    make of them.
    """

    def __init__(
        self, columns: Sequence[tuple[int, ...]], symbols: Sequence[Any], following: Sequence[Any] = ()
    ) -> None:
        self.columns, self.symbols = tuple(columns), tuple(symbols)
        self._rows = list(zip(*columns, strict=True))  # the lengths of each program
        self._known: dict[tuple[int, ...], Any] = {}
        self._held: list[Any] = []
        self._dimensions = {size: self._values(size) for size in following}

    def of(self, *found: Any) -> Any:
        """Return an expression that is each of `found` at the lengths of its program; raise Varies if there is none."""
        first = found[0]
        if all(other is first for other in found):
            return first
        kinds = set(map(type, found))
        if kinds <= {Constant, type}:
            return _number(found)
        if len(kinds) > 1:
            raise Varies
        if type(first) is int:
            return self._size(found)
        if isinstance(first, tuple):
            if len(set(map(len, found))) > 1:
                raise Varies
            parts = list(map(self.of, *found))
            return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
        if type(first) is Aval:
            return self._aval(found)
        if type(first) is Signature or hasattr(first, "made_of"):
            key = tuple(map(id, found))
            if key not in self._known:
                self.know(found, self._made(found))
            return self._known[key]
        if isinstance(first, (str, bool, float, complex, DType, slice)) and all(other == first for other in found):
            return first
        raise Varies

    def know(self, given: Sequence[Any], found: Any) -> None:
        """Say what things are with the lengths open. Of a signature, its dimensions may be those of others, too."""
        self._held += given  # so that their ids stay theirs
        self._known[tuple(map(id, given))] = found
        if type(found) is Signature:
            self._know_dimensions(itertools.chain(*[aval.shape for aval in found.avals]))

    def _know_dimensions(self, sizes: Iterable[Any]) -> None:
        for size in filter(is_symbolic, sizes):
            if size in self._dimensions:
                continue
            self._dimensions[size] = values = self._values(size)
            for length, column in enumerate(self.columns):
                if column == values and NAMES[length] not in lengths_in(size):
                    raise Follows(length, size)

    def _values(self, size: Any) -> tuple[int, ...]:
        return tuple([at(size, lengths) for lengths in self._rows])

    def knows(self, sizes: tuple[int, ...]) -> bool:
        """Tell whether there is an expression of the lengths that has these values."""
        try:
            self._size(sizes)
        except Varies:
            return False
        return True

    def _size(self, sizes: tuple[int, ...]) -> Any:
        if len(set(sizes)) == 1:
            return sizes[0]
        if sizes in self.columns:
            return self.symbols[self.columns.index(sizes)]
        for column, symbol in zip(self.columns, self.symbols, strict=True):
            slope = _slope(column, sizes)
            if slope:
                return slope * symbol + (sizes[0] - slope * column[0])
        for size, values in self._dimensions.items():
            if values == sizes:
                return size
        if parts := summands(sizes, self.columns):
            return sum([self.symbols[i] for i in parts[1:]], self.symbols[parts[0]])
        for (a, n), (b, m) in itertools.combinations(zip(self.columns, self.symbols, strict=True), 2):
            factor = sizes[0] // (a[0] * b[0])
            if factor and all(size == factor * x * y for size, x, y in zip(sizes, a, b, strict=True)):
                return factor * n * m
        for size, values in self._dimensions.items():
            slope = len(set(values)) > 1 and _slope(values, sizes)
            if slope:
                return slope * size + (sizes[0] - slope * values[0])
        raise Varies

    def _aval(self, found: Sequence[Aval]) -> Aval:
        first = found[0]
        if len({(known.dtype, known.placement) for known in found}) > 1:
            raise Varies
        return aval(self.of(*[tuple(a.struct.shape) for a in found]), first.dtype.numpy, first.placement)

    def _made(self, found: Sequence[Any]) -> Any:
        if type(found[0]) is Signature:
            return Signature(*map(self.of, *map(_content, found)))
        return found[0].made_anew(*self.of(*[a.made_of() for a in found]))


def summands(sizes: Sequence[int], columns: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the places of two columns or more whose sum `sizes` is, the fewest that do; nothing if there are none.

    Of more columns than a few, two or three are tried, and all: what is put together or split is mostly that.
    """
    most = len(columns)
    for count in range(2, most + 1) if most <= _FEW else (2, 3, most):
        for chosen in itertools.combinations(range(most), count):
            if all(size == sum(parts) for size, *parts in zip(sizes, *[columns[i] for i in chosen], strict=True)):
                return chosen
    return ()


def _slope(column: Sequence[int], sizes: Sequence[int]) -> int:
    """Return how much `sizes` grow where `column` grows by one; 0 where that is no line, or no integer above 0."""
    run, rise = next((x - column[0], y - sizes[0]) for x, y in zip(column, sizes, strict=True) if x != column[0])
    slope, rest = divmod(rise, run)
    fits_all = all(y - sizes[0] == slope * (x - column[0]) for x, y in zip(column, sizes, strict=True))
    return slope if not rest and slope > 0 and fits_all else 0


def fits(found: Any, actual: Any, there: AtLengths) -> bool:
    """Tell whether `actual` is what `found` is at these lengths."""
    if found is actual:
        return True
    if isinstance(found, Dimension):
        return type(actual) is int and there[found] == actual
    if isinstance(found, type):  # a number that became an input
        return found is actual or (type(actual) is Constant and is_open(actual) and type(actual.number) is found)
    if hasattr(found, "made_of") and hasattr(actual, "made_of"):
        return found.name == actual.name and fits(found.made_of(), actual.made_of(), there)
    if type(found) is not type(actual):
        return False
    if isinstance(found, tuple) and type(found) not in (Constant, Hole):
        return len(found) == len(actual) and all(
            x is y or fits(x, y, there) for x, y in zip(found, actual, strict=True)
        )
    if type(found) is Aval:
        return there[found].in_order(None) is actual.in_order(None)
    if type(found) is Signature:
        return fits(_content(found), _content(actual), there)
    return bool(found == actual)


def names_in(found: Any) -> set[str]:
    """Return the names of the lengths on which a call depends, or part of it: a signature, an op, its options."""
    if type(found) is Signature:
        return names_in(_content(found))
    if hasattr(found, "made_of"):
        return names_in(found.made_of())
    if isinstance(found, tuple) and type(found) not in (Constant, Hole):
        return {name for part in found for name in names_in(part)}
    return lengths_in(found)


def _content(signature: Signature) -> tuple[Any, ...]:
    return signature.op, signature.arguments, signature.statics, signature.avals


def _number(found: Sequence[Any]) -> Any:
    """Numbers that differ become inputs of the program: how they depend on the length is Python's business."""
    if all(other == found[0] for other in found):
        return found[0]
    kinds = {x if isinstance(x, type) else type(x.number) for x in found}
    if len(kinds) > 1 or not all(isinstance(x, type) or is_open(x) for x in found):
        raise Varies
    return kinds.pop()
