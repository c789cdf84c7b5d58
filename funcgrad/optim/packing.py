"""Small states of many parameters as one array: a step then reads and writes a few arrays, not two for each bias.

Handing an array to an XLA program and taking one back costs Python and JAX more than updating the numbers of a bias.
So what small states there are lies end to end in one flat array for each dtype, and the Tensors in `optimizer.state`
are views of it: reading one reads its part, writing one writes there. Large states stay arrays of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from funcgrad._ops.table import Array, Op
from funcgrad._program.value import Aval
from funcgrad._tensor.aliases import View
from funcgrad._tensor.interop import from_host, host_numbers
from funcgrad._tensor.names import record
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.end_to_end import EndToEnd, joined, part
from funcgrad.optim.rule import RuleOp


def _write_part(flat: Array, new: Array, start: int, shape: tuple[int, ...]) -> Array:
    return flat.at[start : start + math.prod(shape)].set(new.reshape(-1))


_PART, _JOINED = Op(part, names="", write_back=_write_part), Op(joined, names="")


class Packing(EndToEnd):
    """Where each of a row of states lies. Compared by identity, so that a program's key holds it at no cost."""

    __slots__ = ()
    _known: ClassVar[dict[Any, Packing]] = {}

    @classmethod
    def of(cls, kinds: Sequence[Aval], own: int) -> Packing:
        """Return the one packing of such states. Only the first `own` are packed: the others have several names."""
        key = (*kinds, own)
        found = cls._known.get(key)
        if found is None:
            movable = [i for i in range(own) if kinds[i].placement is None]  # one that was put somewhere stays there
            found = cls._known[key] = cls(kinds, movable)
        return found


class PackedOp(RuleOp):
    """The op of an optimizer, which reads and returns its states as a Packing has them."""

    __slots__ = ("rule",)

    def __init__(self, rule: RuleOp) -> None:
        super().__init__(rule.function)
        self.rule = rule

    def replaced(self, statics: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Yield the place of an input, and that of the result which takes its place afterwards."""
        packing, layout, *_ = statics
        return self._pairs(sum(layout.cohorts), packing.width)

    def refuse_misfits(self, inputs: Sequence[Any], statics: Sequence[Any]) -> None:
        """Raise RuntimeError for a state in another shape than its parameter gives it."""
        packing, layout, *_ = statics
        count = sum(layout.cohorts)
        states = packing.shapes[: len(layout.slots) * count]
        self.rule.refuse_misfitting([x.shape for x in inputs[:count]], states, layout)

    def call(self, inputs: Sequence[Any], statics: Sequence[Any]) -> tuple[Array, ...]:
        """Compute new parameters and states. inputs: parameters, gradients, packed states, numbers."""
        packing, layout, *options = statics
        count = sum(layout.cohorts)
        first, end = 2 * count, 2 * count + packing.width
        states = packing.unpack(inputs[first:end], stay_apart=not layout.joins)
        results = self.rule.call([*inputs[:first], *states, *inputs[end:]], (layout, *options))
        return (*results[:count], *packing.pack(results[count:]))


def packed(members: list[Tensor], packing: Packing) -> list[Tensor]:
    """Return names of the states as `packing` has them; the members that lie in flat arrays become views of these."""
    names = [members[place] for place in packing.alone]
    for run in packing.runs:
        inside = [members[place] for place in run]
        hosts = [host_numbers(member._current().value) for member in inside]
        if any(host is None for host in hosts):
            flat = Tensor._of(record(_JOINED, inside)[0])
        else:  # the first step is then the same program as the second
            flat = from_host(np.concatenate([np.ravel(host) for host in hosts]))  # type: ignore[arg-type]  # none is None
        for member, (_, start) in zip(inside, packing.pieces(run), strict=True):
            member._alias = View(flat, _PART, (), (start, tuple(member.shape)), None)
        names.append(flat)
    return names
