"""What a plan is: an executable, what it is given of a program's leaves, and how often it may run."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Sequence
from enum import IntEnum
from typing import Any, TypeAlias

import jax
import numpy as np

from funcgrad._program.apart import InStages
from funcgrad._program.host.running import OnHost
from funcgrad._program.lengths.running import AtLength
from funcgrad._program.parts import InParts
from funcgrad._program.renting import Rented
from funcgrad._program.stepwise import AT_ONCE, InSteps

# runs of one program, then it is compiled whole, as it is
_OFTEN = {InParts: 64, AtLength: 1024}
Sources: TypeAlias = list[int | float] | None
Execute: TypeAlias = Callable[[list[Any], list[Any], Any], Sequence[Any]] | InStages | Rented


class Seen(IntEnum):
    """What a program that is planned is known by: nothing, that it came back, or that it was run often as planned then.

    What was run often for want of an executable has cost a share of a compile already.
    """

    NOT_OFTEN = 0
    OFTEN_WITH_AMPLE_ROOM = 1
    AGAIN = 2
    OFTEN = 3


class Plan:
    """A compiled program: execute(donated leaves, other leaves, numbers) -> results, in the order that `order` says.

    given, kept: which leaves go into which list. copied: the places in the first of those that somebody holds, of which
    copies are given. donated: how many leaves are. order: for each result that comes back, its place among those
    wanted. used: when it was last run, as a count of runs. spare: how often it may run until the program is worth a
    compile of its own (below 0: it has one). is_new: whether there was something to compile. note: what to say of the
    lengths that vary in it. sources: the numbers that are inputs of what is executed, or where they are among the
    program's; None: those are the inputs. read: the result that somebody waited for when it was made. waited: for how
    many seconds somebody waited for results when it was the plan that ran last.
    """

    __slots__ = (
        "_last", "_on_host", "copied", "donated", "execute", "given", "is_new", "kept", "note",
        "order", "read", "sources", "spare", "used", "waited",
    )  # fmt: skip

    def __init__(
        self,
        execute: Execute,
        given: Sequence[int],
        kept: Sequence[int],
        order: Sequence[int],
        *,
        is_new: bool = True,
        note: str = "",
        sources: Sources = None,
        free: Container[int] | None = None,
    ) -> None:
        self.execute, self.given, self.kept, self.order = execute, tuple(given), tuple(kept), tuple(order)
        self.copied = frozenset(place for place, leaf in enumerate(self.given) if free is not None and leaf not in free)
        self.donated = execute.donated if isinstance(execute, InStages) else len(self.given) - len(self.copied)
        self.used, self.is_new, self.note, self.sources = 0, is_new, note, sources
        self.spare = execute.spare if isinstance(execute, (InStages, InSteps)) else _OFTEN.get(type(execute), -1)
        self.read: int | None = None
        self.waited = 0.0
        self._on_host = self.spare > 0 or isinstance(execute, (OnHost, Rented))  # these read the numbers one by one
        self._last: tuple[bytes, Any] = b"", None  # the numbers of the last run: at once, for threads share a plan

    @property
    def seen(self) -> Seen:
        """What is known of the program once this plan has run as often as it might."""
        if isinstance(self.execute, AtLength) and self.execute.is_ample:
            return Seen.OFTEN_WITH_AMPLE_ROOM
        return Seen.AGAIN if isinstance(self.execute, InSteps) and self.execute.spare == AT_ONCE else Seen.OFTEN

    @property
    def runs(self) -> int:
        """How often a program with an executable of its own was run."""
        return -1 - self.spare

    def with_copies(self, given: list[Any], shared: Container[int] = ()) -> list[Any]:
        """Return what goes into the first list, with copies of what others hold. shared: leaves that they do hold."""
        if not (self.copied or shared):
            return given
        held = [place in self.copied or leaf in shared for place, leaf in enumerate(self.given)]
        return [x.copy() if is_held else x for x, is_held in zip(given, held, strict=True)]

    def numbers(self, given: list[float]) -> Any:
        """Return the program's numbers as an array: on the device if they are those of the last run."""
        written = array("d", given).tobytes()  # 0.0 == -0.0, but another number is divided by it
        last, found = self._last
        if written != last:
            self._last = written, None
            return self._read(given)
        if found is None:
            found = self._read(given)
            if not self._on_host:
                found = jax.device_put(found)
            self._last = written, found
        return found

    def _read(self, given: list[float]) -> Any:
        found = given if self.sources is None else [given[x] if type(x) is int else x for x in self.sources]
        return np.array(found, np.float64)
