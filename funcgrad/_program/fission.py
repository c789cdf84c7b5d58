"""A scan of which what no turn waits for is computed for all turns at once, before it or after it.

Two things that an expert does by hand. What a turn computes from its own slice of the inputs alone is computed before
the loop: `x[t] @ W` for all t is one product, and the gates of a recurrent layer, which its backward pass needs again,
are a few large instructions. And what the turns only add up is added up after it: a weight's gradient, the sum of
`x[t].T @ g[t]` over all turns, is one product of what the loop leaves behind, in place of a product and an addition of
weights in each turn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax.extend import core

from funcgrad._program.primitives import CALLS, REDUCTIONS, called

MOST = 2**26  # bytes that are computed for all turns at once
_STAYS = ("callback", "ffi_call", "while", "scan", "cond")  # in the names of what is never taken out of a loop
_LINEAR = (
    "add", "add_any", "broadcast_in_dim", "concatenate", "copy", "neg", "pad", "reduce_sum", "reshape", "slice",
    "split", "squeeze", "sub", "transpose",
)  # fmt: skip
_COSTLY = frozenset((
    "cos", "cosh", "div", "dot_general", "erf", "erfc", "exp", "exp2", "expm1", "log", "log1p", "logistic", "pow",
    "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", *REDUCTIONS,
))  # fmt: skip
Turn = Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]]


def scanned(turn: Turn, initial: Sequence[Any], stacks: Sequence[jax.Array], turns: int) -> tuple[list[Any], list[Any]]:
    """Return lax.scan(turn, initial, stacks, turns): the last carry, and what each turn leaves."""
    begin = [jax.numpy.asarray(x) for x in initial]
    slices = [jax.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in stacks]
    traced = jax.make_jaxpr(turn)(begin, slices)
    if traced.effects or any(a.shape != x.shape or a.dtype != x.dtype
                             for a, x in zip(traced.out_avals, begin, strict=False)):  # fmt: skip
        return lax.scan(turn, list(initial), list(stacks), turns)
    split = _Split(traced, len(begin), turns)
    if not split.is_worth_it:
        return lax.scan(turn, list(initial), list(stacks), turns)
    return split.run(begin, stacks)


class _Equation(NamedTuple):
    """A primitive's application to numbered values."""

    made: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.made.primitive.name

    @property
    def stays(self) -> bool:
        """Whether this is never taken out of a loop."""
        return any(word in self.name for word in _STAYS)

    def applied(self, values: dict[int, Any]) -> None:
        """Add the results to the values."""
        with self.made.ctx.manager:
            found = self.made.primitive.bind(*[values[i] for i in self.inputs], **self.made.params)
        values.update(zip(self.outputs, found if self.made.primitive.multiple_results else [found], strict=True))


class _Body:
    """What one turn does, its calls inlined. known: the values that are the same in each turn, by number."""

    def __init__(self, traced: Any) -> None:
        self.known: dict[int, Any] = {}
        self.avals: list[Any] = []
        self.equations: list[_Equation] = []
        self.inputs = tuple([self._number(v.aval) for v in traced.jaxpr.invars])
        self.outputs = self._inlined(traced.jaxpr, traced.consts, self.inputs)
        self.maker = {output: equation for equation in self.equations for output in equation.outputs}
        read = [i for equation in self.equations for i in equation.inputs]
        self.uses = Counter([*read, *self.outputs])

    def _number(self, aval: Any) -> int:
        self.avals.append(aval)
        return len(self.avals) - 1

    def _constant(self, value: Any) -> int:
        number = self._number(jax.typeof(value))
        self.known[number] = value
        return number

    def _inlined(self, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[int]) -> tuple[int, ...]:
        numbers = dict(zip(jaxpr.invars, inputs, strict=True))
        numbers.update((v, self._constant(x)) for v, x in zip(jaxpr.constvars, constants, strict=True))

        def read(atom: Any) -> int:
            return self._constant(atom.val) if isinstance(atom, core.Literal) else numbers[atom]

        for eqn in jaxpr.eqns:
            given = tuple([read(atom) for atom in eqn.invars])
            if eqn.primitive.name in CALLS:
                found = self._inlined(*called(eqn), given)
            else:
                found = tuple([self._number(v.aval) for v in eqn.outvars])
                self.equations.append(_Equation(eqn, given, found))
            numbers.update(zip(eqn.outvars, found, strict=True))
        return tuple([read(atom) for atom in jaxpr.outvars])

    def following(self, first: Iterable[int]) -> set[int]:
        """Return all values that depend on these."""
        found = set(first)
        for equation in self.equations:
            if found.intersection(equation.inputs):
                found.update(equation.outputs)
        return found

    def needed(self, wanted: Iterable[int], given: Iterable[int]) -> tuple[list[_Equation], set[int]]:
        """Return the equations that compute the wanted values from those given, and all values that they read."""
        present, read, found = set(given), set(wanted), []
        for equation in reversed(self.equations):
            if any(i in read and i not in present for i in equation.outputs):
                found.append(equation)
                read.update(equation.inputs)
        return found[::-1], read

    def computed(self, wanted: Sequence[int], values: dict[int, Any]) -> list[Any]:
        """Compute values from those given and the known ones."""
        values = self.known | values
        for equation in self.needed(wanted, values)[0]:
            equation.applied(values)
        return [values[i] for i in wanted]

    def nbytes(self, value: int) -> int:
        """Return the size of a value."""
        aval = self.avals[value]
        return math.prod(aval.shape) * aval.dtype.itemsize


class _Sum(NamedTuple):
    """A carry to which each turn only adds: `added`, a linear function of some values of the turn (`terms`).

    A term is a product of matrices, or (None) any value: its sum over all turns is one instruction.
    """

    carry: int
    added: int
    terms: Mapping[int, _Equation | None]

    @property
    def operands(self) -> list[int]:
        """What must be there of each turn."""
        return [i for value, product in self.terms.items() for i in (product.inputs if product else (value,))]

    def over(self, body: _Body, each: Mapping[int, jax.Array], begin: Any) -> Any:
        """Return the sum over all turns. each: the operands of all turns (turns, ...)."""
        found = {
            value: _summed(product, [each[i] for i in product.inputs]) if product else _total(each[value])
            for value, product in self.terms.items()
        }
        return begin + body.computed([self.added], found)[0]


def _total(each: jax.Array) -> jax.Array:
    """Return the sum over all turns of a value, (turns, ...), in its dtype."""
    return each.sum(0, dtype=each.dtype)


def _summed(product: _Equation, operands: Sequence[jax.Array]) -> Any:
    """Return the sum of a product over all turns, of operands (turns, ...)."""
    params = dict(product.made.params)
    contracted, batch = params["dimension_numbers"]
    params["dimension_numbers"] = (
        tuple([(0, *[i + 1 for i in axes]) for axes in contracted]),
        tuple([tuple([i + 1 for i in axes]) for axes in batch]),
    )
    with product.made.ctx.manager:
        return product.made.primitive.bind(*operands, **params)


class _Split:
    """sums: carries that are added up after the loop. left: what it leaves for them. before: what is computed first.

    aside: results of each turn that no turn waits for. early: all that is computed before the loop, for itself, for the
    sums, or as such a result.
    """

    def __init__(self, traced: Any, carries: int, turns: int) -> None:
        self.body, self.carries, self.turns = _Body(traced), carries, turns
        body = self.body
        held = [i for equation in body.equations if equation.stays for i in equation.outputs]
        self.waiting = body.following([*body.inputs[:carries], *held])  # for the turn before
        self.varying = body.following(body.inputs)
        self.aside = [i for i in body.outputs[carries:] if i in self.varying and i not in self.waiting]
        self.sums = self._sums()
        self.carried, self.left, self.wanted = self._without(self.sums)
        self.before = self._before()
        operands = [i for each in self.sums for i in each.operands]
        free = [i for i in (*self.before, *self.aside, *operands) if i not in self.waiting]
        self.early = [i for i in dict.fromkeys(free) if i not in body.inputs]

    @property
    def is_worth_it(self) -> bool:
        """Whether there is something to take out of the loop, and room for it."""
        made = [i for each in self.body.needed(self.early, self.body.inputs)[0] for i in each.outputs]
        return bool(self.sums or self.before) and self.turns * sum(map(self.body.nbytes, made)) <= MOST

    def _without(self, sums: Sequence[_Sum]) -> tuple[list[int], list[int], list[int]]:
        """Return which carries the loop has without these sums, what it leaves for them, and all that it computes."""
        away = {each.carry for each in sums}
        carried = [i for i in range(self.carries) if i not in away]
        left = [i for i in dict.fromkeys(i for each in sums for i in each.operands) if i in self.waiting]
        results = [i for i in self.body.outputs[self.carries :] if i not in self.aside]
        return carried, left, [*[self.body.outputs[i] for i in carried], *results, *left]

    def _sums(self) -> list[_Sum]:
        """Return the carries that can be added up after the loop, their terms being computed for nothing else."""
        products = [each for sum_ in self._found(()) for each in sum_.terms.values() if each]
        there = {i for product in products for i in product.inputs}
        largest = max(map(self.body.nbytes, there), default=0)
        found = [each for each in self._found(there) if self._may_be_left(each, there, largest)]
        while True:
            read = self.body.needed(self._without(found)[2], self.body.inputs)[1]
            kept = [each for each in found if not any(product and i in read for i, product in each.terms.items())]
            if len(kept) == len(found):
                return found
            found = kept

    def _found(self, there: Container[int]) -> list[_Sum]:
        """Return the carries to which each turn only adds. there: what is left for products."""
        body, found = self.body, list[_Sum]()
        for carry, (given, update) in enumerate(zip(body.inputs[: self.carries], body.outputs, strict=False)):
            addition = body.maker.get(update)
            if addition is None or addition.name not in ("add", "add_any") or given not in addition.inputs:
                continue
            if body.uses[given] == 1 and body.uses[update] == 1:
                (added,) = [i for i in addition.inputs if i != given]
                terms = self._terms(added, there)
                if terms:
                    found.append(_Sum(carry, added, terms))
        return found

    def _terms(self, added: int, there: Container[int]) -> dict[int, _Equation | None]:
        """Return the values of which this is a linear function; nothing where one is the same in each turn."""
        terms, seen, waiting = dict[int, _Equation | None](), set[int](), [added]
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            if value not in self.varying:
                return {}
            equation = self.body.maker.get(value)
            if equation is None or value in there or not self._is_linear(equation):
                terms[value] = equation if equation is not None and self._may_wait(equation) else None
            else:
                waiting.extend(equation.inputs[:1] if equation.name == "pad" else equation.inputs)
        return terms

    def _is_linear(self, equation: _Equation) -> bool:
        return equation.name in _LINEAR and (equation.name != "pad" or self._pads_zeros(equation))

    def _pads_zeros(self, equation: _Equation) -> bool:
        value = equation.inputs[1]
        maker = self.body.maker.get(value)
        filling = self.body.known.get(maker.inputs[0] if maker and maker.name == "convert_element_type" else value)
        return isinstance(filling, (int, float, np.generic, np.ndarray)) and not np.any(filling)

    def _may_wait(self, product: _Equation) -> bool:
        """Tell whether this is a product of which it is less to leave the operands than to add it up in each turn."""
        if product.name != "dot_general" or not self.varying.issuperset(product.inputs):
            return False
        left = sum(self.body.nbytes(i) for i in {*product.inputs} & self.waiting)
        return left <= 2 * self.body.nbytes(product.outputs[0]) and self.turns * left <= MOST

    def _may_be_left(self, each: _Sum, there: Container[int], largest: int) -> bool:
        """Tell whether a sum's terms may be left: those that products need, and others that are no larger."""
        others = [self.body.nbytes(i) for i, product in each.terms.items() if not product and i not in there]
        return all(size <= largest and self.turns * size <= MOST for size in others)

    def _before(self) -> list[int]:
        """Return what waits for nothing, is computed at some cost, and is read by what does wait.

        That which is read, not what it is made of: cut out of a larger array inside the loop it is not vectorized.
        """
        body = self.body
        needed = body.needed(self.wanted, body.inputs)[0]
        read = [i for equation in needed if self.waiting.intersection(equation.outputs) for i in equation.inputs]
        free = [i for i in dict.fromkeys([*self.wanted, *read]) if i in self.varying and i not in self.waiting]
        return [i for i in free if any(e.name in _COSTLY for e in body.needed([i], body.inputs)[0])]

    def run(self, begin: Sequence[Any], stacks: Sequence[jax.Array]) -> tuple[list[Any], list[Any]]:
        """Return the last carry and what each turn leaves."""
        body, count = self.body, len(self.carried)
        of_stacks = dict(zip(body.inputs[self.carries :], stacks, strict=True))
        found = jax.vmap(lambda now: body.computed(self.early, now))(of_stacks) if self.early else []
        whole = of_stacks | dict(zip(self.early, found, strict=True))
        given = {**{body.inputs[i]: None for i in self.carried}, **whole}
        read = body.needed(self.wanted, given)[1]
        slices = {i: x for i, x in whole.items() if i in read}

        def turn(carry: list[Any], now: dict[int, Any]) -> tuple[list[Any], list[Any]]:
            present = {body.inputs[i]: x for i, x in zip(self.carried, carry, strict=True)}
            results = body.computed(self.wanted, present | now)
            return results[:count], results[count:]

        last, each = lax.scan(turn, [begin[i] for i in self.carried], slices, self.turns)
        whole.update(zip(self.wanted[count:], each, strict=True))
        ends = dict(zip(self.carried, last, strict=True))
        ends.update((s.carry, s.over(body, whole, begin[s.carry])) for s in self.sums)
        return [ends[i] for i in range(self.carries)], [whole[i] for i in body.outputs[self.carries :]]
