"""What an op returns for a length not seen before, without tracing it again: from the third length on it is known.

Two calls of an op that differ in one length have a third one's shapes in common with it, once the op has been traced
with that length as a symbol; and so for up to 32 lengths that vary independently. An op that cannot be traced so is
traced for each length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from funcgrad._base.bounded import Bounded
from funcgrad._program.lengths.symbol import NAMES, Refusal, attempted, between, narrow, room_for
from funcgrad._program.value import Aval, aval

Arguments: TypeAlias = tuple[Any, ...]
Groups: TypeAlias = tuple[tuple[int, ...], ...]  # places of sizes, those of each length
_KEPT = 8  # calls of one kind that are compared, or patterns


class _Pattern:
    """Sizes of which those at the places of one group vary together, those of two groups independently.

    The others are those of `like`. known: what an op does, by the rooms of the lengths.
    """

    __slots__ = ("_fixed", "_like", "_others", "groups", "known")

    def __init__(self, groups: Groups, like: tuple[int, ...]) -> None:
        self.groups = groups
        self.known: dict[tuple[int, ...], Any] = {}
        varying = {i for places in groups for i in places}
        self._fixed = [i for i in range(len(like)) if i not in varying]
        self._like = [like[i] for i in self._fixed]
        self._others = [(i, places[0]) for places in groups for i in places[1:]]

    def lengths_of(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Return the lengths of a call of this pattern, each of which stands nowhere else in its sizes; else ()."""
        if [sizes[i] for i in self._fixed] != self._like:
            return ()
        for i, first in self._others:
            if sizes[i] != sizes[first]:
                return ()
        lengths = tuple([sizes[places[0]] for places in self.groups])
        own = set(lengths)
        return lengths if len(own) == len(lengths) and min(lengths) > 1 and own.isdisjoint(self._like) else ()


class _Kind:
    """Calls of one op that differ in sizes only: the last few, and which sizes were found to vary together."""

    __slots__ = ("patterns", "seen")

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []
        self.patterns: list[_Pattern] = []


_KINDS: Bounded[_Kind] = Bounded(4096)


def known_with_length_open(
    key: Any, arguments: Arguments, trace: Callable[[Arguments], Any]
) -> tuple[Any, tuple[int, ...]] | None:
    """Return what `trace` gives for these arguments with their lengths as symbols, and the lengths; None if not known.

    key: what else the call depends on. trace: is given the arguments with those symbols in their shapes.
    """
    sizes = tuple([size for a in arguments if type(a) is Aval for size in a.shape])
    likes = tuple([(a.dtype, len(a.shape), a.placement) if type(a) is Aval else a for a in arguments])
    kind = _KINDS.found((key, likes), _Kind)
    for pattern in kind.patterns:
        lengths = pattern.lengths_of(sizes)
        if lengths:
            rooms = tuple(map(room_for, lengths))
            if rooms not in pattern.known:
                pattern.known[rooms] = _traced(arguments, pattern.groups, rooms, trace)
            if pattern.known[rooms] is not None:
                return pattern.known[rooms], lengths
    groups = _varying(kind.seen, sizes)
    if groups and not any(pattern.groups == groups and pattern.lengths_of(sizes) for pattern in kind.patterns):
        kind.patterns = [*kind.patterns[1 - _KEPT :], _Pattern(groups, sizes)]
    kind.seen = [*kind.seen[1 - _KEPT :], sizes] if sizes not in kind.seen else kind.seen
    return None


def _varying(seen: list[tuple[int, ...]], sizes: tuple[int, ...]) -> Groups:
    """Return the places at which a few lengths differ from those of two other calls, which differ likewise."""
    found: dict[Groups, int] = {}
    for other in seen:
        groups: dict[tuple[int, int], list[int]] = {}
        for i, pair in enumerate(zip(other, sizes, strict=True)):
            if pair[0] != pair[1]:
                groups.setdefault(pair, []).append(i)
        if 0 < len(groups) <= len(NAMES):
            places = tuple(map(tuple, groups.values()))
            found[places] = found.get(places, 0) + 1
    return next((groups for groups, count in found.items() if count > 1), ())


def _traced(arguments: Arguments, groups: Groups, rooms: tuple[int, ...], trace: Callable[[Arguments], Any]) -> Any:
    symbols = between(narrow(rooms))
    of_place = {i: symbol for places, symbol in zip(groups, symbols, strict=True) for i in places}
    place, opened = 0, []
    for argument in arguments:
        if type(argument) is Aval:
            shape = [of_place.get(i, size) for i, size in enumerate(argument.shape, place)]
            place += len(shape)
            opened.append(aval(tuple(shape), argument.dtype.numpy, argument.placement))
        else:
            opened.append(argument)
    found = attempted(trace, tuple(opened))
    return None if isinstance(found, Refusal) else found
