"""Runs a line whose loops have another number of turns each time: no compile per number, once its parts are known.

The length of an episode, of a sentence, of a search differs from step to step; a program of each length, compiled
whole, would cost seconds each time. So what is between loops is compiled apart and found again by what it computes,
whatever program it comes from; and a loop is compiled for up to 16, 32, 64, ... turns: the number of turns is an input,
and where the arrays are small there is room for twice as many. The stacks that loops read and write pass through the
host, where putting arrays together needs no compile. So does what puts the results of many turns together, or takes it
apart (`torch.stack` of an episode's losses). What lies between and has the number of turns in its shape is a program
with a length that varies: see `lengths`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base.bounded import Bounded
from funcgrad._program.compiling import options_for
from funcgrad._program.counters import counters
from funcgrad._program.host.planning import on_host, struct_of, struct_of_numbers
from funcgrad._program.lengths.family import Sample
from funcgrad._program.lengths.planning import Served, for_many_lengths
from funcgrad._program.line import Argument, Hole, Instruction, Loop, Ref, Step
from funcgrad._program.renting import as_of_now, rented
from funcgrad._program.slices import only_puts, only_selects, with_slices_apart
from funcgrad._program.stepwise import RECENT
from funcgrad._program.tracing import Parts, Tracing, end_to_end, parts_read, stretches, taken_apart
from funcgrad._program.trie import Constant, Signature, are_joined, is_open
from funcgrad._program.value import Aval

SMALLEST = 16  # turns that a loop is compiled for
_LITTLE = 1 << 22  # bytes of stacks for which more room is no matter
# pieces and loops by what they compute, and whether XLA compiled them
_KNOWN: Bounded[tuple[Callable[..., Any], bool]] = Bounded(4096)


class InParts:
    """Called as a plan is: (given leaves, kept leaves, numbers) -> results. It takes all leaves as kept ones."""

    def __init__(self, line: Sequence[Step | Loop], wanted: Sequence[Argument], leaves: Sequence[Aval]) -> None:
        line, wanted = with_slices_apart(line, wanted)
        self.line, self.wanted, self.read = line, wanted, parts_read(line, wanted)
        self.parts: list[_Piece | int] = []
        compiled, found = counters.parts, _Lately.found
        read_late = {a[:2] for a in wanted if type(a) is Ref}
        first_puts = {loop.initial[0].step for loop in line if isinstance(loop, Loop) and only_puts(loop)
                      and type(loop.initial[0]) is Ref and _puts(line[loop.initial[0].step])}  # fmt: skip
        end = len(line)
        for i in reversed(range(len(line) + 1)):
            if i == 0 or isinstance(line[i - 1], Loop) or _joins(line[i - 1]) or i - 1 in first_puts:
                if i < end:
                    self.parts.append(_Piece(line, i, end, read_late, leaves))
                if i:
                    self.parts.append(i - 1)
                read_late |= {a[:2] for step in line[max(i - 1, 0) : end] for a in step.arguments if type(a) is Ref}
                end = i - 1
        self.parts.reverse()
        _Lately.new = 0 if _Lately.found > found else _Lately.new + (counters.parts > compiled)

    def __call__(self, given: list[Any], leaves: list[Any], numbers: Any) -> list[Any]:
        """Run the parts in order."""
        run = _Run(self.line, leaves, numbers, self.read)
        for part in self.parts:
            if isinstance(part, int):
                run.turn(part)
            else:
                run.values.update(zip(part.results, part.execute(*map(run.get, part.inputs), run.numbers_of(part)),
                                      strict=True))  # fmt: skip
        return [np.array(x) if isinstance(x, np.ndarray) else x for x in map(run.get, self.wanted)]


class _Piece:
    """Instructions between two loops. inputs: what they read of leaves and earlier parts; numbers: likewise.

    All numbers are inputs of it, so that it is the same piece whatever they are.
    """

    def __init__(self, line: Sequence[Any], first: int, end: int, read_late: set[Any], leaves: Sequence[Aval]) -> None:
        known: dict[Argument, int] = {}
        numbers: dict[Argument, int] = {}
        own: list[tuple[Step, list[Argument]]] = []
        for step in line[first:end]:
            own.append((step, [_renamed(argument, first, known, numbers) for argument in step.arguments]))
        self.inputs, self.numbers = list(known), list(numbers)
        self.results = sorted((key for key in read_late if first <= key[0] < end), key=lambda key: (key[0], key[1]))
        returned = tuple([(step - first, part) for step, part in self.results])
        key = (tuple([(step.token, tuple(arguments)) for step, arguments in own]), returned)
        shapes = [_aval_of(argument, line, leaves) for argument in self.inputs]
        self.execute = found_or_made(key, lambda: _compiled_piece(own, returned, shapes, len(numbers)))


def _aval_of(argument: Argument, line: Sequence[Any], leaves: Sequence[Aval]) -> Aval:
    """Return what is known of a leaf, or of a result of one turn or of no loop."""
    return leaves[-1 - argument] if type(argument) is int else line[argument.step].aval_of(argument.part)


def _renamed(argument: Argument, first: int, known: dict[Any, int], numbers: dict[Any, int]) -> Argument:
    """Return an argument by its place among the inputs of a piece that begins with instruction `first`."""
    if type(argument) is Ref and argument.step >= first:
        return Ref(argument.step - first, argument.part)
    if type(argument) is Ref or type(argument) is int:
        return -1 - known.setdefault(argument, len(known))
    if type(argument) is Hole:
        return Hole(numbers.setdefault(argument, len(numbers)), argument.kind)
    if isinstance(argument, Constant) and is_open(argument):
        return Hole(numbers.setdefault(argument, len(numbers)), type(argument.number))
    return argument


def _compiled_piece(
    steps: Sequence[tuple[Step, list[Argument]]],
    returned: Sequence[tuple[int, int]],
    shapes: Sequence[Aval],
    numbers: int,
) -> Callable[..., Any]:
    calls, slots = [], []
    for step, arguments in steps:
        slots.append(slots[-1] + len(calls[-1].avals) if calls else 0)
        read = tuple([slots[a.step] + a.part if type(a) is Ref else a for a in arguments])
        op, statics, known, _ = step.token
        calls.append(Instruction(Signature(op, known, statics, tuple(step.avals)), read, slots[-1]))
    wanted = [slots[step] + part for step, part in returned]
    lines, structs = [step.reading(arguments) for step, arguments in steps], list(map(struct_of, shapes))

    def piece(given: list[Any], arrays: list[Any], numbers: Any) -> list[jax.Array]:
        tracing = Tracing(arrays, numbers, {})
        tracing.run(lines)
        return [tracing.values[step][part] for step, part in returned]

    served = for_many_lengths(Sample(calls, shapes), wanted, (), may_wait=lambda: False)
    if isinstance(served, Served):
        counters.parts -= not served.is_new
        order = [served.whole.order.index(i) for i in range(len(returned))]

        def for_its_length(*arguments: Any) -> list[Any]:
            results = served.execute([], list(arguments[:-1]), arguments[-1])
            return [results[i] for i in order]

        return for_its_length
    jitted, inputs = jax.jit(piece, compiler_options=options_for(lines)), ([], structs, struct_of_numbers(numbers))
    without = on_host(jitted, lines, shapes, *inputs) or rented(jitted, lines, inputs, len(returned))
    counters.parts -= without is not None
    execute = without or jitted

    def run(*arguments: Any) -> list[Any]:
        inputs = [], list(arguments[:-1]), arguments[-1]
        return as_of_now(execute, *inputs)(*inputs)

    return run


class _Run:
    """One run of a line: the values so far, of which those of loops are stacked on the host."""

    def __init__(self, line: Sequence[Any], leaves: list[Any], numbers: Any, read: Mapping[int, Parts]) -> None:
        self.line, self.leaves, self.numbers, self.read = line, leaves, numbers, read
        self.values: dict[Any, Any] = {}

    def get(self, argument: Argument) -> Any:
        """Return an array, of the host or of the device."""
        if type(argument) is int:
            return self.leaves[-1 - argument]
        if type(argument) is Ref:
            value = self.values[argument[:2]]
            if argument.turn is None:
                return value
            return value[argument.turn] if self.read[argument.step][argument.part] else value
        return self._number(argument)

    def numbers_of(self, piece: _Piece) -> np.ndarray[Any, Any]:
        """Return the numbers that a piece reads, in its own order."""
        return np.array([self._number(argument) for argument in piece.numbers], np.float64)

    def _number(self, argument: Argument) -> float:
        assert isinstance(argument, (Hole, Constant))
        return self.numbers[argument.position] if isinstance(argument, Hole) else float(argument.number.real)

    def turn(self, place: int) -> None:
        """Run the loop at this place of the line, or what joins the results of many turns, or puts one in its place."""
        loop: Loop = self.line[place]
        if isinstance(loop, Step):
            self.values.update(((place, part), value) for part, value in enumerate(self._joined(loop)))
            return
        read = self.read[place]
        if only_selects(loop):
            self.values[place, Ref(0, 0)] = self._selected(loop, all(read.values()))
            return
        if only_puts(loop):
            self.values[place, Ref(1, 0)] = self._put(loop)
            return
        stacks = [self._stacked(stack) for stack in loop.stacks]
        constants = [np.float64(x) if isinstance(x, (int, float)) else x
                     for x in map(self.get, loop.arguments[: loop.constants])]  # fmt: skip
        initial = [*map(self.get, loop.initial)]
        parts = sorted(read.items(), key=repr)
        key = (loop.body_token, loop.constants, loop.updates, len(stacks), tuple(parts))
        found = _Lately.found
        execute = found_or_made(key, lambda: _TurnedLoop(_compiled_loop(loop, read)))
        if _Lately.found > found:
            _Lately.new = 0
        results = execute(constants, initial, stacks, loop.turns)
        for (part, stacked), result in zip(parts, results, strict=True):
            self.values[place, part] = np.asarray(result) if stacked else result

    def _on_host(self, argument: Argument) -> np.ndarray[Any, Any]:
        found = self.get(argument)
        return np.asarray(found, np.float64 if isinstance(found, (int, float)) else None)

    def _selected(self, loop: Loop, stacked: bool) -> np.ndarray[Any, Any]:
        """Return x[i] for each turn's i, or for the last one's: nothing to compile."""
        (select,), (places,) = loop.body, loop.stacks
        assert isinstance(select, Step)
        whole = np.moveaxis(np.asarray(self.get(loop.arguments[0])), select.statics[0], 0)
        return whole[self._stacked(places).astype(np.int64)] if stacked else whole[int(self.get(places[-1]))]

    def _put(self, loop: Loop) -> np.ndarray[Any, Any]:
        """Return what a loop adds up of slices, each in its place: nothing to compile."""
        places, slices = map(self._stacked, loop.stacks)
        return _added(np.array(self.get(loop.initial[0])), loop.body[0], places, slices)

    def _joined(self, step: Step) -> Sequence[Any]:
        """Put the results of many turns together, or take them apart again; or put one in its place among zeros."""
        if _puts(step):
            place, part = map(self._on_host, step.arguments)
            return [_added(np.zeros(*step.shape_of(0)), step, place, part)]
        apart = getattr(step.op, "takes_apart", None)
        if apart is None:
            stacked = self._stacked(step.arguments)
            return [np.ascontiguousarray(end_to_end(stacked, step.op.name == "stack", *step.statics))]
        whole = np.asarray(self.get(step.arguments[-1]))
        return [*taken_apart(whole, len(apart.arguments), apart.op.name == "stack", *apart.statics)]

    def _stacked(self, stack: Sequence[Argument]) -> np.ndarray[Any, Any]:
        """Return one array on the host with an element for each turn."""
        pieces, singles = list[np.ndarray[Any, Any]](), list[np.ndarray[Any, Any]]()
        for i, length, direction in stretches(stack):
            first = stack[i]
            if length == 1 or type(first) is not Ref or first.turn is None:
                singles += map(self._on_host, stack[i : i + length])
                continue
            if singles:
                pieces.append(np.stack(singles))
                singles = []
            whole, start = self.values[first[:2]], first.turn
            forward = whole[start : start + length]
            pieces.append(forward if direction > 0 else whole[start - length + 1 : start + 1][::-1])
        if singles:
            pieces.append(np.stack(singles))
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _joins(step: Step | Loop) -> bool:
    """Tell whether an instruction does nothing but put many arrays together, or take them apart."""
    if isinstance(step, Loop):
        return False
    op, _, known, _ = step.token
    return are_joined(op, known) or getattr(op, "takes_apart", None) is not None


def _puts(step: Step | Loop) -> bool:
    return isinstance(step, Step) and getattr(step.op, "puts_at", None) is not None


def _added(whole: np.ndarray[Any, Any], step: Any, places: Any, slices: Any) -> np.ndarray[Any, Any]:
    """Add slices to an array, each in its place along the dimension that the instruction names."""
    np.add.at(np.moveaxis(whole, step.op.puts_at, 0), places.astype(np.int64), slices)
    return whole


class _TurnedLoop:
    """A loop with its executables, each for up to so many turns: the fewest that there is room for."""

    def __init__(self, execute: Callable[..., Any]) -> None:
        self.execute, self.rooms = execute, list[int]()

    def __call__(self, constants: list[Any], initial: list[Any], stacks: list[Any], turns: int) -> list[Any]:
        """Run it. stacks: with an element for each turn."""
        tight = max(SMALLEST, 1 << (turns - 1).bit_length())
        each = sum([x.nbytes // turns for x in stacks])
        room = min([room for room in self.rooms if room >= tight and each * (room - tight) <= _LITTLE], default=0)
        if not room:  # with room for more, or the next that has more is another compile
            room = 2 * tight if each * tight <= _LITTLE else tight
            self.rooms.append(room)
        filled = [np.concatenate([x, np.zeros((room - turns, *x.shape[1:]), x.dtype)]) for x in stacks]
        return self.execute(constants, initial, filled, np.int32(turns), np.zeros(room, np.bool_))


def _compiled_loop(loop: Loop, read: Parts) -> Callable[..., Any]:
    """Return the loop as a function of its arguments and the number of turns."""
    parts = sorted(read.items(), key=repr)
    last = [part for part, stacked in parts if not stacked]
    each = [part for part, stacked in parts if stacked]
    outside = (*loop.updates, *last, *each)
    inner = parts_read(loop.body, outside)
    count = loop.carries + len(last)

    def turned(constants: list[Any], initial: list[Any], stacks: list[Any], turns: Any, size: Any) -> list[jax.Array]:
        def turn(i: Any, state: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
            carry, results = state
            now = [lax.dynamic_index_in_dim(stack, i, keepdims=False) for stack in stacks]
            body = Tracing([*constants, *carry[: loop.carries], *now], None, inner)
            body.run(loop.body)
            found = [body.get(argument) for argument in outside]
            written = zip(results, found[count:], strict=True)
            return found[:count], [lax.dynamic_update_index_in_dim(whole, one, i, 0) for whole, one in written]

        zeros = [jnp.zeros(*loop.shape_of(part)) for part in last]
        empty = [jnp.zeros((len(size), *shape), dtype) for shape, dtype in map(loop.shape_of, each)]
        carry, results = lax.fori_loop(0, turns, turn, ([*map(jnp.asarray, initial), *zeros], empty))
        ends = dict(zip((*last, *each), (*carry[loop.carries :], *results), strict=True))
        return [ends[part] for part, _ in parts]

    return jax.jit(turned, compiler_options=options_for(loop.body))


def found_or_made(key: Any, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """Return what was compiled for this key, making it the first time."""
    compiled = counters.parts

    def made() -> tuple[Callable[..., Any], bool]:
        counters.parts += 1
        return make(), counters.parts > compiled

    execute, is_compiled = _KNOWN.found(key, made)
    _Lately.found += is_compiled and counters.parts == compiled
    return execute


class _Lately:
    """What became of lines in parts. found: parts that came back. new: lines in a row that had none, but new ones."""

    found = 0
    new = 0


def parts_seldom_come_back() -> bool:
    """Tell whether the last lines in parts had to compile some, and had none that was compiled before."""
    return _Lately.new >= RECENT


def forget_parts() -> None:
    """Begin anew: no line was run in parts."""
    _KNOWN.clear()
    _TURNS.clear()
    _Lately.new = 0


_TURNS: Bounded[set[tuple[int, ...]]] = Bounded(512)  # by the kind of a line: how often its loops turned


def turns_vary(line: Sequence[Step | Loop]) -> bool:
    """Tell whether a line of this kind was planned before with other numbers of turns; remember this one's."""
    turns = tuple([step.turns for step in line if isinstance(step, Loop)])
    if not turns:
        return False
    seen = _TURNS.found(_kind_of(line), set)
    if len(seen) < 2:
        seen.add(turns)
    return len(seen) > 1


def turns_varied(line: Sequence[Step | Loop]) -> bool:
    """Tell whether lines of this kind were planned with different numbers of turns."""
    return len(_TURNS.get(_kind_of(line)) or ()) > 1


def loops_were_seen() -> bool:
    """Tell whether any line with loops was looked at for its numbers of turns."""
    return len(_TURNS) > 0


def _kind_of(line: Sequence[Step | Loop]) -> Any:
    return tuple(map(_kind, line))


def _kind(step: Step | Loop) -> Any:
    return tuple([_kind(inner) for inner in step.body]) if isinstance(step, Loop) else step.op.name
