"""program(): the program that ran last, as a jaxpr and as what XLA is given; and a replay of it, op by op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from funcgrad._ops.table import Number
from funcgrad._program.line import needed_calls
from funcgrad._program.run import flush
from funcgrad._program.trie import NUMBER, Call, Constant, Hole, forest
from funcgrad._program.value import Aval


class Program(NamedTuple):
    """A program: its instructions with the lines that recorded them, its jaxpr and its StableHLO."""

    instructions: list[str]
    jaxpr: Any
    hlo: str

    def __repr__(self) -> str:
        return "\n".join([*self.instructions, "", str(self.jaxpr)])


def program() -> Program:
    """Return the program that ran last. RuntimeError where none has run."""
    flush()
    last = forest.last_used()
    if last is None:
        raise RuntimeError("no program has run yet")
    call, (wanted, _) = last
    calls = needed_calls(call.path(), wanted)
    leaves, numbers = leaf_avals(calls), call.numbers

    def run(given: dict[int, Any], scalars: Any) -> list[Any]:
        results: dict[int, Any] = {}
        for one in calls:
            results.update(enumerate(computed(one, given, results, scalars), one.first))
        return [results[slot] for slot in wanted]

    with jax.enable_x64(True):
        structs = {i: aval.struct for i, aval in leaves.items()}
        scalars = [NUMBER] * numbers
        jaxpr = jax.make_jaxpr(run)(structs, scalars)
        hlo = jax.jit(run).lower(structs, scalars).as_text()
    return Program([f"{described(one)}   # {one.line}" for one in calls], jaxpr, hlo)


def described(call: Call) -> str:
    """Return an instruction as text: `%3 = mul(%1, leaf 0) -> float32[2]`."""
    arguments, results = ", ".join(map(_argument, call.arguments)), ", ".join(map(str, call.avals))
    return f"%{call.first} = {call.op.name}({arguments}) -> {results}"


def leaf_avals(calls: Sequence[Call]) -> dict[int, Aval]:
    """Return what is known of each leaf that the calls read, by its number."""
    found: dict[int, Aval] = {}
    for call in calls:
        assert call.signature is not None
        for argument, known in zip(call.arguments, call.signature.arguments, strict=True):
            if type(argument) is int and argument < 0 and type(known) is Aval:
                found[-1 - argument] = known
    return found


def computed(call: Call, leaves: Any, results: dict[int, Any], numbers: Any) -> tuple[Any, ...]:
    """Return the results of one instruction."""
    return call.op.call([argument_of(a, leaves, results, numbers) for a in call.arguments], call.statics)


def argument_of(argument: Any, leaves: Any, results: dict[int, Any], numbers: Any) -> Any:
    """Return what stands in an argument's place when its instruction is run."""
    if type(argument) is int:
        return results[argument] if argument >= 0 else leaves[-1 - argument]
    if type(argument) is Hole:
        return Number(jax.numpy.asarray(numbers[argument.position], np.float64), argument.kind)
    return argument.number if type(argument) is Constant else argument


def _argument(argument: object) -> str:
    if isinstance(argument, int):
        return f"%{argument}" if argument >= 0 else f"leaf {-1 - argument}"
    if isinstance(argument, Hole):
        return f"number {argument.position}"
    return str(getattr(argument, "number", argument))
