"""Runs a long line piece by piece: an XLA program for each, what later pieces read handed on between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from funcgrad._program.compiling import options_for
from funcgrad._program.line import Argument, Loop, Ref, Step, instructions_of
from funcgrad._program.tracing import Parts, Tracing, parts_read

Key = tuple[int, Any]  # an instruction and one of its results


class InPieces:
    """Called as a plan is: (given leaves, kept leaves, numbers) -> results. It takes all leaves as kept ones."""

    def __init__(self, line: Sequence[Step | Loop], wanted: Sequence[Argument], length: int) -> None:
        self.wanted, self.read = wanted, parts_read(line, wanted)
        self.pieces: list[_Piece] = []
        late: dict[Argument, None] = dict.fromkeys(wanted)  # what is read after the piece at hand
        for first, end in reversed([*_cuts(line, length)]):
            piece = _Piece(line[first:end], first, late, self.read)
            late.update(dict.fromkeys(piece.inputs))
            self.pieces.append(piece)
        self.pieces.reverse()

    def __call__(self, given: list[Any], leaves: list[Any], numbers: Any) -> list[jax.Array]:
        """Run the pieces in order."""
        values: dict[Key, Any] = {}
        for piece in self.pieces:
            inputs = [leaves[-1 - a] if type(a) is int else values[a] for a in piece.keys]
            values.update(zip(piece.results, piece.execute(inputs, numbers), strict=True))
            for key in piece.used_up:
                del values[key]
        return [self._result(argument, values) for argument in self.wanted]

    def _result(self, argument: Ref, values: dict[Key, Any]) -> Any:
        value = values[argument[:2]]
        stacked = argument.turn is not None and self.read[argument.step][argument.part]
        return value[argument.turn] if stacked else value


def _cuts(line: Sequence[Step | Loop], length: int) -> Iterator[tuple[int, int]]:
    """Yield where pieces begin and end that stand for so many calls, or for more where their last instruction does."""
    first = held = 0
    for i, step in enumerate(line):
        held += instructions_of(step)
        if held >= length:
            yield first, i + 1
            first, held = i + 1, 0
    if held:
        yield first, len(line)


class _Piece:
    """inputs: what it reads of leaves and earlier pieces. results: what later ones read. used_up: not read later."""

    def __init__(
        self, steps: Sequence[Step | Loop], first: int, late: dict[Argument, None], read: Mapping[int, Parts]
    ) -> None:
        end = first + len(steps)
        arguments = dict.fromkeys(argument for step in steps for argument in step.arguments)
        self.inputs = [a for a in arguments if type(a) is int or (type(a) is Ref and a.step < first)]
        self.keys: list[Any] = list(dict.fromkeys(a[:2] if type(a) is Ref else a for a in self.inputs))
        late_keys = dict.fromkeys(a[:2] for a in late if type(a) is Ref)
        self.results: list[Key] = [key for key in late_keys if first <= key[0] < end]
        self.used_up = [key for key in self.keys if type(key) is not int and key not in late_keys]
        self.execute = jax.jit(self._traced(steps, first, read), compiler_options=options_for(steps))

    def _traced(self, steps: Sequence[Step | Loop], first: int, read: Mapping[int, Parts]) -> Callable[..., Any]:
        keys, results = self.keys, self.results

        def piece(inputs: list[Any], numbers: Any) -> list[Any]:
            leaves = {-1 - key: x for key, x in zip(keys, inputs, strict=True) if type(key) is int}
            tracing = Tracing(leaves, numbers, read)
            for key, x in zip(keys, inputs, strict=True):
                if type(key) is not int:
                    tracing.values.setdefault(key[0], {})[key[1]] = x
            tracing.run(steps, first)
            return [tracing.values[step][part] for step, part in results]

        return piece
