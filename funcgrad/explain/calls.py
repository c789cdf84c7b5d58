"""Which calls of modules a node was made in: noted inside `lines()`, each call as a span of node numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import ref

from funcgrad._tape.nodes import now
from funcgrad.nn.hooks import register_module_forward_hook, register_module_forward_pre_hook
from funcgrad.nn.module import Module


class Call(NamedTuple):
    """A call of a module: nodes numbered between start and end were made in it. module: held weakly."""

    module: ref[Module]
    start: int
    end: int


_CALLS: deque[Call] = deque(maxlen=100_000)


@contextmanager
def calls_noted() -> Iterator[None]:
    """Note the calls of all modules that are made inside."""
    begun: list[tuple[Module, int]] = []

    def enter(module: Module, args: Any) -> None:
        begun.append((module, now()))

    def leave(module: Module, args: Any, result: Any) -> None:
        while begun:  # a call that raised has not left
            entered, start = begun.pop()
            if entered is module:
                _CALLS.append(Call(ref(module), start, now()))
                return

    handles = [register_module_forward_pre_hook(enter), register_module_forward_hook(leave)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def calls_around(orders: Sequence[int]) -> dict[int, tuple[Call, ...]]:
    """Return for each node number the calls that it was made in, the outermost first."""
    calls = deque(sorted(_CALLS, key=lambda call: (call.start, -call.end)))
    found, inside = {}, list[Call]()
    for order in sorted(orders):
        while calls and calls[0].start < order:
            inside.append(calls.popleft())
        inside = [call for call in inside if call.end > order]
        found[order] = tuple(inside)
    return found
