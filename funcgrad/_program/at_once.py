"""Done at once, by numpy, an op at a time: how the samples of a batch are made.

Samples draw what is done to them: turned round or not, cut out here or there, of some length. Recorded, a batch of them
would be a program that never comes back. Each op by itself comes back with the next sample, and has nothing to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from operator import is_
from typing import Any, NamedTuple

import jax
import numpy as np

from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._base.dtypes import get_default_dtype
from funcgrad._ops.table import TABLE
from funcgrad._program.host.planning import on_host, struct_of
from funcgrad._program.host.running import INSTRUCTION, own
from funcgrad._program.joining import BY_NUMPY, Numbers
from funcgrad._program.line import Step
from funcgrad._program.record import Program, known_of, record, thread
from funcgrad._program.single import function_of
from funcgrad._program.trie import Constant, Signature, can_be_input, signature_of
from funcgrad._program.value import CONSTANT, Aval, Value

_QUICK = 1e-3  # seconds, by estimate: what takes longer had better be a program of XLA's
_SMALL = 1 << 16  # bytes of an array that lies on the device: more is not looked at from here


def _slice(array: Numbers, start: float, dim: int, length: int, step: int) -> Numbers:
    first = int(start)
    return array[(*[_ALL] * dim, slice(first, first + length * step, step))]


def _select(array: Numbers, place: float, dim: int) -> Numbers:
    return array[(*[_ALL] * dim, int(place))]


# A place is a number among a call's inputs. Rules for numpy take it for an array, which is slow.
_TAKING: dict[Any, Callable[..., Numbers]] = {TABLE["slice"]: _slice, TABLE["select"]: _select}
_ALL = slice(None)


class _Function(NamedTuple):
    """What is known of a call's results, and numpy's function of its arrays; of its numbers too, if those are open.

    may_warn: whether numpy would warn of infinities and NaN.
    """

    signature: Signature
    run: Callable[[list[Any]], Sequence[Any]]
    is_open: bool
    may_warn: bool


# By op, options and what is known of the inputs, numbers included; by their types alone once another was seen there.
_FUNCTIONS: Bounded[_Function | None] = Bounded(4096)  # None: not for numpy
_NUMBERS_SEEN: Bounded[None] = Bounded(4096)


class _AtOnce(Program):
    """Stands in the place of the program that is being recorded. What is not for numpy is recorded in that one."""

    __slots__ = ("around",)
    records = False

    def __init__(self, around: Program) -> None:
        super().__init__()
        self.closed = True
        self._stand_for(around)

    def _stand_for(self, program: Program) -> None:
        self.around, self.leaf_slots, self.shared = program, program.leaf_slots, program.shared

    def instead(self, op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> tuple[Signature, list[Value]]:
        """Do one call at once, or record it."""
        done = _done(op, inputs, statics)
        if done is not None:
            return done
        thread.program = self.around
        try:
            return record(op, inputs, statics)
        finally:
            self._stand_for(thread.program)
            thread.program = self


@contextmanager
def at_once() -> Iterator[None]:
    """Do inside what numpy can do, instead of recording it, where programs run on a CPU."""
    if settings.eager or not settings.host:
        yield
        return
    program = _AtOnce(thread.program)
    thread.program = program
    try:
        yield
    finally:
        thread.program = program.around


def _done(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> tuple[Signature, list[Value]] | None:
    """Return what `record` does, with the results here already; None where that is not numpy's to do."""
    key: list[Any] = [op, statics, get_default_dtype()]
    takes = op in _TAKING
    for x in inputs:
        if type(x) is Value:
            key.append(x.aval)
        elif isinstance(x, Value):
            return None
        elif x is None:
            key.append(x)
        else:
            key += (type(x), None if takes else x or repr(x))  # as in `record`, but for places
    wanted = tuple(key)
    function = _FUNCTIONS.get(wanted)
    if function is None:
        function = None if wanted in _FUNCTIONS else _found(op, inputs, statics, wanted)
        if function is None:
            return None
    given: list[Any] = []
    for x in inputs:
        if type(x) is Value:
            array = x.array if type(x.array) is np.ndarray else _numbers(x)
            if array is None:
                return None
            given.append(array)
        elif function.is_open and can_be_input(x):
            given.append(np.float64(x))
    if function.may_warn:
        with np.errstate(all="ignore"):
            results = function.run(given)
    else:
        results = function.run(given)
    signature = function.signature
    array = results[0]
    if len(results) > 1 or type(array) is not np.ndarray or array.base is not None or not array.flags.c_contiguous:
        arrays = own(results, given)
    else:
        arrays = [array.copy() if any(map(is_, given, repeat(array))) else array]
    return signature, [Value(array, None, 0, aval) for array, aval in zip(arrays, signature.avals, strict=True)]


def _found(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], key: tuple[Any, ...]) -> _Function | None:
    """Return the function for a call whose numbers were not seen before; None for a call that is not for numpy."""
    opened = tuple([known_of(x, exact=False) for x in inputs])
    pattern = (op, statics, get_default_dtype(), opened)
    if op in _TAKING or not any(isinstance(a, type) for a in opened):
        return _FUNCTIONS.found(key, lambda: _function(op, opened, statics))
    is_new = pattern not in _NUMBERS_SEEN
    _NUMBERS_SEEN.found(pattern, lambda: None)
    if is_new:
        exact = tuple([known_of(x, exact=True) for x in inputs])
        return _FUNCTIONS.found(key, lambda: _function(op, exact, statics))
    return _FUNCTIONS.found(pattern, lambda: _function(op, opened, statics))


def _function(op: Any, known: tuple[Any, ...], statics: tuple[Any, ...]) -> _Function | None:
    """Return numpy's function for a call; None for one that takes longer, or that numpy has no rule for."""
    avals = [a for a in known if type(a) is Aval]
    if jax.default_backend() != "cpu" or any(aval.placement is not None for aval in avals):
        return None
    signature = signature_of(op, known, statics)
    kinds = [a if isinstance(a, type) else None for a in known]
    is_open = any(kinds)
    if (take := _TAKING.get(op)) is not None:
        return _Function(signature, lambda given: [take(*given, *statics)], is_open, False)
    if getattr(op, "joins", None) is not None:
        join = BY_NUMPY[op.name]
        return _Function(signature, lambda given: [join(given, statics, signature.avals[0])], is_open, False)
    fixed = [None if type(a) is Aval or kind else (a.number if type(a) is Constant else a,)
             for a, kind in zip(known, kinds, strict=True)]  # fmt: skip
    step = Step(op, statics, (), signature.avals, None)
    structs = [struct_of(a if type(a) is Aval else None) for a, what in zip(known, fixed, strict=True) if what is None]
    hosted = on_host(jax.jit(function_of(step, fixed, kinds)), [step], avals, structs, limits=INSTRUCTION)
    if hosted is None or hosted.seconds > _QUICK:
        return None
    may_warn = any(aval.differentiable for aval in (*avals, *signature.avals))
    return _Function(signature, hosted.computed, is_open, may_warn)


def _numbers(value: Value) -> np.ndarray[Any, Any] | None:
    """Return a Value's numbers where the host has or can make them without waiting."""
    array = value.array
    if array is not None:
        is_at_hand = type(array) is np.ndarray or (value.aval.nbytes <= _SMALL and array.is_ready())
        return np.asarray(array) if is_at_hand else None
    if value.program is not CONSTANT:
        return None
    recipe: Any = value.slot
    if recipe.host is not None:
        return recipe.host()  # type: ignore[no-any-return]  # numpy's
    made = _done(recipe.op, recipe.inputs, recipe.statics)
    return None if made is None else made[1][0].array
