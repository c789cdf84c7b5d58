"""Checkpoints: what nodes saved is let go, and made again by running the forward once more when a backward asks for it.

The graph itself stays as it is. What each of its nodes saves becomes a `Remade`, which knows its place among all that
is saved while the block runs; when the block runs again, the tensors that are saved then come in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self
from weakref import ref

from funcgrad._program.value import Aval
from funcgrad._tape.modes import thread
from funcgrad._tape.packing import each
from funcgrad._tape.variable import Variable


class CheckpointError(RuntimeError):
    """A checkpointed function did something else when it was run again."""

    __module__ = "torch.utils.checkpoint"


class StopRun(Exception):  # noqa: N818 - no error: all that backward needs is there
    """Ends the second run of a block."""


class GraphExecGroup:
    """Within `with group:` a checkpointed block runs again once, however many backward passes ask for its parts.

    No two of them may need the same part. RuntimeError: groups do not nest.
    """

    current: GraphExecGroup | None = None

    def __enter__(self) -> Self:
        if GraphExecGroup.current is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {self.current}")
        GraphExecGroup.current = self
        return self

    def __exit__(self, *error: object) -> None:
        GraphExecGroup.current = None


class _Origin(NamedTuple):
    """Whose result a saved tensor was."""

    node: Any
    place: int


class Remade:
    """What a node of a checkpointed block holds instead of what it saved. start: its first tensor's place in that.

    kept: what was saved, until the block has ended. again: the values of the second run, until they are taken.
    """

    __slots__ = ("__weakref__", "again", "block", "form", "kept", "start")

    def __init__(self, block: Block, saved: tuple[Any, ...], start: int) -> None:
        self.block, self.kept, self.start = block, saved, start
        self.form: Any = None
        self.again: list[Any] | None = None

    def let_go(self) -> None:
        """Keep of what was saved only whose results they were."""
        self.form, self.kept = each(self.kept, lambda saved: _Origin(saved.node, saved.index)), ()

    def prepare(self, cotangents: Sequence[Variable | None]) -> None:
        """Let the block run again if it must, after the cotangents."""
        if self.form is not None:
            self.block.make_again([c for c in cotangents if c is not None])

    def tensors(self, cotangents: Sequence[Variable | None], history: bool) -> Any:
        """Return what the node had saved, each with the history that it had; CheckpointError for a second time."""
        if self.form is None:
            return self.kept
        self.prepare(cotangents)
        if self.again is None:
            raise CheckpointError(_TAKEN.format(_OVERLAP if GraphExecGroup.current is not None else ""))
        values, self.again = iter(self.again), None
        return each(self.form, lambda origin: Variable(next(values), *origin), _Origin)


class Block:
    """One checkpointed call. run(cotangents) runs it again, so that it depends on those, if there are any.

    stops_early: the second run ends with the last tensor that is saved. facts: what of a tensor that is saved must be
    as in the first run; None: nothing. explain: what is called with a CheckpointError, to say more.
    """

    def __init__(
        self, run: Callable[[list[Variable]], None], *, stops_early: bool,
        facts: Callable[[Aval], dict[str, Any]] | None, explain: Callable[[CheckpointError], None] | None = None,
    ) -> None:  # fmt: skip
        self.run, self.stops_early, self.facts, self.explain = run, stops_early, facts, explain
        self.saved: list[Aval] = []
        self._open: list[Remade] = []
        self._parts: list[ref[Remade]] = []
        self._during: Callable[[], Any] = _nothing  # the backward pass, or group of some, for which it ran last

    def packed(self, saved: tuple[Any, ...]) -> Remade:
        """Return what a node holds instead of what it saves in the first run."""
        part = Remade(self, saved, len(self.saved))
        each(saved, lambda variable: self.saved.append(variable.aval))
        self._open.append(part)
        return part

    def close(self, *, lets_go: bool) -> None:
        """End the first run. lets_go: what was saved is made again when it is needed; else it stays."""
        if lets_go:
            for part in self._open:
                part.let_go()
        self._parts, self._open = [ref(part) for part in self._open], []

    def make_again(self, cotangents: list[Variable]) -> None:
        """Run the block again, unless that was done for the present backward pass."""
        asking = GraphExecGroup.current or thread.running
        if asking is not None and self._during() is asking:
            return
        try:
            found = self._saved_again(cotangents)
            self._compare(found)
        except CheckpointError as error:
            if self.explain is not None:
                self.explain(error)
            raise
        self._during = _nothing if asking is None else ref(asking)
        for part in filter(None, (held() for held in self._parts)):
            count = 0 if part.form is None else _count(part.form)
            part.again = [variable.value for variable in found[part.start : part.start + count]]

    def _saved_again(self, cotangents: list[Variable]) -> list[Variable]:
        again = _Again(len(self.saved), stops_early=self.stops_early)
        thread.saved_hooks.append(again)
        try:
            self.run(cotangents)
        except StopRun:
            pass
        finally:
            thread.saved_hooks.remove(again)
        return again.found

    def _compare(self, found: list[Variable]) -> None:
        if len(found) != len(self.saved):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.saved)}\n"
                f"Number of tensors saved during recomputation: {len(found)}.\n{_TIP}"
            )
        facts = self.facts
        if facts is None:
            return
        living = [part for part in (held() for held in self._parts) if part is not None and part.form is not None]
        places = [place for part in living for place in range(part.start, part.start + _count(part.form))]
        different = [
            f"tensor at position {place}:\nsaved metadata: {before}\nrecomputed metadata: {after}\n"
            for place in places
            if (before := facts(self.saved[place])) != (after := facts(found[place].aval))
        ]
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(different)}.\n{_TIP}"
            )


class _Again:
    """Gathers what is saved in a second run."""

    def __init__(self, wanted: int, *, stops_early: bool) -> None:
        self.found: list[Variable] = []
        self.wanted, self.stops_early = wanted, stops_early

    def packed(self, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what a node of the second run holds: what it saves."""
        each(saved, self._gather)
        if self.stops_early and len(self.found) == self.wanted:
            raise StopRun
        return saved

    def _gather(self, variable: Variable) -> None:
        if len(self.found) == self.wanted:
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.\n{_TIP}"
            )
        self.found.append(variable)


def _nothing() -> None:
    return None


def _count(form: Any) -> int:
    return sum(_count(x) if type(x) is tuple else type(x) is _Origin for x in form)


_TAKEN = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {}If you are "
    "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details "
    "on your use case."
)
_OVERLAP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute gradients) "
    "is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
)
_TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""
