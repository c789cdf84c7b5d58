"""The one gate: every op that is computed passes `record`, which walks the trie and promises the results.

Python numbers are part of the program until a second value is seen at the same place; from then on they are inputs.
When that happens the recorder follows the old path beside the new one (the program's `shadow`), so that all numbers
that changed since become inputs in one walk, and a loop with ten changing numbers compiles twice, not eleven times.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary, ref

import jax
import numpy as np

from funcgrad._base.config import settings
from funcgrad._base.dtypes import get_default_dtype
from funcgrad._program.counters import counters
from funcgrad._program.placing import Again, Mixed, brought, is_elsewhere, placement_of, placement_with
from funcgrad._program.trie import Call, Constant, Hole, Signature, can_be_input, forest, signature_of
from funcgrad._program.value import (
    CONSTANT,
    SHARED,
    Aval,
    InsideTransform,
    LiftedValue,
    MetaValue,
    Seen,
    Value,
    meta,
    of_array,
    remember_places,
)

_HOLE, _ONCE = object(), Seen(1)
_WRITTEN = 14  # characters of a number that somebody may have written
TURN = 24  # instructions


class Program:
    """A straight line of instructions being recorded by one thread. `leaves` are the arrays that it reads.

    history: the first result that has one; None while none has. All before it is data. finds: whether it reads places
    that were found by looking at values, as many as there happened to be.
    """

    __slots__ = (
        "__weakref__", "begun", "closed", "cursor", "failure", "finds", "grown", "history", "key", "leaf_slots",
        "leaves", "lock", "numbers", "order", "outcome", "pinned", "placement", "promised", "results", "shadow",
        "shared",
    )  # fmt: skip

    def __init__(self) -> None:
        self.cursor: Call = forest.root(get_default_dtype())
        self.shadow: Call | None = None
        self.placement: Any = None
        self.lock = threading.RLock()
        self.closed = False
        self.history: int | None = None
        self.finds = False
        self.failure: BaseException | None = None
        self.let_go()
        programs[id(self)] = self

    def let_go(self) -> None:
        """Hold nothing: at the start, and once the results are with their Values."""
        self.leaves: list[tuple[Any, ref[Value], Aval]] = []
        self.leaf_slots: dict[Any, int] = {}
        self.pinned: list[Value] = []
        self.shared: set[int] = set()  # leaves whose arrays others hold too
        self.results: list[ref[Value]] = []
        self.numbers: list[float] = []
        self.grown: dict[Any, int] = {}  # what was joined, and after how many instructions: `ends_where_it_grows`
        self.key: tuple[tuple[int, ...], tuple[int, ...]] | None = None  # results wanted, leaves that nobody holds
        self.promised: list[Value] = []
        self.order: Sequence[int] = ()  # which of those each result of the outcome is
        self.begun: tuple[Any, list[Any]] | None = None  # its plan, and what the stages gave that have run
        self.outcome: list[Any] = []


programs: WeakValueDictionary[int, Program] = WeakValueDictionary()  # of all threads, being recorded or run


class AtFirst:
    """How threads begin: what is done with calls as long as nothing in the process wants a gradient; None: recorded."""

    instead: Callable[..., list[Value]] | None = None  # `at_once` puts its own in this place


class _Thread(threading.local):
    """Each thread records its own program.

    instead: returns the results of a call without a history, recorded or not; None: each is recorded. makes_samples:
    whether it stays so whatever is done. looks: how many programs of a few instructions were run of late, one after
    another, because somebody looked at what they give.
    """

    count = 0  # of threads that recorded something

    def __init__(self) -> None:
        _Thread.count += 1
        self.program = Program()
        self.instead = AtFirst.instead
        self.makes_samples = False
        self.looks = 0
        self.ran: Any = None  # the plan that ran last
        self.waiting: Program | None = None  # is run by whoever reads it first, or when another is recorded


thread = _Thread()


def fresh_program() -> Program:
    """Put a new, empty program in place and return the one that was being recorded."""
    recorded = thread.program
    thread.program = Program()
    return recorded


def note_gradient() -> None:
    """Take note that something wants a gradient: what is called from here may be a part of training steps."""
    AtFirst.instead = None
    record_again()


def note_found() -> None:
    """Take note that places were found by looking at values: what reads them will be of other lengths next time."""
    thread.program.finds = True


def note_history(program: Program, result: Value) -> None:
    """Take note that this is the first result of a program that has a history: what follows is no data."""
    program.history = result.slot
    record_again()


def stop_looking() -> None:
    """Take note that something else was run than a few instructions to be looked at."""
    if thread.looks:
        record_again()


def record_again() -> None:
    """Record what is called from here, unless it makes samples."""
    thread.looks = 0
    if not thread.makes_samples:
        thread.instead = None


@contextmanager
def aside() -> Iterator[Program]:
    """Record into another program, which is not to be run; if it had to be all the same, it is closed afterwards."""
    outer, thread.program = thread.program, Program()
    program = thread.program
    try:
        yield program
    finally:
        thread.program = outer


def record(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> tuple[Signature, list[Value]]:
    """Record one call and return what is known of it, and the promised results.

    inputs: Values, Python numbers or None, in the op's order. Shape errors are raised here, at the caller's line.
    """
    if settings.eager:
        return run_straight(op, inputs, statics)
    program = thread.program
    key: list[Any] = [op, statics]
    try:
        with program.lock:
            if program.closed:
                raise Again
            numbers = None
            for value in inputs:
                if type(value) is Value:
                    if value.program is program:
                        key.append(value.slot)
                        continue
                    place = ref(value)
                    slot = program.leaf_slots.get(place)
                    if slot is None:
                        _admit(program, value, place, key, inputs)
                    else:
                        key.append(slot)
                elif value is None:
                    key.append(None)
                elif isinstance(value, Value):
                    _withdraw(program, key)
                    return run_straight(op, inputs, statics)
                else:
                    numbers = numbers or []
                    numbers.append((len(key) + 1, value))
                    # 0 == 0.0 == -0.0 == False: for these the key holds what they print as
                    key += (type(value), value or repr(value))
            step = tuple(key)
            call = program.cursor.children.get(step)
            if call is None:
                call = _unseen(program, step, numbers, op, inputs, statics)
            program.cursor = call
            if call.single is not None:
                value = Value(None, program, call.first, call.single)
                program.results.append(ref(value))
                promised = [value]
            else:
                promised = [Value(None, program, slot, aval) for slot, aval in enumerate(call.avals, call.first)]
                program.results.extend(map(ref, promised))
            if call.is_last:
                run_present()
            return call.signature, promised  # type: ignore[return-value]  # only a root has no signature
    except (Again, Mixed) as obstacle:
        _withdraw(program, key)
        return record(op, _with_way_made(program, obstacle, inputs), statics)
    except Exception:
        _withdraw(program, key)
        raise


def _with_way_made(program: Program, obstacle: Again | Mixed, inputs: Sequence[Any]) -> Sequence[Any]:
    """Do what has to be done before a call can be recorded; return what it is to be given then."""
    if isinstance(obstacle, Mixed):
        return [brought(x.aval, numbers_of(x)) if is_elsewhere(x) else x for x in inputs]
    value = obstacle.args[0] if obstacle.args else None
    if value is not None and value.program is CONSTANT and not _is_taken_elsewhere(value, inputs):
        _record_constant(value)
    elif value is not None:
        force(value, is_read=False)
    elif program.closed or program.cursor.parent is None:
        thread.program = Program()
    else:
        run_present()
    return inputs


def _is_taken_elsewhere(value: Value, inputs: Sequence[Any]) -> bool:
    """Tell whether a constant is a part of what the host has, for a call with what is not on the default device."""
    return value.slot.host is not None and any(map(is_elsewhere, inputs))


def run_straight(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> tuple[Signature, list[Value]]:
    """Run one op now: under a JAX transformation (a traced input), without numbers (meta), with FUNCGRAD_EAGER=1."""
    if any(isinstance(x, LiftedValue) for x in inputs):
        raise InsideTransform
    signature = signature_of(op, tuple(known_of(x, exact=False) for x in inputs), statics)
    if any(type(x) is MetaValue for x in inputs):
        return signature, [meta(a) for a in signature.avals]
    arrays = [array_of(x) if isinstance(x, Value) else x for x in inputs]
    with jax.enable_x64(True):
        values = [of_array(result) for result in op.call(arrays, statics)]
    for value, known in zip(values, signature.avals, strict=True):
        value.aval = value.aval.in_order(known.order)
    return signature, values


def numbers_of(value: Value) -> np.ndarray[Any, Any] | jax.Array:
    """Return a Value's numbers to read only, on the host or a device, running the program that promises them."""
    if value.array is None:
        if type(value) is MetaValue:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        if isinstance(value, LiftedValue):
            return value.read()
        force(value)
    return value.array  # type: ignore[return-value]  # the run has put it there


def array_of(value: Value) -> jax.Array:
    """Return the array of a Value on its device, running the program that promises it where need be."""
    array = numbers_of(value)
    if type(array) is not np.ndarray:
        return array  # type: ignore[return-value]  # what is no numpy array is JAX's
    with jax.enable_x64(True), jax.ensure_compile_time_eval():
        value.array = jax.device_put(array)
    remember_places(value, array)
    return value.array


def share(value: Value) -> None:
    """Say that others hold the array of a Value too. It is here already, and the present program may have read it."""
    value.share()
    slot = thread.program.leaf_slots.get(ref(value), 0)
    if slot < 0:
        thread.program.shared.add(-1 - slot)


def copy_of(value: Value) -> Value:
    """Return another Value of the same numbers: another input of programs, as it will be once one of them changes.

    One that is only promised is its own copy.
    """
    if value.program is CONSTANT:
        return Value(None, CONSTANT, value.slot, value.aval)
    if value.array is None:
        return value
    if type(value.array) is np.ndarray:
        return Value(value.array.copy(), None, None, value.aval)
    share(value)
    return Value(value.array, None, SHARED, value.aval)


def force(value: Value, *, is_read: bool = True) -> None:
    """Make a promised Value be here. `run` puts its own in this place: recording does not know how programs are run."""
    raise AssertionError("funcgrad._program.run is not imported")


def run_present() -> None:
    """Run the present program. `run` puts its own in this place."""
    raise AssertionError("funcgrad._program.run is not imported")


def ends_where_it_grows(kind: Any, parts: Sequence[Aval], *, is_text: bool) -> bool:
    """Let the program end before a joining of such parts, once what such a joining gave is joined to more.

    A text that is continued without being read would be one program with every length in it. So each of its turns is
    one, which the next turns share (see `lengths`); a turn is known by its instructions: blocks that widen have fewer.
    is_text: whether whole numbers that the host has are joined to computed ones, which tells in the first turn.
    """
    program = thread.program
    with program.lock:
        depth = program.cursor.depth
        begins = [program.grown.get((kind, part)) for part in parts]
        grows = any(start is not None and depth - start >= TURN for start in begins)
        grows |= is_text and depth >= TURN and program.history is None
        if grows and not program.closed:
            run_present()
    return grows


def note_growth(kind: Any, whole: Aval) -> None:
    """Remember what a joining gave, which the next turn may join to more."""
    thread.program.grown.setdefault((kind, whole), thread.program.cursor.depth)


def _admit(program: Program, value: Value, place: ref[Value], key: list[Any], inputs: Sequence[Any]) -> None:
    """Make `value` a leaf of the program, or an instruction where it is a constant."""
    if value.array is None:
        # its instruction comes before this one, whose key alone would say what is known of the leaves that it brought
        is_constant = value.program is CONSTANT
        if not is_constant or any(type(known) is Aval for known in key) or _is_taken_elsewhere(value, inputs):
            raise Again(value)
        _record_constant(value)
        if program.closed:  # that was the last instruction it had room for
            raise Again
        key.append(program.leaf_slots[place])
        return
    if value.aval.placement is not None or program.placement is not None:
        program.placement = placement_with(program.placement, program.leaves, value, inputs, key)
    if type(value.array) is np.ndarray:
        seen = value.slot
        if type(seen) is not Seen:
            value.slot = _ONCE
        elif seen.is_enough(value):
            array_of(value)
        else:
            value.slot = Seen(seen + 1)
    elif value.slot is SHARED:
        program.shared.add(len(program.leaves))
    leaves = program.leaves
    leaves.append((value.array, place, value.aval))
    program.leaf_slots[place] = slot = -len(leaves)
    key.append(slot)
    key.append(value.aval)


def _record_constant(value: Value) -> None:
    """Make a constant an instruction of the present program."""
    recipe = value.slot
    if recipe is SHARED:  # another thread has made it meanwhile
        raise Again
    (made,) = record(recipe.op, recipe.inputs, recipe.statics)[1]
    if made.program is thread.program:
        thread.program.leaf_slots[ref(value)] = made.slot


def _withdraw(program: Program, key: list[Any]) -> None:
    """Take back the leaves that a call brought which is not recorded after all: no key of the program knows them."""
    if program.closed:  # it was recorded, as the last one
        return
    for slot, known in zip(reversed(key[:-1]), reversed(key), strict=False):
        if type(known) is Aval and slot == -len(program.leaves):
            del program.leaf_slots[program.leaves.pop()[1]]
            program.shared.discard(len(program.leaves))
    if program.placement is not None:
        program.placement = placement_of(program.leaves)


def _unseen(
    program: Program, step: Any, numbers: list[tuple[int, Any]] | None, op: Any, inputs: Sequence[Any], statics: Any
) -> Call:
    """Find or add the child for a step that is not in the trie as it stands."""
    cursor = program.cursor
    changing = [(place, number) for place, number in numbers or () if type(number) is float or can_be_input(number)]
    pattern = _opened(step, changing) if changing else None
    if pattern is not None:
        call = cursor.children.get(pattern)
        if call is not None:
            program.numbers += [number for _, number in changing]
            program.shadow = None
            return call
    counters.misses += 1
    changed = _numbers_changed(program, step, pattern)
    holes = changed or (
        pattern is not None and (op.numbers == "inputs" or any(_is_computed(number) for _, number in changing))
    )
    known = [known_of(x, exact=not holes) for x in inputs]
    signature = signature_of(op, tuple(known), statics)
    arguments = tuple(_arguments(program, inputs, known))
    call = Call(cursor, pattern if holes else step, signature, arguments)
    cursor.children[call.key] = call
    if pattern is not None and not holes:
        cursor.patterns[pattern] = step
    return call


def _is_computed(number: Any) -> bool:
    """Tell whether nobody wrote a number down: one that was drawn or annealed. It will be another next time."""
    return type(number) is float and len(repr(number).partition("e")[0]) > _WRITTEN


def _numbers_changed(program: Program, step: Any, pattern: Any) -> bool:
    """Tell whether other numbers were seen at this place, here or on the shadow's path; move the shadow on."""
    cursor = program.cursor
    earlier = cursor.patterns.pop(pattern, None) if pattern is not None else None
    if earlier is not None:
        program.shadow = cursor.children.pop(earlier, None)
        return True
    alike = _with_other_numbers(cursor, pattern)
    if alike is not None:
        program.shadow = alike
        return True
    shadow = program.shadow
    if shadow is None:
        return False
    same = shadow.children.get(step)
    if same is not None:
        program.shadow = same
        return False
    program.shadow = _with_other_numbers(shadow, pattern)
    return program.shadow is not None


def _with_other_numbers(call: Any, pattern: Any) -> Any:
    """Return the child of this key with its numbers open, or closed to others; of the other kind of numbers too."""
    for key in () if pattern is None else (pattern, _of_other_kinds(pattern)):
        found = call.children.get(key) or call.children.get(call.patterns.get(key))
        if found is not None:
            return found
    return None


def _of_other_kinds(pattern: Any) -> Any:
    """Return the key with floats in the place of whole numbers, and the other way round: 0 is followed by 0.05."""
    kinds = [*pattern[1:], None]
    return tuple(
        _OTHER_KIND.get(part, part) if following is _HOLE else part
        for part, following in zip(pattern, kinds, strict=True)
    )


_OTHER_KIND: dict[Any, Any] = {int: float, float: int}


def _arguments(program: Program, inputs: Sequence[Any], known: list[Any]) -> Any:
    """Yield where each input is found when the program runs; numbers that became inputs join the program's."""
    position = program.cursor.numbers
    for value, argument in zip(inputs, known, strict=True):
        if isinstance(value, Value):
            yield value.slot if value.program is program else program.leaf_slots[ref(value)]
        elif isinstance(argument, type):
            program.numbers.append(value)
            yield Hole(position, argument)
            position += 1
        else:
            yield argument


def known_of(value: Any, *, exact: bool) -> Any:
    """Return what a signature knows of an input: a Value's Aval; of a number itself (exact) or just its type."""
    if isinstance(value, Value):
        return value.aval
    return None if value is None else _argument_of_number(value, exact=exact)


def _argument_of_number(number: Any, *, exact: bool) -> Any:
    return Constant.of(number) if exact or not can_be_input(number) else type(number)


def _opened(step: Any, numbers: list[tuple[int, Any]]) -> Any:
    """Return the key with these numbers left open."""
    opened = list(step)
    for place, _ in numbers:
        opened[place] = _HOLE
    return tuple(opened)
