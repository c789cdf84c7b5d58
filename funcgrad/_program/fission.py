"""A scan whose matrix products are taken for all turns at once, before it or after it, where no turn waits for them.

Two things that an expert does by hand. What a turn computes from its own slice of the inputs alone is computed before
the loop: `x[t] @ W` for all t is one product. And what the turns only add up is added up after it: a weight's gradient,
the sum of `x[t].T @ g[t]` over all turns, is one product of what the loop leaves behind, in place of a product and an
addition of weights in each turn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
from jax import lax
from jax.extend import core

from funcgrad._program.primitives import CALLS, called

MOST = 2**26  # bytes that are computed for all turns at once
_STAYS = ("callback", "ffi_call", "while", "scan", "cond")  # in the names of what is never taken out of a loop
_SHAPING = ("transpose", "reshape", "squeeze", "copy")  # a sum may be taken before them as well as after
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
    """A carry that only gathers a product, or a sum, of each turn; `shaped` is done to it before it is added."""

    carry: int
    product: _Equation
    shaped: tuple[_Equation, ...]

    def over(self, operands: Sequence[jax.Array], begin: Any) -> Any:
        """Return the sum over all turns, of operands (turns, ...)."""
        params = dict(self.product.made.params)
        with self.product.made.ctx.manager:
            if self.product.name == "dot_general":
                contracted, batch = params["dimension_numbers"]
                params["dimension_numbers"] = (
                    tuple([(0, *[i + 1 for i in axes]) for axes in contracted]),
                    tuple([tuple([i + 1 for i in axes]) for axes in batch]),
                )
            else:
                params["axes"] = (0, *[i + 1 for i in params["axes"]])
            found = self.product.made.primitive.bind(*operands, **params)
        values = {self.product.outputs[0]: found}
        for equation in self.shaped:
            equation.applied(values)
        return begin + values[self.shaped[-1].outputs[0] if self.shaped else self.product.outputs[0]]


class _Split:
    """sums: carries that are added up after the loop. left: what it leaves for them. before: products taken first.

    early: all that is computed before the loop, for itself or for the sums.
    """

    def __init__(self, traced: Any, carries: int, turns: int) -> None:
        self.body, self.carries, self.turns = _Body(traced), carries, turns
        body = self.body
        held = [i for equation in body.equations if equation.stays for i in equation.outputs]
        self.waiting = body.following([*body.inputs[:carries], *held])  # for the turn before
        self.varying = body.following(body.inputs)
        self.sums = self._sums()
        away = {each.carry for each in self.sums}
        self.carried = [i for i in range(carries) if i not in away]
        self.operands = list(dict.fromkeys(i for each in self.sums for i in each.product.inputs))
        self.left = [i for i in self.operands if i in self.waiting]
        self.wanted = [*[body.outputs[i] for i in self.carried], *body.outputs[carries:], *self.left]
        self.before = self._before()
        free = [i for i in (*self.before, *self.operands) if i not in self.waiting]
        self.early = [i for i in dict.fromkeys(free) if i not in body.inputs]

    @property
    def is_worth_it(self) -> bool:
        """Whether there is something to take out of the loop, and room for it."""
        made = [i for each in self.body.needed(self.early, self.body.inputs)[0] for i in each.outputs]
        return bool(self.sums or self.before) and self.turns * sum(map(self.body.nbytes, made)) <= MOST

    def _sums(self) -> list[_Sum]:
        found = [each for each in map(self._sum, range(self.carries)) if each is not None]
        products = [each for each in found if each.product.name == "dot_general" and self._is_small(each)]
        there = {i for each in products for i in each.product.inputs}
        return [each for each in found if each in products
                or (each.product.name == "reduce_sum" and there.issuperset(each.product.inputs))]  # fmt: skip

    def _sum(self, carry: int) -> _Sum | None:
        body = self.body
        given, update = body.inputs[carry], body.outputs[carry]
        addition = body.maker.get(update)
        if addition is None or addition.name not in ("add", "add_any") or given not in addition.inputs:
            return None
        if body.uses[given] != 1 or body.uses[update] != 1:
            return None
        (added,) = [i for i in addition.inputs if i != given]
        shaped: list[_Equation] = []
        while True:
            equation = body.maker.get(added)
            if equation is None or body.uses[added] != 1:
                return None
            if equation.name in ("dot_general", "reduce_sum"):
                varies = all(i in self.varying for i in equation.inputs)
                return _Sum(carry, equation, tuple(reversed(shaped))) if varies else None
            if equation.name not in _SHAPING:
                return None
            shaped.append(equation)
            (added,) = equation.inputs

    def _is_small(self, each: _Sum) -> bool:
        """Tell whether it is less to leave a product's operands than to read and write what it is added to."""
        left = sum(self.body.nbytes(i) for i in {*each.product.inputs} & self.waiting)
        return left <= 2 * self.body.nbytes(each.product.outputs[0]) and self.turns * left <= MOST

    def _before(self) -> list[int]:
        """Return the products of a turn that wait for nothing, as far as others read them."""
        body = self.body
        products = [equation.outputs[0] for equation in body.equations if equation.name == "dot_general"]
        free = [i for i in products if i in self.varying and i not in self.waiting]
        read = body.needed(self.wanted, [*body.inputs, *free])[1]
        return [i for i in free if i in read]

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
        whole.update(zip(self.left, each[len(each) - len(self.left) :], strict=True))
        ends = dict(zip(self.carried, last, strict=True))
        ends.update((s.carry, s.over([whole[i] for i in s.product.inputs], begin[s.carry])) for s in self.sums)
        return [ends[i] for i in range(self.carries)], each[: len(each) - len(self.left)]
