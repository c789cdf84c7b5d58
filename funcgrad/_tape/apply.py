"""apply: record a call and, where an input has a history and grad mode is on, leave a GradNode behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base.tracebacks import shorten
from funcgrad._program.record import known_of, record
from funcgrad._program.record import thread as programs
from funcgrad._program.trie import Signature, signature_of
from funcgrad._program.value import InsideTransform, Value
from funcgrad._tape.anomalies import Anomalies, remember_line
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import node_class
from funcgrad._tape.packing import packed
from funcgrad._tape.underivable import REFUSING, refusing
from funcgrad._tape.variable import Variable
from funcgrad._tape.vjp import pullback_of


def apply(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> list[Variable]:
    """Record one call of `op` and return its results. inputs: Variables, Python numbers or None, in the op's order."""
    if not thread.grad:
        return _without_history(programs.instead, op, inputs, statics)
    values, edges, wanted, bit = [], [], 0, 1
    for x in inputs:
        if type(x) is Variable:
            values.append(x.value)
            if x.node is not None:
                wanted += bit
                edges.append((x.node, x.index))
        else:
            values.append(x)
        bit += bit
    try:
        if not wanted or op.grad is None:
            instead = programs.instead
            results = record(op, values, statics)[1] if instead is None else instead(op, values, statics)
            if len(results) == 1:
                result = Variable(results[0])
                return [refusing(op.name, inputs, result) if wanted and op.name in REFUSING else result]
            return [Variable(value) for value in results]
        if op.keep == "residuals":
            return _keeping_residuals(op, inputs, values, statics, wanted, edges)
        signature, results = record(op, values, statics)
    except InsideTransform:
        return apply_inside(op, inputs, statics)
    except Exception as error:
        shorten(error)
        raise
    pullback = signature.pullbacks.get(wanted)
    if pullback is None:
        pullback = pullback_of(signature, wanted)
    return with_history(signature, results, pullback, pullback.save(inputs), edges)


def apply_inside(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]) -> list[Variable]:
    """Apply an op inside a function that is being transformed. `levels` puts its own in this place."""
    raise AssertionError("funcgrad._tape.levels is not imported")


def only_record(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> list[Variable]:
    """Record one call of `op` whatever the grad mode, without history: how a plain backward applies pull-backs."""
    return _without_history(None, op, inputs, statics)


def _without_history(
    instead: Callable[..., list[Value]] | None, op: Any, inputs: Sequence[Any], statics: tuple[Any, ...]
) -> list[Variable]:
    values = []
    for x in inputs:
        values.append(x.value if type(x) is Variable else x)
    try:
        results = record(op, values, statics)[1] if instead is None else instead(op, values, statics)
    except InsideTransform:
        return apply_inside(op, inputs, statics)
    except Exception as error:
        shorten(error)
        raise
    if len(results) == 1:
        return [Variable(results[0])]
    return [Variable(value) for value in results]


apply.keeps_history = True  # type: ignore[attr-defined]  # read by pull-backs that have a cheaper way without history
only_record.keeps_history = False  # type: ignore[attr-defined]  # likewise


def _keeping_residuals(
    op: Any, inputs: Sequence[Any], values: list[Any], statics: tuple[Any, ...], wanted: int, edges: list[Any]
) -> list[Variable]:
    signature = signature_of(op, tuple([known_of(x, exact=True) for x in values]), statics)
    pullback = pullback_of(signature, wanted)
    half: Any = pullback.forward  # type: ignore[attr-defined]  # a ResidualPullback
    _, results = record(half, values, statics)
    residuals = tuple([Variable(value) for value in half.residuals(values, results)])
    return with_history(signature, results[: len(signature.avals)], pullback, (tuple(inputs), residuals), edges)


def with_history(
    signature: Signature, results: list[Value], pullback: Any, saved: Any, edges: list[Any]
) -> list[Variable]:
    """Return the results of a call with a node behind those that can be differentiated."""
    if thread.saved_hooks and saved:
        saved = packed(saved)
    kind = signature.node_class or node_class(signature)
    node = kind(signature, pullback, saved, tuple(edges), results[0])
    if Anomalies.on:
        remember_line(node)
    if len(results) == 1 and results[0].aval.differentiable:
        return [Variable(results[0], node)]
    constant = getattr(signature.op, "constant", ())
    return [
        Variable(value, node, i) if value.aval.differentiable and i not in constant else Variable(value)
        for i, value in enumerate(results)
    ]
