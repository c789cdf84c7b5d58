"""plan(program, wanted) -> executable: how a recorded straight line is run. Today: as one XLA program.

What is planned is the path of Calls in the trie; nothing of the tensors, the tape or the moment of recording reaches here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from funcgrad._ops.table import Number
from funcgrad._program.trie import Call, Constant, Hole

Executable = Callable[[list[jax.Array], list[jax.Array], Any], list[jax.Array]]


def plan(last: Call, wanted: Sequence[int], donated: frozenset[int]) -> Executable:
    """Return the compiled program that ends with `last`: (donated leaves, kept leaves, numbers) -> wanted results.

    wanted: the numbers of the results to return. donated: the numbers (0, 1, ...) of the leaves whose memory may be reused.
    """
    calls = needed_calls(last.path(), wanted)

    def step(given: list[jax.Array], kept: list[jax.Array], numbers: jax.Array) -> list[jax.Array]:
        leaves = merge_leaves(given, kept, donated)
        results: dict[int, jax.Array] = {}
        for call in calls:
            inputs = [_input(argument, leaves, results, numbers) for argument in call.arguments]
            results.update(enumerate(call.op.call(inputs, call.statics), call.first))
        return [results[slot] for slot in wanted]

    return jax.jit(step, donate_argnums=(0,))


def needed_calls(calls: list[Call], wanted: Sequence[int]) -> list[Call]:
    """Return the calls that the wanted results depend on, in order."""
    alive = set(wanted)
    needed = []
    for call in reversed(calls):
        if any(slot in alive for slot in range(call.first, call.first + len(call.avals))):
            needed.append(call)
            alive.update(a for a in call.arguments if type(a) is int and a >= 0)
    needed.reverse()
    return needed


def merge_leaves(given: list[Any], kept: list[Any], donated: frozenset[int]) -> list[Any]:
    """Put the leaves back in the order in which the program first read them."""
    from_given, from_kept = iter(given), iter(kept)
    return [next(from_given if i in donated else from_kept) for i in range(len(given) + len(kept))]


def _input(argument: Any, leaves: list[Any], results: dict[int, Any], numbers: Any) -> Any:
    if type(argument) is int:
        return results[argument] if argument >= 0 else leaves[-1 - argument]
    if type(argument) is Hole:
        return Number(numbers[argument.position], argument.kind)
    return argument.number if type(argument) is Constant else argument
