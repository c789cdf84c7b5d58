"""The trie of programs: a Call is one instruction after those before it, and the path to it is the program.

A second walk over the same path finds each Call by one look-up, with the shapes of its results. The key of a step is
(op, static arguments, input references): results of earlier instructions count from 0 up, leaves from -1 down.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeGuard
from weakref import WeakValueDictionary

import jax
import numpy as np

from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._base.dtypes import get_default_dtype
from funcgrad._base.errors import NotATensor, ShapeError
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.table import Number
from funcgrad._program.counters import counters
from funcgrad._program.journal import user_line
from funcgrad._program.lengths.shapes import known_with_length_open
from funcgrad._program.lengths.symbol import at, is_symbolic
from funcgrad._program.single import computation, function_of
from funcgrad._program.value import Aval, aval


class Constant(NamedTuple):
    """A Python number that is part of the program, and how it prints: 1, 1.0 and True are equal, not of one dtype."""

    number: complex
    text: str

    @classmethod
    def of(cls, number: complex) -> Constant:
        """Return the constant for a number."""
        return cls(number, repr(number))


_EXACT_INTEGER = 2**53  # larger ints do not survive the array of float64 numbers


def can_be_input(number: Any) -> TypeGuard[float]:
    """Tell whether a Python number may become an input of a program."""
    return type(number) is float or (type(number) is int and -_EXACT_INTEGER < number < _EXACT_INTEGER)


def is_open(argument: Any) -> bool:
    """Tell whether an argument is a number whose value need not be known to plan with it."""
    return type(argument) is Constant and can_be_input(argument.number)


class Hole(NamedTuple):
    """A Python number that is an input of the program: its place in the array of numbers, and its type."""

    position: int
    kind: type


class Signature:
    """One op on inputs of known shapes: what it returns, and (filled by the tape) how it is pulled back.

    general: the signature with a length open from which this one is known without tracing.
    """

    __slots__ = ("__weakref__", "arguments", "avals", "general", "node_class", "op", "pullbacks", "statics")

    def __init__(self, op: Any, arguments: tuple[Any, ...], statics: tuple[Any, ...], avals: tuple[Aval, ...]) -> None:
        self.op, self.arguments, self.statics, self.avals = op, arguments, statics, avals
        self.pullbacks: dict[Any, Any] = {}
        self.general: Signature | None = None
        self.node_class: type | None = None


class Call:
    """One instruction of a program: a node of the trie."""

    __slots__ = (
        "arguments", "avals", "children", "depth", "first", "is_last", "key", "line", "numbers", "op", "parent",
        "passes", "patterns", "plans", "signature", "single", "statics",
    )  # fmt: skip

    def __init__(self, parent: Call | None, key: Any, signature: Signature | None, arguments: tuple[Any, ...]) -> None:
        self.parent, self.key, self.arguments, self.signature = parent, key, arguments, signature
        self.avals: tuple[Aval, ...] = signature.avals if signature else ()
        self.op: Any = signature.op if signature else None
        self.statics = signature.statics if signature else ()
        self.single = self.avals[0] if len(self.avals) == 1 else None
        self.first = parent.first + len(parent.avals) if parent else 0
        self.depth = parent.depth + 1 if parent else 0
        self.is_last = self.depth >= settings.length  # what is recorded is held, and planned in one go
        self.numbers = (parent.numbers if parent else 0) + sum(type(a) is Hole for a in arguments)
        self.children: dict[Any, Call] = {}
        self.patterns: dict[Any, Any] = {}
        self.passes: dict[Any, Any] = {}  # backward passes that began here, by the graph's shape: see `_tape.memory`
        self.plans: dict[Any, Any] = {}  # by (wanted results, free leaves)
        self.line = user_line()  # where it was recorded first

    def path(self) -> list[Call]:
        """Return the instructions from the first to this one."""
        calls: list[Call] = []
        call: Call | None = self
        while call is not None and call.parent is not None:
            calls.append(call)
            call = call.parent
        calls.reverse()
        return calls


# Pullbacks and composites are known by the signatures they were made from: one that is in use must be found again.
_SIGNATURES: Bounded[Signature] = Bounded(20_000)
_IN_USE: WeakValueDictionary[Any, Signature] = WeakValueDictionary()
_RENTED, _MOST_RENTED = 1 << 14, 1 << 17  # instructions of plans without executables of their own, in all tries
_REMEMBERED = 4096  # of those plans that were dropped
_ROOMY, _MOST_OF_LONG = 4, 1 << 19  # times a long one that comes back: half of the room is kept for others
_MANY = 8  # tensors that are put together: fewer are traced as quickly
NUMBER = jax.ShapeDtypeStruct((), np.dtype(np.float64))  # how a number travels that is an input


def signature_of(op: Any, arguments: tuple[Any, ...], statics: tuple[Any, ...]) -> Signature:
    """Return what `op` does on arguments known as Avals, Constants, number types or None; traced once for each."""
    key = (op, arguments, statics, get_default_dtype())

    def in_use_or_new() -> Signature:
        found = _IN_USE.get(key)
        if found is None:
            found = _IN_USE[key] = _new_signature(op, arguments, statics)
        return found

    return _SIGNATURES.found(key, in_use_or_new)


def _new_signature(op: Any, arguments: tuple[Any, ...], statics: tuple[Any, ...]) -> Signature:
    if (numbers := getattr(op, "numbers", "")) in ("checked", "typed"):
        opened = tuple([type(a.number) if is_open(a) and _is_like_all(a, numbers) else a for a in arguments])
        if opened != arguments:
            return Signature(op, arguments, statics, signature_of(op, opened, statics).avals)

    def traced(opened: tuple[Any, ...]) -> Signature:
        return Signature(op, opened, statics, inferred(op, opened, statics))

    known = known_with_length_open((op, statics, get_default_dtype()), arguments, traced) if settings.lengths else None
    if known is None:
        found = traced(arguments)
    else:
        general, lengths = known
        found = Signature(op, arguments, statics, tuple([at(a, lengths) for a in general.avals]))
        found.general = general
    if hasattr(op, "orders"):
        operands = [(a.struct.shape, a.order) if type(a) is Aval else None for a in arguments]
        orders = op.orders(operands, statics, [a.struct.shape for a in found.avals])
        found.avals = tuple([a.in_order(order) for a, order in zip(found.avals, orders, strict=True)])
    return found


def _is_like_all(number: Constant, numbers: str) -> bool:
    """Tell whether what is known of a call with a number holds for all of its type; see the table's column."""
    return numbers == "checked" or type(number.number) is float


def are_joined(op: Any, arguments: tuple[Any, ...]) -> bool:
    """Tell whether an op puts many tensors of one shape and dtype together, end to end or as a stack."""
    if getattr(op, "joins", None) is None or len(arguments) < _MANY:
        return False
    first = arguments[0]
    return type(first) is Aval and all(a is first for a in arguments)


def known_end_to_end(op: Any, arguments: tuple[Any, ...], statics: tuple[Any, ...]) -> tuple[Aval, ...] | None:
    """Return what is known of tensors put together that differ in the length of one dimension only, end to end there.

    None for others: stacked ones have one shape, and what does not fit is refused where it is traced.
    """
    if getattr(op, "joins", None) is None or not arguments or any(type(a) is not Aval for a in arguments):
        return None
    first, *others = arguments
    shape = tuple(first.shape)
    kind = first.dtype, len(shape), first.placement
    if any((a.dtype, len(a.shape), a.placement) != kind for a in others):
        return None
    if not all(isinstance(size, int) for a in arguments for size in a.shape):  # JAX compares lengths that are open
        return None
    differing = {i for a in others for i, (one, other) in enumerate(zip(shape, a.shape, strict=True)) if one != other}
    if len(differing) != 1 or len(op.joins(shape, 1, *statics)) != len(shape):
        return None
    (place,) = differing
    if op.joins(shape, 2, *statics) != (*shape[:place], 2 * shape[place], *shape[place + 1 :]):
        return None
    length = sum(a.shape[place] for a in arguments)
    return (aval((*shape[:place], length, *shape[place + 1 :]), first.dtype.numpy, first.placement),)


def _replacing(op: Any, arguments: tuple[Any, ...], statics: tuple[Any, ...]) -> tuple[Aval, ...] | None:
    """Return what is known of results that take the places of inputs, as an optimizer's do; None for other ops."""
    replaced = getattr(op, "replaced", None)
    if replaced is None:
        return None
    op.refuse_misfits(arguments, statics)
    places, placement = {result: place for place, result in replaced(statics)}, _placement_among(arguments)
    structs = [arguments[places[result]].struct for result in range(len(places))]
    return tuple(aval(struct.shape, struct.dtype, placement) for struct in structs)


def inferred(op: Any, arguments: tuple[Any, ...], statics: tuple[Any, ...]) -> tuple[Aval, ...]:
    """Return what is known of an op's results, by tracing it."""
    known = getattr(op, "avals", None)
    if known is not None:
        return known
    if are_joined(op, arguments):
        first = arguments[0]
        return (aval(op.joins(tuple(first.shape), len(arguments), *statics), first.dtype.numpy, first.placement),)
    if (known := known_end_to_end(op, arguments, statics) or _replacing(op, arguments, statics)) is not None:
        return known
    counters.inferences += 1
    is_open = any(is_symbolic(size) for a in arguments if type(a) is Aval for size in a.shape)
    compute = (computation if is_open else function_of)(op, statics, *fixed_and_kinds(arguments))
    structs = structs_of(arguments)
    with jax.enable_x64(True):
        results = _explained(op, arguments, lambda: jax.eval_shape(compute, structs))
    placement = _placement_among(arguments)
    return tuple(aval(r.shape, r.dtype, placement) for r in results)


def _placement_among(arguments: tuple[Any, ...]) -> Any:
    return next((a.placement for a in arguments if type(a) is Aval and a.placement is not None), None)


def fixed_and_kinds(arguments: Sequence[Any]) -> tuple[list[tuple[Any] | None], list[type | None]]:
    """Return what of an op's arguments is part of its function, and the types of numbers whose value is not known."""
    kinds = [a if isinstance(a, type) else None for a in arguments]
    return [
        None if type(a) is Aval or kind else (a and a.number,) for a, kind in zip(arguments, kinds, strict=True)
    ], kinds


def structs_of(arguments: Sequence[Any]) -> list[jax.ShapeDtypeStruct]:
    """Return shapes and dtypes of what an op's function takes: the arrays, and the numbers whose value is not known."""
    return [a.struct if type(a) is Aval else NUMBER for a in arguments if type(a) is Aval or isinstance(a, type)]


def inputs_from(arguments: tuple[Any, ...], given: Sequence[Any]) -> list[Any]:
    """Return an op's inputs: what is given in the places of arrays, and of numbers whose value is not known."""
    rest = iter(given)
    return [
        next(rest) if type(a) is Aval
        else Number(next(rest), a) if isinstance(a, type)
        else a and a.number
        for a in arguments
    ]  # fmt: skip


def _explained(op: Any, arguments: tuple[Any, ...], infer: Callable[[], Any]) -> Any:
    """Run `infer`; what it raises is raised anew at the user's line, JAX's own words behind ours."""
    try:
        return infer()
    except AttributeError:
        _refuse_numbers(op, arguments)
        raise
    except (IndexError, RuntimeError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, TypeError) and any(a is None for a in arguments):
            _refuse_numbers(op, arguments)
        if not isinstance(error, (TypeError, ValueError)) or not _is_from_jax(error):
            error.__notes__ = []  # JAX adds a word on its own frames, none of which is left
            raise error.with_traceback(None) from None
        given = ", ".join(str(a.number) if type(a) is Constant else str(a) for a in arguments)
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    if refused := _of_shapes(reason):
        raise RuntimeError(refused) from None
    raise ShapeError(f"{op.name}() does not take ({given}): {reason}") from None


def _of_shapes(reason: str) -> str | None:
    """Return torch's words for shapes that JAX could not stretch to each other; None for other reasons."""
    if "for broadcasting" not in reason:
        return None
    shapes = [tuple(map(int, re.findall(r"\d+", shape))) for shape in re.findall(r"\([\d, ]*\)", reason)]
    try:
        broadcast_shape(*shapes)
    except RuntimeError as error:
        return str(error)
    return None


def _refuse_numbers(op: Any, arguments: tuple[Any, ...]) -> None:
    """Raise NotATensor where a number (or None) stands in the place of a tensor."""
    for position, (parameter, given) in enumerate(zip(getattr(op, "inputs", ()), arguments, strict=False)):
        if type(given) is not Aval and parameter.kind in ("Array", "Mask", "Indices") and not parameter.optional:
            kind = given if isinstance(given, type) else type(given.number if type(given) is Constant else None)
            name = op.names[0].rpartition(".")[2] if op.names else op.name
            raise NotATensor(
                f"{name}(): argument '{parameter.name}' (position {position + 1}) must be Tensor, not {kind.__name__}"
            ) from None


def _is_from_jax(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or "funcgrad" not in trace.tb_frame.f_code.co_filename


class Forest:
    """The tries, one per setting that changes what an op means, and bounds on all their plans together.

    An episode of another length each time is another path, a thousand instructions long. As it has no executable of
    its own, little is lost with it: of such plans only those are kept that have so many instructions together. More, if
    those that were dropped come back: a loop has a dozen lengths, and takes them in turn.
    """

    __slots__ = ("_dropped", "_lock", "_planned", "_rented", "_room", "_roots")

    def __init__(self) -> None:
        self._lock = threading.RLock()  # threads have programs of their own, and one forest
        self._roots: dict[Any, Call] = {}
        self._planned: dict[Any, tuple[Call, Any]] = {}  # by plan: where it hangs
        self._rented = 0  # instructions of those without an executable of their own
        self._room = _RENTED  # how many these may be
        self._dropped: set[int] = set()  # hashes of the paths that led to such

    def clear(self) -> None:
        """Let go of all programs."""
        self.__init__()

    def root(self, setting: Any) -> Call:
        """Return where a program begins under this setting."""
        root = self._roots.get(setting)
        if root is None:
            root = self._roots[setting] = Call(None, None, None, ())
        return root

    def add(self, call: Call, key: Any, plan: Any) -> None:
        """Hang a plan on the last instruction of its program.

        Of too many with an executable of their own, the least recently used quarter goes.
        """
        with self._lock:
            call.plans[key] = plan
            self._planned[plan] = (call, key)
            if len(self._planned) > settings.programs:
                self._drop_own(plan)
            self._rented += call.depth if plan.spare > 0 else 0
            if self._dropped and plan.spare > 0 and _hash(call) in self._dropped:
                self._dropped.clear()
                wanted = min(2 * self._room, _MOST_RENTED), min(_ROOMY * call.depth, _MOST_OF_LONG)
                self._room = max(self._room, *wanted)
            if self._rented > self._room:
                self._drop_rented(plan)

    def _drop_own(self, latest: Any) -> None:
        own = sorted([plan for plan in self._planned if plan.spare <= 0], key=lambda plan: plan.used)
        if len(own) > settings.programs:
            for old in own[: len(own) - settings.programs * 3 // 4]:
                if old is not latest:
                    self._drop(old)

    def _drop_rented(self, latest: Any) -> None:
        """Keep of the plans without executables of their own those that ran last."""
        rented = [plan for plan in self._planned if plan.spare > 0 and plan is not latest]
        kept = self._planned[latest][0].depth
        for plan in sorted(rented, key=lambda plan: -plan.used):
            kept += self._planned[plan][0].depth
            if kept > self._room // 2:
                self._dropped.add(_hash(self._planned[plan][0]))
                self._drop(plan)
        if len(self._dropped) > _REMEMBERED:
            self._dropped.clear()
        self._rented = sum([call.depth for plan, (call, _) in self._planned.items() if plan.spare > 0])

    def _drop(self, plan: Any) -> None:
        call, key = self._planned.pop(plan)
        if call.plans.get(key) is plan:  # not where a failed program was planned anew
            del call.plans[key]
        _prune(call)

    def forget(self, call: Call) -> None:
        """Take away the instructions that lead to this one and nowhere else, unless a plan hangs there."""
        with self._lock:
            _prune(call)

    def last_used(self) -> tuple[Call, Any] | None:
        """Return the last instruction of the program that ran last, and the key of its plan; None before the first."""
        with self._lock:
            if not self._planned:
                return None
            return self._planned[max(self._planned, key=lambda plan: plan.used)]

    def size(self) -> int:
        """Return how many instructions all tries hold."""
        return sum(_count(root) for root in self._roots.values())


def _hash(call: Call) -> int:
    return hash(tuple([step.key for step in call.path()]))


def _prune(call: Call) -> None:
    """Take away the instructions that lead nowhere any more."""
    while call.parent is not None and not call.children and not call.plans:
        parent = call.parent
        if parent.children.get(call.key) is call:
            del parent.children[call.key]
        parent.patterns = {pattern: key for pattern, key in list(parent.patterns.items()) if key != call.key}
        call = parent


def _count(root: Call) -> int:
    total, waiting = 0, [root]
    while waiting:
        call = waiting.pop()
        total += 1
        waiting.extend(call.children.values())
    return total


forest = Forest()
