"""Numbers in which programs differ that are alike in all else: they become inputs, and one executable serves both.

The recorder sees that a number changes where it comes after the same instructions. A step that comes after others each
time (an image flipped as a coin falls, a share drawn for it) is compared here with what was planned before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from funcgrad._base.bounded import Bounded
from funcgrad._program.line import Argument, Hole, Loop, Step
from funcgrad._program.trie import is_open


class _Family:
    """The numbers of the first of some lines that are alike, and which of them were others in a later one."""

    __slots__ = ("changing", "first")

    def __init__(self, numbers: list[Argument]) -> None:
        self.first, self.changing = numbers, set[int]()


_FAMILIES: Bounded[_Family] = Bounded(256)


def with_changing_numbers_open(
    line: Sequence[Step | Loop], results: Sequence[Argument], numbers: int
) -> tuple[Sequence[Step | Loop], list[float]]:
    """Return the line with those of its numbers as inputs that were others in a line like it; and these numbers.

    numbers: how many inputs the line has already; the new ones come after them.
    """
    key = tuple([(step.token, tuple(map(_kind, step.arguments))) for step in line]), tuple(results)
    own = [a for step in line for a in step.arguments if is_open(a)]
    family = _FAMILIES.found(key, lambda: _Family(own))
    family.changing.update(i for i, pair in enumerate(zip(family.first, own, strict=True)) if pair[0] != pair[1])
    if not family.changing:
        return line, []
    inputs = {place: numbers + i for i, place in enumerate(sorted(family.changing))}
    return list(_opened(line, inputs)), [float(own[place].number) for place in inputs]


def _kind(argument: Argument) -> Any:
    return type(argument.number) if is_open(argument) else argument


def _opened(line: Sequence[Step | Loop], inputs: dict[int, int]) -> Iterator[Step | Loop]:
    """Yield the instructions; inputs: of some numbers, counted along the line, the places among the program's."""
    count = 0
    for step in line:
        arguments = []
        for argument in step.arguments:
            if is_open(argument):
                position = inputs.get(count)
                arguments.append(argument if position is None else Hole(position, type(argument.number)))
                count += 1
            else:
                arguments.append(argument)
        yield step.reading(arguments)


def forget_numbers() -> None:
    """Begin anew: no line was seen before."""
    _FAMILIES.clear()
