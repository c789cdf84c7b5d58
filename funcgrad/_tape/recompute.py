"""Checkpoints: what nodes saved is let go, and made again by running the forward once more when a backward asks for it.

The graph itself stays as it is. Each of its nodes holds a `Remade` in place of what it saved; the first of a block to
be passed runs the block again, and each takes its own part of the new graph, whose nodes come in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._program.trie import is_open
from funcgrad._tape.variable import Variable


class CheckpointError(RuntimeError):
    """A checkpointed function did something else when it was run again."""


class Remade:
    """What a node of a checkpointed block holds instead of what it saved."""

    __slots__ = ("block", "place")

    def __init__(self, block: Block, place: int) -> None:
        self.block, self.place = block, place

    def tensors(self, cotangents: Sequence[Variable | None], history: bool) -> Any:
        """Return what the node had saved. history: with a history, for a backward that is to be differentiated."""
        found = self.block.saved_of(self.place, [c for c in cotangents if c is not None], history)
        return found.tensors(cotangents, history) if type(found) is Remade else found


class Block:
    """One checkpointed call. run(cotangents, history) runs it again: (its results, when it began).

    Without history the new run must depend on the cotangents, so that nothing is computed before they are there.
    """

    __slots__ = ("history", "kinds", "run", "saved")

    def __init__(self, run: Callable[[list[Variable], bool], tuple[list[Variable], int]]) -> None:
        self.run = run
        self.kinds: list[Any] = []
        self.saved: list[Any] = []
        self.history = False

    def forget(self, results: Sequence[Variable], since: int) -> None:
        """Let go of what was saved by the nodes that lead to `results` and were made since then."""
        nodes = _made(results, since)
        self.kinds = [_kind(node) for node in nodes]
        self.saved = [None] * len(nodes)
        for place, node in enumerate(nodes):
            if node.saved:
                node.saved = Remade(self, place)

    def saved_of(self, place: int, cotangents: list[Variable], history: bool) -> Any:
        """Return what one node saved, running the block again unless that has been done; it is given out once."""
        if self.saved[place] is None or (history and not self.history):
            nodes = _made(*self.run(cotangents, history))
            if [_kind(node) for node in nodes] != self.kinds:
                raise CheckpointError(
                    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                    f"recomputation: {len(self.kinds)} ops that can be differentiated, then {len(nodes)}, or others. "
                    "The function must do the same each time it is run."
                )
            self.saved, self.history = [node.saved for node in nodes], history
        found, self.saved[place] = self.saved[place], None
        return found


def _kind(node: Any) -> Any:
    """Return what is equal for nodes of the same call.

    In between their signatures may have been made anew, and a number may have become an input of the program.
    """
    signature = getattr(node, "signature", None)
    if signature is None:
        return type(node)
    known = tuple([type(a.number) if is_open(a) else a for a in signature.arguments])
    return signature.op.name, signature.statics, known


def _made(results: Sequence[Variable], since: int) -> list[Any]:
    """Return the nodes behind the results that were made since then, in an order that follows from the graph alone."""
    found: dict[Any, None] = {}
    waiting = [result.node for result in reversed(results) if result.node is not None]
    while waiting:
        node = waiting.pop()
        if node.order > since and node not in found and hasattr(node, "saved"):
            found[node] = None
            waiting += [following for following, _ in reversed(node.edges) if following is not None]
    return list(found)
