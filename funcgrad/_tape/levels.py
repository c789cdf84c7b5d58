"""Levels: a function being transformed (grad, vmap, jvp) runs on lifted values, each of which stands for one below.

An op on lifted values is applied at the highest level among them: a history is kept there, as everywhere, and what the
op means to the values below (the op itself, the op of a whole batch, the op and its derivative) is applied to those,
through the next level, down to what is recorded. So transformations nest in any order, gradients flow through them to
tensors outside, and what is recorded is a straight line like any other.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax

from funcgrad._base.errors import BatchIsRead
from funcgrad._ops.memory_order import elementwise, elementwise_of_batches
from funcgrad._ops.strides import Dims, Order, dense_strides, order_of, strides_of_view
from funcgrad._program.record import array_of, known_of
from funcgrad._program.trie import Signature, signature_of
from funcgrad._program.value import Aval, LiftedValue, aval
from funcgrad._tape import apply as applying
from funcgrad._tape.apply import apply, with_history
from funcgrad._tape.modes import thread as modes
from funcgrad._tape.nodes import GradSlot
from funcgrad._tape.variable import Variable
from funcgrad._tape.vjp import Pullback

_NO_NUMBERS = "Cannot access data pointer of Tensor that doesn't have storage"
_WRITE = "Within vmap each entry of the batch has numbers of its own: choose among them with torch.where or a mask."
DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{0}. "
    "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
)
MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with "
    "a boolean mask."
)
SELECT = (
    "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each "
    "batch this would return a differently shaped Tensor. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature."
)
ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
_ESCAPED = (
    "vmap: a batched tensor left the function that was mapped other than as its result: return it instead of storing "
    "it, and do not write it into a tensor from outside in place."
)


_age = itertools.count(1).__next__


class Lifted(LiftedValue):
    """A value at a level: `below` is the Variable that it stands for; `tangent`, at a jvp level, its derivative.

    again: what makes it anew at a later run of vmap, for one that is kept from run to run.
    """

    __slots__ = ("again", "below", "level", "tangent")

    def __init__(self, level: Level, below: Variable, shown: Aval, tangent: Variable | None = None) -> None:
        super().__init__(None, None, 0, shown)
        self.level, self.below, self.tangent = level, below, tangent
        self.again: Callable[[BatchLevel], Variable] | None = None

    def read(self) -> Any:
        """Return the array that Python may look at."""
        return self.level.read(self.below)

    def detached(self) -> Variable:
        """Return the same value without history or derivative at any level."""
        return self.level.lift(self.below.detached())


class Level:
    """One run of a transformed function. Contract: `through`, `lift`. Gift: histories, reading, an end.

    Here: the level of grad and vjp, where an op means to the values below just what it is.
    """

    __slots__ = ("age", "finished")
    printed_as: str | None = "GradTrackingTensor(lvl={}, value="

    def __init__(self) -> None:
        self.age, self.finished = _age(), False

    def lift(self, below: Variable) -> Variable:
        """Return a Variable at this level that stands for `below`."""
        return Variable(Lifted(self, below, below.aval))

    def leaf(self, below: Variable) -> Variable:
        """Return a Variable at this level at which gradients arrive."""
        return Variable(Lifted(self, below, below.aval), GradSlot(None, below.aval))

    def lower(self, variable: Variable) -> Variable:
        """Return what a Variable stands for below this level."""
        value = variable.value
        return value.below if type(value) is Lifted and value.level is self else variable

    def is_own(self, x: Any) -> bool:
        """Tell whether an input of an op is at this level."""
        return type(x) is Variable and type(x.value) is Lifted and x.value.level is self

    def read(self, below: Variable) -> Any:
        """Return the array behind a value at this level."""
        return array_of(below.value)

    def admit(self, op: Any) -> None:
        """Raise where no value at this level may enter an op."""

    def through(self, op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], own: list[bool]) -> list[Variable]:
        """Apply what `op` means to the values below; return the results at this level, those that depend on it."""
        results = apply(op, self.below(inputs, own), statics)
        return [self.lift(result) if result.aval.differentiable else result for result in results]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Be among the levels whose functions run; after it, finished."""
        thread.running.append(self)
        try:
            yield
        finally:
            thread.running.pop()
            self.finished = True

    @staticmethod
    def below(inputs: Sequence[Any], own: list[bool]) -> list[Any]:
        """Return the inputs as the next level sees them."""
        return [x.value.below if is_own else x for x, is_own in zip(inputs, own, strict=True)]


class BatchLevel(Level):
    """The level of vmap: a value is one entry of the batch, which is the first dimension of what it stands for."""

    __slots__ = ("entered", "number", "randomness", "revived", "size")
    printed_as = "BatchedTensor(lvl={}, bdim=0, value="

    def __init__(self, size: int, randomness: str) -> None:
        """Begin inside of the levels that run.

        entered: the inputs, what stands for each inside, and the Variable that this began with. revived: what stands
        for those of an earlier run.
        """
        super().__init__()
        self.size, self.randomness, self.number = size, randomness, len(thread.running) + 1
        self.entered: list[tuple[Any, Any, Variable]] = []
        self.revived: dict[Lifted, Variable] = {}

    def lift(self, below: Variable) -> Variable:
        """Return a Variable at this level that stands for a batch."""
        whole = below.aval
        return Variable(Lifted(self, below, aval(tuple(whole.shape[1:]), whole.dtype.numpy, whole.placement)))

    def read(self, below: Variable) -> Any:
        """Refuse: there are as many arrays as entries in the batch."""
        if self.finished:
            raise RuntimeError(_ESCAPED)
        error = BatchIsRead(_NO_NUMBERS)
        error.add_note(_WRITE)
        raise error

    def through(self, op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], own: list[bool]) -> list[Variable]:
        """Apply the op of a whole batch."""
        results = apply(_batched(op, tuple(own)), self.below(inputs, own), statics)
        return [self.lift(result) for result in results]


class TangentLevel(Level):
    """The level of jvp: a value goes along with its derivative in one direction.

    Histories reach the leaves below it too: their gradients are values at this level, with a derivative of their own.
    """

    __slots__ = ("is_printed", "printed_as")

    def __init__(self, *, is_printed: bool = False) -> None:
        """is_printed: whether values print with their derivative."""
        super().__init__()
        self.is_printed = is_printed
        self.printed_as = None if is_printed else Level.printed_as

    def lift(self, below: Variable) -> Variable:
        """Return a Variable that does not change in the direction: it need not be lifted."""
        return below

    def along(self, below: Variable, tangent: Variable) -> Variable:
        """Return a Variable at this level with its derivative."""
        return Variable(Lifted(self, below, below.aval, tangent))

    def through(self, op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], own: list[bool]) -> list[Variable]:
        """Apply the op, and its derivative in the direction in which the inputs move."""
        below = self.below(inputs, own)
        results = apply(op, below, statics)
        if not any(result.aval.differentiable for result in results) or op.grad is None:
            return results
        tangents = [x.value.tangent for x, is_own in zip(inputs, own, strict=True) if is_own]
        moved = iter(apply(_forward_derivative(op, tuple(own)), [*below, *tangents], statics))
        return [self.along(result, next(moved)) if result.aval.differentiable else result for result in results]


class Batched:
    """An op: another op for every entry of a batch, the first dimension of the inputs that `mapped` names."""

    __slots__ = ("grad", "inputs", "keep", "mapped", "name", "numbers", "op")

    def __init__(self, op: Any, mapped: tuple[bool, ...]) -> None:
        self.op, self.mapped = op, mapped
        self.name, self.keep, self.numbers = f"batch of {op.name}", op.keep, op.numbers
        self.grad = None if op.grad is None else "VmapBackward0"
        self.inputs = getattr(op, "inputs", ())

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute all entries at once."""

        def one(entries: dict[int, Any]) -> tuple[jax.Array, ...]:
            return self.op.call([entries.get(i, x) for i, x in enumerate(inputs)], statics)

        return tuple(jax.vmap(one)({i: inputs[i] for i, is_mapped in enumerate(self.mapped) if is_mapped}))

    def orders(
        self, operands: Sequence[tuple[Dims, Order] | None], statics: Sequence[Any], shapes: Sequence[Dims]
    ) -> list[Order]:
        """Return the order of each result: what the op's rule says of whole batches, or, of a view, of each entry."""
        op, mapped = self._of_entries()
        of_each = list(zip(*mapped, strict=True))  # of the inputs, which batches map it
        rule, inputs = getattr(op, "memory", None), [operand or ((), None) for operand in operands]
        if rule is elementwise:
            return [elementwise_of_batches(inputs, of_each, shape) for shape in shapes]
        if rule is None or op.write_back is None or not all(of_each[0]) or any(map(any, of_each[1:])):
            return [None] * len(shapes)
        batches, whole, steps = len(mapped), inputs[0][0], dense_strides(*inputs[0])
        found = []
        for shape in shapes:
            entry = strides_of_view(op.name, statics, whole[batches:], steps[batches:], shape[batches:])
            found.append(None if entry is None else order_of(shape, (*steps[:batches], *entry)))
        return found

    def _of_entries(self) -> tuple[Any, list[tuple[bool, ...]]]:
        """Return the op of a single entry, and what each batch, the outer ones first, maps."""
        op, mapped = self.op, [self.mapped]
        while type(op) is Batched:
            mapped.append(op.mapped)
            op = op.op
        return op, mapped


class ForwardDerivative:
    """An op: the derivative of another. Inputs: that op's, then a tangent for each that `moving` names."""

    __slots__ = ("grad", "inputs", "keep", "moving", "name", "numbers", "op")

    def __init__(self, op: Any, moving: tuple[bool, ...]) -> None:
        self.op, self.moving = op, moving
        self.name, self.keep, self.numbers, self.grad = f"{op.name}_jvp", "inputs", op.numbers, "JvpBackward0"
        self.inputs = getattr(op, "inputs", ())

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute the derivative of each result that has one."""
        primals, tangents = inputs[: len(self.moving)], inputs[len(self.moving) :]
        places = [i for i, is_moving in enumerate(self.moving) if is_moving]

        def along(*moved: Any) -> list[jax.Array]:
            full = list(primals)
            for place, x in zip(places, moved, strict=True):
                full[place] = x
            return [r for r in self.op.call(full, statics) if jax.numpy.issubdtype(r.dtype, jax.numpy.inexact)]

        moving = [primals[i] for i in places]
        directions = [t.astype(p.dtype) if _are_alike(t, p) else t for t, p in zip(tangents, moving, strict=True)]
        return tuple(jax.jvp(along, moving, directions)[1])


def _are_alike(tangent: jax.Array, primal: jax.Array) -> bool:
    """Tell whether both are real or both complex: then torch takes a tangent in another precision."""
    return jax.numpy.iscomplexobj(tangent) == jax.numpy.iscomplexobj(primal)


# one of each kind, by which programs know them again
_batched = functools.lru_cache(maxsize=20_000)(Batched)
_forward_derivative = functools.lru_cache(maxsize=20_000)(ForwardDerivative)


def apply_inside(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> list[Variable]:
    """Apply an op of which some inputs are lifted, at the highest level among them."""
    inputs = [still_lifted(x) if type(x) is Variable else x for x in inputs]
    levels = [x.value.level for x in inputs if type(x) is Variable and type(x.value) is Lifted]
    if not levels:
        return apply(op, inputs, statics)
    level = max(levels, key=lambda one: one.age)
    for entered in levels:
        entered.admit(op)
    own = [level.is_own(x) for x in inputs]
    known = tuple([known_of(x.value if type(x) is Variable else x, exact=True) for x in inputs])
    signature = signature_of(op, known, statics)
    kept = own if type(level) is not TangentLevel else [type(x) is Variable for x in inputs]
    places = tuple(i for i, x in enumerate(inputs) if kept[i] and x.node is not None)
    keeps_history = places and modes.grad and op.grad is not None
    if type(level) is Level and not keeps_history:
        return apply(op, level.below(inputs, own), statics)
    results = level.through(op, inputs, statics, own)
    if not keeps_history:
        return results
    pullback = _pullback(signature, places)
    edges = [(inputs[i].node, inputs[i].index) for i in places]
    values = [result.value for result in results]
    return with_history(signature, values, pullback, pullback.save(inputs), edges)


applying.apply_inside = apply_inside


def still_lifted(variable: Variable) -> Variable:
    """Return the Variable; what it stands for, where the run of its level is over."""
    value = variable.value
    while type(value) is Lifted and value.level.finished:
        variable = _revived(value) if type(value.level) is BatchLevel else value.below
        value = variable.value
    return variable


def _revived(entry: Lifted) -> Variable:
    """Return what stands for an entry that an earlier run of vmap was given in the one that now runs in its place."""
    ended: Any = entry.level
    running = thread.running[ended.number - 1] if ended.number <= len(thread.running) else None
    if entry.again is None or not isinstance(running, BatchLevel) or running.size != ended.size:
        raise RuntimeError(_ESCAPED)
    if entry not in running.revived:
        running.revived[entry] = entry.again(running)
    return running.revived[entry]


def without_history(variable: Variable) -> Variable:
    """Return the same value as if no history had been kept. A derivative in a direction is none: it goes along."""
    value = variable.value
    if type(value) is not Lifted:
        return variable.detached()
    below, tangent = without_history(value.below), value.tangent
    return value.level.lift(below) if tangent is None else value.level.along(below, without_history(tangent))  # type: ignore[attr-defined]  # only a level of jvp has tangents


def is_batched(variable: Variable) -> bool:
    """Tell whether a Variable stands, at some level, for one entry of a batch."""
    while type(variable.value) is Lifted:
        if type(variable.value.level) is BatchLevel:
            return True
        variable = variable.value.below
    return False


def wrapped_in(variable: Variable) -> tuple[str, Variable] | None:
    """Return what torch prints around a Variable of a level whose function runs, and what stands within; None: no such.

    A dual tensor prints with its tangent instead.
    """
    while type(variable.value) is Lifted:
        level, below = variable.value.level, variable.value.below
        if not level.finished and level.printed_as is not None:
            number = thread.running.index(level) + 1 if level in thread.running else 1
            return level.printed_as.format(number), below
        if type(level) is BatchLevel:
            return None
        variable = below
    return None


def tangent_of(variable: Variable) -> Variable | None:
    """Return the derivative that is printed with a Variable: that of a dual tensor in forward mode."""
    value = variable.value
    if type(value) is not Lifted or type(value.level) is not TangentLevel or value.level.finished:
        return None
    return value.tangent if value.level.is_printed else None


def _pullback(signature: Signature, places: tuple[int, ...]) -> Pullback:
    """Return the pull-back that takes the inputs again: residuals would be lifted and could not be differentiated."""
    key = ("inputs", places)
    found = signature.pullbacks.get(key)
    if found is None:
        found = signature.pullbacks[key] = Pullback(signature, places)
    return found


class _Thread(threading.local):
    def __init__(self) -> None:
        self.running: list[Level] = []
        self.batches: list[BatchLevel] = []


thread = _Thread()


def random_sizes() -> list[BatchLevel]:
    """Return the levels, outer ones first, for each entry of which a random op draws anew.

    RuntimeError: one of those that are running allows no random ops.
    """
    for level in thread.batches:
        if level.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
    return [level for level in thread.batches if level.randomness == "different"]
