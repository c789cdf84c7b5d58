"""Numbers in which programs differ that are alike in all else: they become inputs, and one executable serves both.

The recorder sees that a number changes where it comes after the same instructions. A step that comes after others each
time (an image flipped as a coin falls, a share drawn for it) is compared here with what was planned before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any

from funcgrad._base.bounded import Bounded
from funcgrad._program.line import Argument, Hole, Loop, Step, takes_rows
from funcgrad._program.trie import is_open


class _Family:
    """The numbers of the first of some lines that are alike, and which were others, or inputs, in a later one."""

    __slots__ = ("changing", "first")

    def __init__(self, numbers: list[Argument]) -> None:
        self.first, self.changing = numbers, set[int]()


_FAMILIES: Bounded[_Family] = Bounded(256)


def with_changing_numbers_open(
    line: Sequence[Step | Loop], results: Sequence[Argument], *, is_long: bool
) -> tuple[Sequence[Step | Loop], list[int | float] | None]:
    """Return the line with those of its numbers as inputs that were others in a line like it, or soon will be.

    All inputs are counted along the line then, so that it does not matter when one became an input. With it come their
    sources: a place among the line's own inputs, or a number; None where these are the inputs as they are. is_long:
    whether others that are like it are looked at; a short line is like others by chance.
    """
    changing = _others_in_lines_like(line, results) if is_long else set(_inputs(line))
    changing.update(_first_rows(line))
    sources = list[int | float]()
    opened = list(_opened(line, changing, sources))
    is_same = all(type(source) is int and source == place for place, source in enumerate(sources))
    return (line, None) if is_same else (opened, sources)


def _others_in_lines_like(line: Sequence[Step | Loop], results: Sequence[Argument]) -> set[int]:
    """Return which numbers of the line were others, or inputs, in a line that is like it in all else."""
    key = tuple([(step.token, tuple(map(_kind, step.arguments))) for step in line]), tuple(results)
    own = [a for step in line for a in step.arguments if _is_number(a)]
    family = _FAMILIES.found(key, lambda: _Family(own))
    pairs = enumerate(zip(family.first, own, strict=True))
    family.changing.update(i for i, (first, a) in pairs if type(a) is Hole or first != a)
    return family.changing


def _inputs(line: Sequence[Step | Loop]) -> Iterator[int]:
    """Yield which numbers of the line are inputs already."""
    numbers = (a for step in line for a in step.arguments if _is_number(a))
    return (i for i, a in enumerate(numbers) if type(a) is Hole)


def _first_rows(line: Sequence[Step | Loop]) -> Iterator[int]:
    """Yield where there are the beginnings of batches, counted among the numbers of the line.

    A batch is rows of a leaf that nothing else reads: the next time they will be others (`loss(model(X[i : i + 8]), Y[i
    : i + 8])`).
    """
    readings = Counter(a for step in line for a in step.arguments if type(a) is int)
    count = 0
    for step in line:
        numbers = sum(map(_is_number, step.arguments))
        if isinstance(step, Step) and takes_rows(step) and numbers:
            whole, _ = step.arguments
            if type(whole) is int and readings[whole] == 1:
                yield count
        count += numbers


def _opened(line: Sequence[Step | Loop], changing: Container[int], sources: list[int | float]) -> Iterator[Step | Loop]:
    """Yield the instructions with some numbers open, counted along the line; enter where all open ones come from."""
    count = 0
    for step in line:
        arguments = []
        for argument in step.arguments:
            if _is_number(argument):
                if count in changing:
                    sources.append(argument.position if type(argument) is Hole else float(argument.number))
                    argument = Hole(len(sources) - 1, _kind(argument))
                count += 1
            arguments.append(argument)
        yield step.reading(arguments)


def _is_number(argument: Any) -> bool:
    """Tell whether it is a number, an input already or one that may become one."""
    return type(argument) is Hole or is_open(argument)


def _kind(argument: Any) -> Any:
    return argument.kind if type(argument) is Hole else type(argument.number) if is_open(argument) else argument


def forget_numbers() -> None:
    """Begin anew: no line was seen before."""
    _FAMILIES.clear()
