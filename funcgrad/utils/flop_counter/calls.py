"""From a recorded call to torch's kernels: rows, their pull-backs, and both in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._ops.table import Op
from funcgrad._program.record import array_of
from funcgrad._program.value import Aval, aval
from funcgrad._tape.halves import BackwardHalf, ForwardHalf
from funcgrad._tape.levels import Batched, ForwardDerivative
from funcgrad._tape.modes import thread
from funcgrad._tape.variable import Variable
from funcgrad._tape.vjp import Pullback
from funcgrad._tensor.placement import device_of
from funcgrad.utils.flop_counter.kernels import Fused, Given, Kernel, pulled
from funcgrad.utils.flop_counter.rows import Row, kernels_of

_FAR = 1_000_000  # where the places of gradients begin, while they are told from those of inputs


def kernels(
    op: Any, inputs: Sequence[Any], statics: tuple[Any, ...], results: Sequence[Any], differentiated: Sequence[int] = ()
) -> Sequence[Kernel]:
    """Return the kernels that torch runs for a call. inputs, results: Variables, Avals, numbers or None.

    differentiated: the places of inputs that require a gradient, besides those that are Variables with a history.
    """
    avals, outputs = [_aval(x) for x in inputs], [_aval(x) for x in results]
    requiring = frozenset(i for i, x in enumerate(inputs) if isinstance(x, Variable) and x.node is not None)
    if isinstance(op, ForwardHalf):
        op, statics = op.signature.op, op.signature.statics
    if isinstance(op, Op):
        return _of_row(op, inputs, avals, statics, outputs, requiring | set(differentiated))
    if isinstance(op, Pullback):
        return _of_pullback(op, len(inputs))
    if isinstance(op, BackwardHalf):
        return _of_half(op)
    if isinstance(op, Batched):
        return _of_batch(op, inputs, avals, statics, outputs)
    if isinstance(op, ForwardDerivative):
        return _of_derivative(op, inputs, statics, results)
    return ()


def _aval(x: Any) -> Any:
    return x.aval if isinstance(x, Variable) else x


def _of_row(
    op: Op, inputs: Sequence[Any], avals: Sequence[Any], statics: tuple[Any, ...], results: Sequence[Any],
    differentiated: frozenset[int],
) -> Sequence[Kernel]:  # fmt: skip
    given = [Given(x.shape, frozenset((i,))) if isinstance(x, Aval) else None for i, x in enumerate(avals)]
    first = next((x for x in avals if isinstance(x, Aval)), None)
    if first is None:
        return ()
    named = _by_name(op, given)
    row = Row(
        named,
        dict(zip((p.name for p in op.statics), statics, strict=False)),
        tuple(x.shape for x in results),
        differentiated,
        device_of(first.placement).type,
        first.dtype.name,
        _numbers(inputs[_place(op, "lengths", len(inputs))]) if named.get("lengths") else None,
    )
    found = kernels_of(op.name, row)
    if found is not None:
        return found
    shapes = [x.shape if isinstance(x, Given) else given_number for x, given_number in zip(given, avals, strict=True)]
    return [Fused(op.public_name, (*shapes, *statics), row.results[0] if len(row.results) == 1 else row.results)]


def _by_name(op: Op, given: Sequence[Any]) -> dict[str, Any]:
    """Return a row's inputs by their names; what takes a list of tensors, as a list."""
    if op.variadic is not None:
        count = len(given) - len(op.inputs) + 1
        end = op.variadic + count
        given = [*given[: op.variadic], list(given[op.variadic : end]), *given[end:]]
    return dict(zip((p.name for p in op.inputs), given, strict=False))


def _place(op: Op, name: str, count: int) -> int:
    """Return where an input stands that comes after those of a list."""
    return count - len(op.inputs) + [p.name for p in op.inputs].index(name)


def _numbers(lengths: Any) -> tuple[int, ...] | None:
    return tuple(np.asarray(array_of(lengths.value)).tolist()) if isinstance(lengths, Variable) else None


def _of_pullback(op: Pullback, count: int) -> Sequence[Kernel]:
    """Return the kernels of the gradients that are asked for, of those that the pull-back can give."""
    signature = op.signature
    forward = kernels(signature.op, signature.arguments, signature.statics, signature.avals, op.wanted)
    given = [i for i, is_given in enumerate(op.given) if is_given]
    cotangents = {output: _FAR + j for j, output in enumerate(given)}
    allowed = _asked_for(op.wanted)
    found = pulled(forward, [place if place in allowed else _FAR * 2 for place in op.wanted], cotangents)
    places = {place: i for i, place in enumerate(op.used)}
    places.update((_FAR + j, count - len(given) + j) for j in range(len(given)))
    return [kernel.moved(places) for kernel in found]


def _of_half(op: BackwardHalf) -> Sequence[Kernel]:
    signature, allowed = op.forward.signature, _asked_for(op.forward.wanted)
    saved = getattr(thread.running.node, "saved", None)
    inputs = saved[0] if type(saved) is tuple else signature.arguments  # with the numbers that lengths are
    forward = kernels(signature.op, inputs, signature.statics, signature.avals, op.forward.wanted)
    cotangents = {i: _FAR + i for i, is_given in enumerate(op.given) if is_given}
    return pulled(forward, [place for place in op.forward.wanted if place in allowed], cotangents)


def _asked_for(wanted: Sequence[int]) -> set[int]:
    """Return the inputs whose gradients the running pass needs: those that lead to its targets."""
    running = thread.running
    if running is None or running.needed is None:
        return set(wanted)
    node = running.node
    if getattr(getattr(node, "pullback", None), "wanted", None) != tuple(wanted):
        return set(wanted)
    return {place for place, (behind, _) in zip(wanted, node.edges, strict=True) if behind in running.needed}


def _of_batch(
    op: Batched, inputs: Sequence[Any], avals: Sequence[Any], statics: tuple[Any, ...], results: Sequence[Any]
) -> Sequence[Kernel]:
    mapped = frozenset(i for i, is_mapped in enumerate(op.mapped) if is_mapped)
    entries = [_entry(x) if i in mapped else x for i, x in enumerate(avals)]
    size = avals[min(mapped)].shape[0]
    found = kernels(op.op, entries, statics, [_entry(x) for x in results])
    return [kernel.in_batch(size, mapped) for kernel in found]


def _entry(whole: Any) -> Any:
    """Return what is known of one entry of a batch."""
    return aval(tuple(whole.shape[1:]), whole.dtype.numpy, whole.placement)


def _of_derivative(
    op: ForwardDerivative, inputs: Sequence[Any], statics: tuple[Any, ...], results: Sequence[Any]
) -> Sequence[Kernel]:
    """Return each product once for each factor that moves."""
    primals = inputs[: len(op.moving)]
    moving = frozenset(i for i, is_moving in enumerate(op.moving) if is_moving)
    found: list[Kernel] = []
    for kernel in kernels(op.op, primals, statics, results):
        factors = kernel[:2] if not isinstance(kernel, Fused) else ()
        found += [kernel for factor in factors if factor.places & moving]
    return found
