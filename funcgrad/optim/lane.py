"""Parameters that step together, and the order in which a step reads their states: worked out once, kept while true."""

from __future__ import annotations

from collections import deque
from itertools import repeat
from operator import is_
from typing import Any

from funcgrad._tensor.aliases import View
from funcgrad._tensor.tensor import ALIAS, VARIABLE, Tensor
from funcgrad.optim.packing import Packing, packed


class Lane:
    """What one recorded call steps.

    params: cohort after cohort, `sizes` long. names: their states, the small ones packed. followers: further names of
    what a cohort shares, each with the place of its value among the results. packing: None where states have a history.
    joins: whether a rule may be given small arrays end to end, none of which was put somewhere.
    """

    __slots__ = (
        "_aliases", "_given", "_keys", "_leaders", "_led", "_owners", "_slots", "_states", "_tensors", "_views",
        "followers", "joins", "names", "packing", "params", "sizes",
    )  # fmt: skip

    def __init__(
        self,
        given: list[Tensor],
        params: list[Tensor],
        states: list[dict[str, Any]],
        sizes: tuple[int, ...],
        slots: tuple[str, ...],
        shared: tuple[str, ...],
        *,
        pack: bool,
        apart: bool = False,
    ) -> None:
        """pack: whether states are read by a Packing at all. apart: whether it leaves each an array of its own."""
        self.params, self.sizes = params, sizes
        members = [state[name] for name in slots for state in states]
        own = len(members)
        others: list[tuple[Tensor, int]] = []
        for name in shared:
            start = 0
            for size in sizes:
                others += [(state[name], len(members)) for state in states[start + 1 : start + size]]
                members.append(states[start][name])
                start += size
        self.packing = None
        self.joins = pack and all(param._current().value.aval.placement is None for param in params)
        if pack:
            self.packing = Packing.of([member._current().value.aval for member in members], 0 if apart else own)
        self.names = members if self.packing is None else packed(members, self.packing)
        self.followers = [(name, self._place(member)) for name, member in others]
        self._led, self._leaders = [name for name, _ in others], [members[member] for _, member in others]
        self._given, self._slots = given, slots
        self._states = states
        self._owners = [state for state in states for _ in slots + shared]
        self._keys = [name for _ in states for name in slots + shared]
        self._tensors = [state[name] for state in states for name in slots + shared]
        self._aliases = [tensor._alias for tensor in self._tensors]
        self._views = [alias for alias in self._aliases if type(alias) is View]

    def _place(self, member: int) -> int:
        """Return where among the results of a step a state comes that lies alone."""
        return len(self.params) + (member if self.packing is None else self.packing.alone.index(member))

    def fits(self, given: list[Tensor], slots: tuple[str, ...], state: Any) -> bool:
        """Tell whether these are the same parameters, whose states are still the Tensors that they were."""
        return (
            len(given) == len(self._given)
            and all(map(is_, given, self._given))
            and slots == self._slots
            and (not self._tensors or all(map(is_, map(state.get, self.params), self._states)))
            and all(map(is_, map(dict.get, self._owners, self._keys), self._tensors))
            and all(map(is_, map(ALIAS.__get__, self._tensors), self._aliases))
            and all(map(is_, map(VARIABLE.__get__, self._led), map(VARIABLE.__get__, self._leaders)))
        )

    def forget_readings(self) -> None:
        """Let views forget the flat array that somebody read them from: it could not be donated while they hold it."""
        deque(map(View.seen.__set__, self._views, repeat(None)), maxlen=0)  # type: ignore[attr-defined]  # a slot
