"""What an op returns for a length not seen before, without tracing it again: from the third length on it is known.

Two calls of an op that differ in one length have a third one's shapes in common with it, once the op has been traced
with that length as a symbol. An op that cannot be traced so is traced for each length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from funcgrad._base.bounded import Bounded
from funcgrad._program.lengths.symbol import Refusal, attempted, room_for, symbol_of
from funcgrad._program.value import Aval, aval

Arguments: TypeAlias = tuple[Any, ...]
_KEPT = 8  # calls of one kind that are compared, or patterns


class _Pattern:
    """Sizes of which those at `places` vary together; the others are those of `like`. known: by the room."""

    __slots__ = ("known", "like", "places")

    def __init__(self, places: tuple[int, ...], like: tuple[int, ...]) -> None:
        self.places, self.like = places, like
        self.known: dict[int, Any] = {}

    def length_of(self, sizes: tuple[int, ...]) -> int:
        """Return the length of a call of this pattern, one that stands nowhere else in its sizes; else 0."""
        length = sizes[self.places[0]]
        same = all((size == length) if i in self.places else (size == other != length)
                   for i, (size, other) in enumerate(zip(sizes, self.like, strict=True)))  # fmt: skip
        return length if same else 0


class _Kind:
    """Calls of one op that differ in sizes only: the last few, and which sizes were found to vary together."""

    __slots__ = ("patterns", "seen")

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []
        self.patterns: list[_Pattern] = []


_KINDS: Bounded[_Kind] = Bounded(4096)


def known_with_length_open(key: Any, arguments: Arguments, trace: Callable[[Arguments], Any]) -> tuple[Any, int] | None:
    """Return what `trace` gives for these arguments with their length as a symbol, and the length; None if not known.

    key: what else the call depends on. trace: is given the arguments with that symbol in their shapes.
    """
    sizes = tuple([size for a in arguments if type(a) is Aval for size in a.shape])
    likes = tuple([(a.dtype, len(a.shape), a.placement) if type(a) is Aval else a for a in arguments])
    kind = _KINDS.found((key, likes), _Kind)
    for pattern in kind.patterns:
        length = pattern.length_of(sizes)
        if length > 1:
            room = room_for(length)
            if room not in pattern.known:
                pattern.known[room] = _traced(arguments, pattern.places, room, trace)
            return (pattern.known[room], length) if pattern.known[room] is not None else None
    places = _varying_places(kind.seen, sizes)
    if places:
        kind.patterns = [*kind.patterns[1 - _KEPT :], _Pattern(places, sizes)]
    kind.seen = [*kind.seen[1 - _KEPT :], sizes] if sizes not in kind.seen else kind.seen
    return None


def _varying_places(seen: list[tuple[int, ...]], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the places at which one length differs from that of two other calls, which differ likewise."""
    found: dict[tuple[int, ...], int] = {}
    for other in seen:
        places = tuple([i for i, (a, b) in enumerate(zip(other, sizes, strict=True)) if a != b])
        if places and len({other[i] for i in places}) == len({sizes[i] for i in places}) == 1:
            found[places] = found.get(places, 0) + 1
    return next((places for places, count in found.items() if count > 1), ())


def _traced(arguments: Arguments, places: tuple[int, ...], room: int, trace: Callable[[Arguments], Any]) -> Any:
    symbol, place, opened = symbol_of(room), 0, []
    for argument in arguments:
        if type(argument) is Aval:
            shape = [symbol if place + i in places else size for i, size in enumerate(argument.shape)]
            place += len(shape)
            opened.append(aval(tuple(shape), argument.dtype.numpy, argument.placement))
        else:
            opened.append(argument)
    found = attempted(trace, tuple(opened))
    return None if isinstance(found, Refusal) else found
