"""apply: record a call and, where an input has a history and grad mode is on, leave a GradNode behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._program.record import known_of, record
from funcgrad._program.trie import Signature, signature_of
from funcgrad._program.value import Value
from funcgrad._tape.anomalies import Anomalies, remember_line
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import node_class
from funcgrad._tape.variable import Variable
from funcgrad._tape.vjp import pullback_of


def apply(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> list[Variable]:
    """Record one call of `op` and return its results. inputs: Variables, Python numbers or None, in the op's order."""
    values, has_history = [], False
    for x in inputs:
        if type(x) is Variable:
            values.append(x.value)
            if x.node is not None:
                has_history = True
        else:
            values.append(x)
    if not has_history or not thread.grad or op.grad is None:
        return [Variable(value) for value in record(op, values, statics)[1]]
    wanted = tuple(
        [i for i, x in enumerate(inputs) if type(x) is Variable and x.node is not None and x.value.aval.differentiable]
    )
    if op.keep == "residuals":
        return _keeping_residuals(op, inputs, values, statics, wanted)
    signature, results = record(op, values, statics)
    pullback = signature.pullbacks.get(wanted)
    if pullback is None:
        pullback = pullback_of(signature, wanted)
    return _with_history(signature, results, pullback, pullback.save(inputs), inputs)


def only_record(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> list[Variable]:
    """Record one call of `op` whatever the grad mode, without history: how a plain backward applies pull-backs."""
    values = [x.value if type(x) is Variable else x for x in inputs]
    return [Variable(value) for value in record(op, values, statics)[1]]


apply.keeps_history = True  # type: ignore[attr-defined]  # read by pull-backs that have a cheaper way without history
only_record.keeps_history = False  # type: ignore[attr-defined]


def _keeping_residuals(
    op: Any, inputs: Sequence[Any], values: list[Any], statics: tuple[Any, ...], wanted: tuple[int, ...]
) -> list[Variable]:
    signature = signature_of(op, tuple([known_of(x, exact=True) for x in values]), statics)
    pullback = pullback_of(signature, wanted)
    _, results = record(pullback.forward, values, statics)  # type: ignore[attr-defined]  # a ResidualPullback
    count = len(signature.avals)
    residuals = tuple([Variable(value) for value in results[count:]])
    return _with_history(signature, results[:count], pullback, (tuple(inputs), residuals), inputs)


def _with_history(
    signature: Signature, results: list[Value], pullback: Any, saved: tuple[Any, ...], inputs: Sequence[Any]
) -> list[Variable]:
    edges = tuple([(inputs[i].node, inputs[i].index) for i in pullback.wanted])
    kind = signature.node_class or node_class(signature)
    node = kind(signature, pullback, saved, edges)
    if Anomalies.on:
        remember_line(node)
    return [
        Variable(value, node, i) if value.aval.differentiable else Variable(value) for i, value in enumerate(results)
    ]
