"""One call done by numpy when it is made: its results are here at once, and nothing is recorded.

The functions are those that run small programs (`host`), kept by op, options and what is known of the inputs; where no
size stands in what numpy does, one serves arrays of every size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad._base.bounded import Bounded
from funcgrad._base.dtypes import get_default_dtype
from funcgrad._ops.alone import ALONE
from funcgrad._ops.table import TABLE
from funcgrad._program.host.planning import on_host
from funcgrad._program.host.running import INSTRUCTION, PROGRAM, OnHost, own
from funcgrad._program.host.table import NotForHost
from funcgrad._program.joining import BY_NUMPY, Numbers
from funcgrad._program.line import Step
from funcgrad._program.process import computes_on_cpu
from funcgrad._program.record import known_of
from funcgrad._program.single import function_of
from funcgrad._program.trie import can_be_input, fixed_and_kinds, signature_of, structs_of
from funcgrad._program.value import CONSTANT, Aval, Value, aval

_QUICK = 1e-3  # seconds, by estimate: what takes longer had better be a program of XLA's
_MOST = 1 << 18  # elements of an array of which a small part is taken
_SMALL, _LARGE = 1 << 16, 1 << 24  # bytes of an array that lies on the device, and of a constant: more is not made here


def _slice(array: Numbers, start: float, dim: int, length: int, step: int = 1) -> Numbers:
    first = int(start)
    return array[(*[_ALL] * (dim % array.ndim), slice(first, first + length * step, step))]


def _select(array: Numbers, place: float, dim: int) -> Numbers:
    return array[(*[_ALL] * (dim % array.ndim), int(place))]


def _index(array: Numbers, *places: Any) -> Numbers:
    *indices, layout = places
    return array[tuple([_ALL if which is None else indices[which] for which in layout])]


def _mean(array: Numbers, dim: Any, keepdim: bool, dtype: Any) -> Numbers:
    if array.dtype not in (np.float32, np.float64) or dtype is not None or not array.size:
        raise NotForHost("a mean that is not as numpy has it")
    axes = tuple(range(array.ndim)) if dim in (None, ()) else tuple(np.atleast_1d(dim).tolist())
    with np.errstate(all="ignore"):
        total = np.add.reduce(array, axes, keepdims=keepdim)
    return total / array.dtype.type(math.prod([array.shape[axis] for axis in axes]))  # type: ignore[no-any-return]


# What numpy does without a look at what is known of the results. As a rule of a traced call a place would be an array,
# each count of places that a mask tells a call of its own, and each number of terms that a mean is divided by.
_DIRECTLY: dict[Any, Callable[..., Numbers]] = {
    TABLE["slice"]: _slice, TABLE["select"]: _select, TABLE["index"]: _index, TABLE["mean"]: _mean,
}  # fmt: skip
_ALL = slice(None)


class _Function(NamedTuple):
    """Numpy's function of a call's arrays; of its numbers too, if those are open.

    avals: what is known of the results; None: what the arrays tell, which may be of any size. is_small: whether numpy
    would run it as a program too.
    """

    avals: Sequence[Aval] | None
    run: Callable[[list[Any]], Sequence[Any]] | None
    is_small: bool
    is_open: bool = False


class _WithNumbers:
    """The functions of a call that is given numbers: for those that it was given first, and for any others.

    A number is part of a function until another one is seen in its place, as in a program.
    """

    __slots__ = ("_first", "_function", "_opened")

    def __init__(self) -> None:
        self._first: list[Any] | None = None
        self._function = self._opened = _NOT_SEEN

    def of(self, numbers: list[Any], op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> _Function:
        """Return the function for these inputs, of which `numbers` are those that may be open."""
        if numbers == self._first:
            return self._function
        if self._first is None:
            self._first, self._function = numbers, _function(op, [known_of(x, exact=True) for x in inputs], statics)
            return self._function
        if self._opened is _NOT_SEEN:
            self._opened = _function(op, [known_of(x, exact=False) for x in inputs], statics)
        return self._opened


_NOT_FOR_NUMPY, _NOT_SEEN = [_Function((), None, is_small=False) for _ in range(2)]
_FUNCTIONS: Bounded[_Function | _WithNumbers] = Bounded(4096)  # by op, options, and what is known of the inputs
_OF_ANY_SIZE: Bounded[_Function] = Bounded(1024)  # likewise, of arrays only their dtype and how many dimensions
# Ops in whose numbers no size comes in: those that treat each element alone, and plain reductions. (A mean divides.)
_REDUCING = (
    "all", "amax", "amin", "any", "argmax", "argmin", "max_all", "max_dim", "min_all", "min_dim", "prod", "sum",
)  # fmt: skip
_FREE = ALONE | {TABLE[name] for name in _REDUCING}


def done(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], *, only_small: bool = False) -> list[Value] | None:
    """Return the results of a call, here already; None where that is not numpy's to do.

    inputs: as for `record`. only_small: whether to do only what numpy would run as a program too.
    """
    if op in _DIRECTLY:
        return _done_directly(op, inputs, statics, _MOST if only_small else math.inf)
    key: list[Any] = [op, statics, get_default_dtype()]
    arrays: list[Any] = []
    given: list[Any] = []  # numbers too
    numbers: list[Any] = []
    for x in inputs:
        if type(x) is Value:
            array = x.array if type(x.array) is np.ndarray else _numbers(x)
            if array is None or (only_small and array.size > _MOST):
                return None
            key.append(x.aval)
            arrays.append(array)
            given.append(array)
        elif x is None:
            key.append(x)
        elif isinstance(x, Value):
            return None
        elif type(x) is float or can_be_input(x):
            key.append(type(x))
            given.append(float(x))
            numbers.append(x or repr(x))  # as in `record`
        else:
            key.append((type(x), x or repr(x)))
    wanted = tuple(key)
    found = _FUNCTIONS.get(wanted) or _FUNCTIONS.found(wanted, lambda: _functions(op, inputs, statics))
    function = found.of(numbers, op, inputs, statics) if isinstance(found, _WithNumbers) else found
    if function.run is None or (only_small and not function.is_small):
        return None
    results = function.run(given if function.is_open else arrays)
    if len(results) > 1 or not _is_new(results[0], arrays):
        results = own(results, arrays)
    avals = function.avals or [aval(array.shape, array.dtype) for array in results]
    return [Value(array, None, 0, known) for array, known in zip(results, avals, strict=True)]


def _is_new(array: Any, lent: Sequence[Any]) -> bool:
    """Tell whether an array is nobody else's, its elements in order."""
    if type(array) is not np.ndarray or array.base is not None or not array.flags.c_contiguous:
        return False
    return not any(array is other for other in lent)


def _done_directly(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], most: float) -> list[Value] | None:
    """Return the one result of a call; None where it is not as simple as numpy has it. most: elements of an array."""
    given: list[Any] = []
    for x in inputs:
        if not isinstance(x, Value):
            given.append(x)
            continue
        known = x.aval
        if type(x) is not Value or known.order is not None or known.placement is not None:
            return None
        array = x.array if type(x.array) is np.ndarray else _numbers(x)
        if array is None or array.size > most:
            return None
        given.append(array)
    if not given[0].ndim:
        return None
    try:
        part = _DIRECTLY[op](*given, *statics)
    except (IndexError, ValueError, NotForHost):  # recorded, it raises torch's error
        return None
    array = np.array(part, order="C")
    return [Value(array, None, 0, aval(array.shape, array.dtype))]


def _functions(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> _Function | _WithNumbers:
    """Return what is to be kept for calls like this one."""
    if any(map(can_be_input, inputs)):
        return _WithNumbers()
    return _function(op, [known_of(x, exact=True) for x in inputs], statics)


def _function(op: Any, known: Sequence[Any], statics: tuple[Any, ...]) -> _Function:
    """Return numpy's function for a call."""
    computes_on_cpu()  # sets the process up, which a forked child of it has to know
    avals = [a for a in known if type(a) is Aval]
    if any(aval.placement is not None for aval in avals):
        return _NOT_FOR_NUMPY
    if op not in _FREE or not _are_plain_and_small(avals):
        return _of_sizes(op, known, statics)
    kind = (op, statics, get_default_dtype(), *[(a.dtype, len(a.shape)) if type(a) is Aval else a for a in known])
    found = _OF_ANY_SIZE.get(kind)
    if found is None:
        found = _of_any_size(op, known, statics)
        if found is None:
            return _of_sizes(op, known, statics)
        _OF_ANY_SIZE.found(kind, lambda: found)
    return found


def _are_plain_and_small(avals: Sequence[Aval]) -> bool:
    """Tell whether arrays lie as numpy has them, none is empty, and what is spread to all of them is small."""
    shapes = [aval.struct.shape for aval in avals]
    try:
        spread = np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    are_plain = all(aval.order is None and 0 not in aval.shape for aval in avals)
    return are_plain and math.prod(spread) <= PROGRAM.elements


def _of_any_size(op: Any, known: Sequence[Any], statics: tuple[Any, ...]) -> _Function | None:
    """Return numpy's function for a call with arrays of such sizes and of others; None where it has sizes in it."""
    try:
        hosted = _hosted(op, known, statics, ())
    except Exception:  # what is wrong is told in torch's words by `_of_sizes`
        return None
    if hosted is None or not hosted.is_of_any_size:
        return None
    return _Function(None, _quiet(hosted), is_small=True, is_open=any(isinstance(a, type) for a in known))


def _of_sizes(op: Any, known: Sequence[Any], statics: tuple[Any, ...]) -> _Function:
    """Return numpy's function for a call with arrays of these sizes. Shape errors are raised here."""
    results = signature_of(op, tuple(known), statics).avals
    if getattr(op, "joins", None) is not None:
        join = BY_NUMPY[op.name]
        is_small = math.prod(results[0].struct.shape) <= PROGRAM.elements
        return _Function(results, lambda given: [join(given, statics, results[0])], is_small)
    hosted = _hosted(op, known, statics, results)
    if hosted is None or hosted.seconds > _QUICK:
        return _NOT_FOR_NUMPY
    is_small = hosted.elements <= PROGRAM.elements and hosted.products <= PROGRAM.products
    return _Function(results, _quiet(hosted), is_small, is_open=any(isinstance(a, type) for a in known))


def _hosted(op: Any, known: Sequence[Any], statics: tuple[Any, ...], results: tuple[Aval, ...]) -> OnHost | None:
    """Return how numpy does a call; None where it has no rule for something in it."""
    step, avals = Step(op, statics, (), results, None), [a for a in known if type(a) is Aval]
    execute = function_of(op, statics, *fixed_and_kinds(known))
    return on_host(execute, [step], avals, structs_of(known), limits=INSTRUCTION, is_here=True)


def _quiet(hosted: OnHost) -> Callable[[list[Any]], Sequence[Any]]:
    """Return what it computes, in arrays that are nobody else's unless they were given, without numpy's warnings."""
    compute = hosted.computed if hosted.makes_all else lambda given: list(map(np.array, hosted.computed(given)))
    return np.errstate(all="ignore")(compute) if hosted.warns else compute


def _numbers(value: Value) -> np.ndarray[Any, Any] | None:
    """Return a Value's numbers where the host has or can make them, or needs to wait for them only."""
    array = value.array
    if array is not None:
        is_near = type(array) is np.ndarray or (value.aval.nbytes <= _SMALL and computes_on_cpu())
        return np.asarray(array) if is_near else None
    if value.program is not CONSTANT or value.aval.nbytes > _LARGE:
        return None
    recipe: Any = value.slot
    if recipe.host is not None:
        return recipe.host()  # type: ignore[no-any-return]  # numpy's
    made = done(recipe.op, recipe.inputs, recipe.statics)
    return None if made is None else made[0].array
