"""Which gradients have a history of their own: those that depend on what has one, and what torch's kernels are given.

Where torch's formula hands an input to a kernel of its own (relu's, a convolution's), the gradient requires grad as
soon as that input does, though it may be the same whatever the input is. Recorded from torch 2.13.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from funcgrad._program.trie import Signature
from funcgrad._program.value import LiftedValue
from funcgrad._tape.apply import apply
from funcgrad._tape.nodes import GradNode, drawing, named
from funcgrad._tape.underivable import ZeroNode
from funcgrad._tape.variable import Variable
from funcgrad._tape.vjp import Pullback

_NAMES = (  # of the nodes whose formula is given the inputs, without Backward0 where they end so
    "Abs Copysign FmodBackward1 RemainderBackward1 Relu LeakyRelu Threshold PreluKernel RreluWithNoise Hardsigmoid "
    "Softshrink Hardshrink Hardtanh Softmax LogSoftmax MultiMarginLoss MultilabelMarginLoss NllLoss NllLoss2D "
    "SegmentReduce LinalgVectorNorm NormBackward1 Cdist EuclideanDist Pdist Convolution NativeBatchNorm "
    "NativeLayerNorm AvgPool2D AvgPool3D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool2D AdaptiveMaxPool3D "
    "MaxPool2DWithIndices MaxPool3DWithIndices FractionalMaxPool2D FractionalMaxPool3D ReflectionPad1D "
    "ReflectionPad2D ReflectionPad3D ReplicationPad1D ReplicationPad2D ReplicationPad3D GridSampler2D GridSampler3D"
)
_KERNELS = frozenset(_NAMES.split())
_NOT_GIVEN = {"Convolution": ("bias",), "NativeBatchNorm": ("bias",)}  # inputs of a node that its kernel goes without
_ONLY = {"FmodBackward1": 1, "RemainderBackward1": 1, "Copysign": 0}  # where the other's gradient has no such formula
_KNOWN: WeakKeyDictionary[Signature, tuple[tuple[set[int], set[int]], ...]] = (
    WeakKeyDictionary()
)  # the kernels of each call


def apply_again(op: Any, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> list[Variable]:
    """Apply what a backward pass consists of that is to be differentiated itself."""
    results = apply(op, inputs, statics)
    node = results[0].node
    if isinstance(op, Pullback) and isinstance(node, GradNode) and (constant := node.pullback.constant):
        return [Variable(result.value) if i in constant else result for i, result in enumerate(results)]
    return results


apply_again.keeps_history = True  # type: ignore[attr-defined]  # as `apply` has it


def pull_again(
    node: GradNode,
    needed: list[bool] | None,
    cotangents: Sequence[Variable | None],
    below: Sequence[Variable] | None = None,
) -> Sequence[Any]:
    """Record the pull-back of a node, to be differentiated itself. needed: which edges; None: all.

    below: what the inputs of the node's level stand for, where it is at one: its own edges are no history below it.
    """
    pulled = node.pull(cotangents, apply_again) if needed is None else node.pull_to(needed, cotangents, apply_again)
    kernels = _KNOWN.get(node.signature)
    if kernels is None:
        kernels = _KNOWN[node.signature] = tuple(_kernels(node.signature))
    if not kernels:
        return pulled
    found, wanted = list(pulled), node.pullback.wanted
    for through, given in kernels:
        if below is None:
            arguments = node.signature.arguments
            edges = [(edge, arguments[i]) for edge, i in zip(node.edges, wanted, strict=True) if i in given]
        else:
            edges = [((x.node, x.index), x.aval) for x in below if x.node and not isinstance(x.value, LiftedValue)]
        for i, place in enumerate(wanted):
            gradient = found[i]
            if edges and place in through and _lacks_history(gradient):
                found[i] = Variable(gradient.value, _made_by_kernel(node, gradient, edges))
    return found


def _lacks_history(gradient: Any) -> bool:
    return type(gradient) is Variable and gradient.node is None and not isinstance(gradient.value, LiftedValue)


def _made_by_kernel(node: GradNode, gradient: Variable, edges: list[tuple[Any, Any]]) -> ZeroNode:
    """Return the node of a gradient that is the same whatever the kernel was given. edges: each with its aval."""
    made = named(ZeroNode, node.pullback.grad)(gradient.aval, ())
    made.edges = tuple(edge for edge, _ in edges)
    made.input_avals = tuple(aval for _, aval in edges)
    return made


def _kernels(signature: Signature) -> Iterator[tuple[set[int], set[int]]]:
    """Walk through the kernels of torch's formula: (the inputs whose gradients it gives, those that it is given)."""
    names = [parameter.name for parameter in getattr(signature.op, "inputs", ())]
    for kernel, inputs in _kernels_in(drawing(signature)):
        through = set(range(len(signature.arguments))) if inputs is None else set(map(names.index, inputs))
        without = [names.index(name) for name in _NOT_GIVEN.get(kernel, ())]
        yield through & {_ONLY[kernel]} if kernel in _ONLY else through, through.difference(without)


def _kernels_in(drawn: Any) -> Iterator[tuple[str, list[str] | None]]:
    """Walk through the kernels in a drawing, each with the names of the inputs below it; None: all of the call's."""
    name = drawn if isinstance(drawn, str) else drawn[0]
    kernel = name.removesuffix("Backward0")
    if kernel in _KERNELS:
        yield kernel, None if isinstance(drawn, str) else _inputs_below(drawn)
    for part in () if isinstance(drawn, str) else drawn[1:]:
        if isinstance(part, tuple):
            yield from _kernels_in(part)


def _inputs_below(drawn: tuple[Any, ...]) -> list[str]:
    inner = [_inputs_below(part) if isinstance(part, tuple) else [part] for part in drawn[1:] if part is not None]
    return [name for names in inner for name in names]
