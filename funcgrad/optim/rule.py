"""What every update rule needs inside its one recorded call: how the arrays lie, and numbers that stay exact.

A rule is a pure function (params, grads, state) -> (params, state) over the parameters that step in lockstep. The op of
an optimizer gets all arrays of a group in one flat list and reads it by a `Layout`, which is part of the program's key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.table import Array, Dims, Op
from funcgrad.optim.end_to_end import EndToEnd

State: TypeAlias = dict[str, Any]  # name -> one array per parameter, or the one 0-d array that they share
Rule: TypeAlias = Callable[[list[Array], list[Array], State], tuple[list[Array], State]]


class Layout(NamedTuple):
    """How the flat list of a group's arrays is read: parameters, gradients, a run per slot, then what cohorts share.

    cohorts: how many parameters step in lockstep, cohort after cohort. slots: names of the states that each parameter
    has. shared: names of the 0-d states that a cohort has once. maximize: gradients are turned round first. joins:
    whether the rule, which looks at one element at a time, is given small arrays end to end. XLA compiles a kernel for
    each array that a rule writes, which is much of the compile time of a model with many small parameters.
    """

    cohorts: tuple[int, ...]
    slots: tuple[str, ...]
    shared: tuple[str, ...]
    maximize: bool
    joins: bool

    def update(self, arrays: Sequence[Array], rule: Rule) -> tuple[Array, ...]:
        """Apply `rule` to each cohort. Result: the new parameters, a run per slot, then what cohorts share."""
        count = sum(self.cohorts)
        end = (2 + len(self.slots)) * count
        rows = [arrays[start : start + count] for start in range(0, end, count)]
        new_rows: list[list[Array]] = [[] for _ in range(1 + len(self.slots))]
        new_shared: list[list[Array]] = [[] for _ in self.shared]
        start = 0
        for turn, size in enumerate(self.cohorts):
            own = [row[start : start + size] for row in rows]
            shared = [arrays[end + i * len(self.cohorts) + turn] for i in range(len(self.shared))]
            stepped, stepped_shared = self._step(rule, own, shared)
            for row, new in zip(new_rows, stepped, strict=True):
                row += new
            for row, one in zip(new_shared, stepped_shared, strict=True):
                row.append(one)
            start += size
        return tuple(array for row in (*new_rows, *new_shared) for array in row)

    def _step(self, rule: Rule, rows: list[Any], shared: list[Array]) -> tuple[list[list[Array]], list[Array]]:
        params, grads, *slots = [[_working(array) for array in row] for row in rows]
        if self.maximize:
            grads = [-grad for grad in grads]
        state: State = dict(zip(self.slots, slots, strict=True))
        state.update((name, one.astype(np.float64)) for name, one in zip(self.shared, shared, strict=True))
        after, state = self._applied(rule, params, grads, state)
        before = [rows[0], *rows[2:]]
        stepped = [[_restored(*pair) for pair in zip(*both, strict=True)] for both in zip(after, before, strict=True)]
        return stepped, [state[name].astype(one.dtype) for name, one in zip(self.shared, shared, strict=True)]

    def _applied(self, rule: Rule, params: list[Array], grads: list[Array], state: State) -> tuple[list[Any], State]:
        """Return the new rows: parameters, then each slot; and the new state, whose slots may lie otherwise."""
        if not self.joins:
            params, state = rule(params, grads, state)
            return [params, *[state[name] for name in self.slots]], state
        lie = EndToEnd(params)
        packed = {name: lie.pack(state[name]) for name in self.slots}
        params, state = rule(lie.pack(params), lie.pack(grads), state | packed)
        slots = [lie.unpack(state[name]) for name in self.slots]
        return [lie.unpack(params, stay_apart=True), *slots], state


def _as_the_parameter(_: str, shape: Dims) -> Dims:
    return shape


class RuleOp(Op):
    """The op of an optimizer: of parameters, gradients, states and numbers; it returns new parameters and states.

    Its statics begin with the Layout. shape_of: gives the shape of a state, by its name, for a parameter's. reads:
    which of a gradient and a state torch's own rule names first where they do not fit.
    """

    __slots__ = ("_reads", "_shape_of")

    def __init__(
        self,
        function: Callable[..., Any],
        grad: str | None = None,
        *,
        shape_of: Callable[[str, Dims], Dims] = _as_the_parameter,
        reads: Literal["state", "gradient"] = "state",
    ) -> None:
        super().__init__(function, grad=grad, numbers="inputs")
        self.name = self.name.removesuffix("_rule")  # what is without is the step on lists of tensors
        self._shape_of, self._reads = shape_of, reads

    def replaced(self, statics: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Yield the place of an input, and that of the result which takes its place afterwards."""
        layout: Layout = statics[0]
        count = sum(layout.cohorts)
        return self._pairs(count, len(layout.slots) * count + len(layout.shared) * len(layout.cohorts))

    def orders(
        self, operands: Sequence[tuple[Dims, Dims | None] | None], statics: Sequence[Any], shapes: Sequence[Dims]
    ) -> Sequence[Dims | None]:
        """Return the order of each result in torch's memory: that of what it replaces."""
        of_result = {result: operands[place] for place, result in self.replaced(statics)}
        kept = [of_result.get(result) for result in range(len(shapes))]
        return [None if operand is None else operand[1] for operand in kept]

    def refuse_misfits(self, inputs: Sequence[Any], statics: Sequence[Any]) -> None:
        """Raise RuntimeError for a state in another shape than its parameter gives it: that of another model, say.

        inputs: what is known of the arrays.
        """
        layout: Layout = statics[0]
        count = sum(layout.cohorts)
        params, states = inputs[:count], inputs[2 * count : (2 + len(layout.slots)) * count]
        self.refuse_misfitting([x.shape for x in params], [x.shape for x in states], layout)

    def refuse_misfitting(self, params: Sequence[Dims], states: Sequence[Dims], layout: Layout) -> None:
        """Raise as `refuse_misfits` does. states: their shapes, a run per slot."""
        for slot, start in zip(layout.slots, range(0, len(states), len(params)), strict=True):
            for param, state in zip(params, states[start:], strict=False):
                wanted = self._shape_of(slot, param)
                if state == wanted:
                    continue
                stretched = broadcast_shape(*((state, wanted) if self._reads == "state" else (wanted, state)))
                given = state if stretched != state else param
                raise RuntimeError(
                    f"output with shape {list(given)} doesn't match the broadcast shape {list(stretched)}"
                )

    @staticmethod
    def _pairs(params: int, states: int) -> Iterator[tuple[int, int]]:
        yield from ((i, i) for i in range(params))
        yield from ((2 * params + i, params + i) for i in range(states))


def number(given: Any) -> Any:
    """Return a number (given as one, or as an array with one element) that takes on the dtype of any array it meets.

    A plain number does so by itself. A traced one is made weakly typed while it is still a float64: 1 - beta2 in
    float32 would be wrong in the fifth digit. None stays None.
    """
    if given is None or isinstance(given, (int, float)):
        return given
    exact = lax.convert_element_type(jnp.reshape(given, ()), np.float64)
    # jax.numpy has no public way to say "weakly typed"; this is what it does itself for a Python float
    return lax.convert_element_type_p.bind(exact, new_dtype=np.dtype(np.float64), weak_type=True, sharding=None)


def numbers(*given: Any) -> list[Any]:
    """Return each as `number` does."""
    return [number(x) for x in given]


def transformed(transform: Any, grads: list[Array], state: Any, params: Any = None) -> tuple[list[Array], Any]:
    """Return what an optax transformation makes of gradients, and its state afterwards."""
    return transform.update(grads, state, params)


def decayed(grads: list[Array], params: list[Array], weight_decay: Any) -> list[Array]:
    """grad + weight_decay * param: the gradient of an L2 penalty joins the loss's."""
    return transformed(optax.add_decayed_weights(weight_decay), grads, optax.EmptyState(), params)[0]


def shrunk(params: list[Array], factor: Any) -> list[Array]:
    """param * (1 - factor): decoupled weight decay."""
    return params if isinstance(factor, (int, float)) and factor == 0 else [param * (1 - factor) for param in params]


def descended(params: list[Array], updates: list[Array], lr: Any) -> list[Array]:
    """param - lr * update."""
    return [param - lr * update for param, update in zip(params, updates, strict=True)]


def _working(array: Array) -> Array:
    """Return what rules compute with: complex numbers as pairs of reals, half precision as float32."""
    if array.dtype.kind == "c":
        return jnp.stack([array.real, array.imag], -1)
    return array.astype(np.float32) if array.dtype.itemsize < 4 else array


def _restored(new: Array, old: Array) -> Array:
    if old.dtype.kind == "c":
        return jax.lax.complex(new[..., 0], new[..., 1])
    return new.astype(old.dtype)
