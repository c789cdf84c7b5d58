"""What differs between two programs by one integer, written with that integer left open."""

from __future__ import annotations

from typing import Any

from funcgrad._base.dtypes import dtype as DType
from funcgrad._program.lengths.symbol import Dimension, at, is_symbolic
from funcgrad._program.trie import Constant, Hole, Signature, is_open
from funcgrad._program.value import Aval, aval


class Varies(Exception):  # noqa: N818 - no error: it says that two programs do not differ by a length alone
    """Two things differ by more than one integer, or in a way that is not linear in it."""


class Fit:
    """Finds what two programs have in common: `of(a, b)` is a with the length open, given what stands at b's place."""

    def __init__(self, first: int, second: int, symbol: Any) -> None:
        self.first, self.second, self.symbol = first, second, symbol
        self._known: dict[tuple[int, int], Any] = {}
        self._held: list[Any] = []
        self._dimensions: list[Any] = []

    def of(self, a: Any, b: Any) -> Any:
        """Return an expression that is `a` at the first length and `b` at the second; raise Varies if there is none."""
        if a is b:
            return a
        if {type(a), type(b)} <= {Constant, type}:
            return _number(a, b)
        if type(a) is not type(b):
            raise Varies
        if type(a) is int:
            return self._line(a, b)
        if isinstance(a, tuple):
            if len(a) != len(b):
                raise Varies
            parts = list(map(self.of, a, b))
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if type(a) is Aval:
            return self._aval(a, b)
        if type(a) is Signature or hasattr(a, "made_of"):
            key = (id(a), id(b))
            if key not in self._known:
                self.know(a, b, self._made(a, b))
            return self._known[key]
        if isinstance(a, (str, bool, float, complex, DType, slice)) and a == b:
            return a
        raise Varies

    def know(self, a: Any, b: Any, found: Any) -> None:
        """Say what two things are with the length open. Of a signature, its dimensions may be those of others, too."""
        self._held += (a, b)  # so that their ids stay theirs
        self._known[id(a), id(b)] = found
        if type(found) is Signature:
            self._dimensions += [size for aval in found.avals for size in aval.shape if is_symbolic(size)]

    def _line(self, a: int, b: int) -> Any:
        if a == b:
            return a
        slope, rest = divmod(b - a, self.second - self.first)
        if not rest and slope > 0:
            return slope * self.symbol + (a - slope * self.first)
        for size in self._dimensions:
            if at(size, self.first) == a and at(size, self.second) == b:
                return size
        raise Varies

    def _aval(self, a: Aval, b: Aval) -> Aval:
        if a.dtype is not b.dtype or a.placement is not b.placement:
            raise Varies
        return aval(self.of(tuple(a.struct.shape), tuple(b.struct.shape)), a.dtype.numpy, a.placement)

    def _made(self, a: Any, b: Any) -> Any:
        if type(a) is Signature:
            return Signature(self.of(a.op, b.op), self.of(a.arguments, b.arguments), self.of(a.statics, b.statics),
                             self.of(a.avals, b.avals))  # fmt: skip
        return a.made_anew(*self.of(a.made_of(), b.made_of()))


def fits(found: Any, actual: Any, length: int) -> bool:
    """Tell whether `actual` is what `found` is at this length."""
    if found is actual:
        return True
    if isinstance(found, Dimension):
        return type(actual) is int and at(found, length) == actual
    if isinstance(found, type):  # a number that became an input
        return found is actual or (type(actual) is Constant and is_open(actual) and type(actual.number) is found)
    if hasattr(found, "made_of") and hasattr(actual, "made_of"):
        return found.name == actual.name and fits(found.made_of(), actual.made_of(), length)
    if type(found) is not type(actual):
        return False
    if isinstance(found, tuple) and type(found) not in (Constant, Hole):
        return len(found) == len(actual) and all(map(fits, found, actual, [length] * len(found)))
    if type(found) is Aval:
        return at(found, length) is actual
    if type(found) is Signature:
        return fits(_content(found), _content(actual), length)
    return bool(found == actual)


def _content(signature: Signature) -> tuple[Any, ...]:
    return signature.op, signature.arguments, signature.statics, signature.avals


def _number(a: Any, b: Any) -> Any:
    """Numbers that differ become inputs of the program: how they depend on the length is Python's business."""
    if a == b:
        return a
    kinds = {x if isinstance(x, type) else type(x.number) for x in (a, b)}
    if len(kinds) > 1 or not all(isinstance(x, type) or is_open(x) for x in (a, b)):
        raise Varies
    return kinds.pop()
