"""The two halves of a derivative that keeps what it needs again: keep="residuals".

The forward half computes what the op does, and the arrays that jax.vjp keeps of it; the backward half makes the
gradients of these. Both are ops, which a program may have together or each in another one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.interpreters.ad import Zero
from jax.interpreters.partial_eval import dce_jaxpr

from funcgrad._program.trie import Signature, inputs_from, structs_of


class ForwardHalf:
    """An op: the row's results, followed by the arrays that its pull-back needs besides them and the inputs.

    sources: where each array that the pull-back needs is found: at this place of what the op returns, or of the
    inputs (-1 - place). A network's weights are inputs; returned they would be copied at each call.
    """

    __slots__ = ("_kept", "grad", "halves", "keep", "name", "numbers", "signature", "sources", "tree", "wanted")

    def __init__(self, signature: Signature, wanted: tuple[int, ...]) -> None:
        self.signature, self.wanted = signature, wanted
        self.name, self.grad, self.keep = f"{signature.op.name}_with_residuals", None, "residuals"
        self.numbers = "folded"
        self.tree: Any = None
        self.sources: tuple[int, ...] = ()
        self._kept: Kept | None = None
        self.halves: dict[tuple[bool, ...], BackwardHalf] = {}

    def orders(self, operands: Sequence[Any], statics: Sequence[Any], shapes: Sequence[Any]) -> Sequence[Any]:
        """Return the order of the op's results in torch's memory; nobody sees that of a residual."""
        own, op = len(self.signature.avals), self.signature.op
        if not hasattr(op, "orders"):  # a derivative lies as XLA has it
            return [None] * len(shapes)
        return [*op.orders(operands, statics, shapes[:own]), *[None] * (len(shapes) - own)]

    def made_of(self) -> tuple[Any, ...]:
        """Return what this op was derived from."""
        return self.signature, self.wanted

    def made_anew(self, signature: Signature, wanted: tuple[int, ...]) -> ForwardHalf:
        """Return this op for a signature with a length open."""
        return OpenForwardHalf(signature, wanted, self)

    @property
    def kept(self) -> Kept:
        """What is kept, traced by itself once."""
        if self._kept is None:

            def compute(given: Sequence[Any]) -> Sequence[Any]:
                inputs = _apart(inputs_from(self.signature.arguments, given))
                return self._computed(inputs, self.signature.statics)[1]

            self._kept = Kept(self, compute)
        return self._kept

    def shared(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Share what the other half is given out: the residuals, the cotangents."""
        count = self.tree.num_leaves
        return inputs[:count], inputs[count:]

    def residuals(self, inputs: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """Return what the pull-back needs, given what the op took and returned."""
        return [results[source] if source >= 0 else inputs[-1 - source] for source in self.sources]

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute the results and the residuals that are not among them."""
        inputs = _apart(inputs)
        results, residuals = self._computed(inputs, statics)
        if not self.sources:  # found by tracing: with numbers, what is the same array need not be the same object
            self.sources = _sources(inputs, results, residuals)
        return (*results, *_own(results, residuals, self.sources))

    def _computed(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Compute results and residuals; how the pull-back is made of the residuals is kept in `tree`."""
        op, wanted = self.signature.op, self.wanted

        def forward(*primals: Any) -> Any:
            full = list(inputs)
            for place, primal in zip(wanted, primals, strict=True):
                full[place] = primal
            results = op.call(full, statics)
            differentiable = [r for r, a in zip(results, self.signature.avals, strict=True) if a.differentiable]
            return differentiable, results

        _, pull, results = jax.vjp(forward, *[inputs[i] for i in wanted], has_aux=True)
        residuals, self.tree = jax.tree.flatten(pull)
        return results, residuals


class OpenForwardHalf(ForwardHalf):
    """With a length open, more is kept than was recorded: the length itself, say, which is a constant otherwise.

    recorded: the half that was recorded, for some lengths. What depends on no input depends on the lengths alone: the
    other half computes it anew, so that it may be traced in another program than this one.
    """

    __slots__ = ("_recorded",)

    def __init__(self, signature: Signature, wanted: tuple[int, ...], recorded: ForwardHalf) -> None:
        super().__init__(signature, wanted)
        self.sources, self._recorded = recorded.sources, recorded.kept

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute the results, and of the residuals those that were recorded."""
        inputs = _apart(inputs)
        results, residuals = self._computed(inputs, statics)
        found = zip(self._recorded.places_in(self.kept), self._recorded.kinds, strict=True)
        recorded = [kind.cast(residuals[i]) for i, kind in found]
        return (*results, *_own(results, recorded, self.sources))

    def shared(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Share what the other half is given out."""
        count, kept = len(self.sources), self.kept
        self.tree = kept.tree
        given, made = dict(zip(self._recorded.places_in(kept), inputs[:count], strict=True)), iter(kept.of_lengths())
        found = [kind.cast(given[i]) if kind.of_inputs else next(made) for i, kind in enumerate(kept.kinds)]
        return found, inputs[count:]


class Kind(NamedTuple):
    """What a residual is. of_inputs: whether it depends on any input, and not on their shapes alone."""

    dtype: Any
    dimensions: int
    of_inputs: bool

    def is_like(self, other: Kind) -> bool:
        """Tell whether one may be the other at other lengths: which places are counted by int64 if all may be."""
        counts = self.dtype.kind == other.dtype.kind == "i"
        return self[1:] == other[1:] and (counts or self.dtype == other.dtype)

    def cast(self, array: Any) -> Any:
        """Return what stands for one of this kind."""
        return array if array.dtype == self.dtype else array.astype(self.dtype)


class Kept:
    """What a forward half keeps, traced by itself: of which kinds, and how the pull-back is made of them.

    of_lengths: computes those that depend on no input.
    """

    __slots__ = ("kinds", "of_lengths", "tree")

    def __init__(self, half: ForwardHalf, compute: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        with jax.enable_x64(True):
            traced = jax.make_jaxpr(compute)(structs_of(half.signature.arguments))
        self.tree = half.tree
        places = range(len(traced.out_avals))
        reads = [dce_jaxpr(traced.jaxpr, [i == place for i in places])[1] for place in places]
        self.kinds = [Kind(a.dtype, len(a.shape), any(read)) for a, read in zip(traced.out_avals, reads, strict=True)]
        rest, _ = dce_jaxpr(traced.jaxpr, [not kind.of_inputs for kind in self.kinds])
        self.of_lengths = jaxpr_as_fun(ClosedJaxpr(rest, traced.consts))

    def places_in(self, other: Kept) -> list[int]:
        """Return where these residuals are among others of the same op: in order, and all that depend on inputs are."""
        places: list[int] = []
        for i, kind in enumerate(other.kinds):
            if len(places) < len(self.kinds) and kind.is_like(self.kinds[len(places)]):
                places.append(i)
            elif kind.of_inputs:
                break
        else:
            if len(places) == len(self.kinds):
                return places
        raise RuntimeError("at other lengths other things are kept for the backward pass")


class BackwardHalf:
    """An op: the gradients, from the residuals and the cotangents."""

    __slots__ = ("avals", "forward", "given", "grad", "keep", "name", "numbers")

    def __init__(self, forward: ForwardHalf, given: tuple[bool, ...]) -> None:
        self.forward, self.given = forward, given
        self.name, self.grad, self.keep = f"{forward.signature.op.name}_pullback", None, "residuals"
        self.numbers = "folded"
        arguments = forward.signature.arguments
        self.avals = tuple(arguments[i] for i in forward.wanted)

    def made_of(self) -> tuple[Any, ...]:
        """Return what this op was derived from."""
        return self.forward, self.given

    def made_anew(self, forward: ForwardHalf, given: tuple[bool, ...]) -> BackwardHalf:
        """Return this op for the other half of a signature of other shapes."""
        return BackwardHalf(forward, given)

    def known(self) -> BackwardHalf:
        """Return the one of its kind, by which programs know it."""
        return self.forward.halves.setdefault(self.given, self)

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[jax.Array, ...]:
        """Compute the gradients; of a cotangent that is not given no zeros are made, which infinities would spoil."""
        residuals, given_cotangents = self.forward.shared(inputs)
        pull = jax.tree.unflatten(self.forward.tree, residuals)
        cotangents = iter(given_cotangents)
        results = [
            next(cotangents) if given else Zero(ShapedArray(tuple(a.shape), a.dtype.numpy))
            for a, given in zip(self.forward.signature.avals, self.given, strict=True)
            if a.differentiable
        ]
        return conjugated(pull(conjugated(results)))


def _apart(inputs: Sequence[Any]) -> list[Any]:
    """Return inputs each of which is an object of its own: of an array given twice jax.vjp would keep one."""
    seen = Counter(map(id, inputs))
    return [jax.numpy.array(x, copy=True) if isinstance(x, jax.Array) and seen[id(x)] > 1 else x for x in inputs]


def _sources(inputs: Sequence[Any], results: Sequence[Any], residuals: Sequence[Any]) -> tuple[int, ...]:
    """Return where each residual is found: among the inputs, the results, or behind these (`ForwardHalf.sources`)."""
    known = {id(x): -1 - place for place, x in enumerate(inputs)} | {id(x): i for i, x in enumerate(results)}
    behind = itertools.count(len(results))
    return tuple([known[id(x)] if id(x) in known else known.setdefault(id(x), next(behind)) for x in residuals])


def _own(results: Sequence[Any], residuals: Sequence[Any], sources: Sequence[int]) -> list[Any]:
    """Return the residuals that are neither inputs nor results, each once."""
    return list({source: x for source, x in zip(sources, residuals, strict=True) if source >= len(results)}.values())


def conjugated(arrays: Sequence[Any]) -> Any:
    """Return what torch takes for a derivative by complex numbers where JAX takes its conjugate, or back."""
    return [jax.numpy.conj(a) if type(a) is not Zero and a.dtype.kind == "c" else a for a in arrays]
