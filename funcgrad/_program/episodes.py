"""What tells that a line is of an episode, which seldom is as long as the one before."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad._program.composite import Composite
from funcgrad._program.line import Loop, Step
from funcgrad._program.rolling import HEAVY
from funcgrad._program.slices import only_selects


def ran_before(step: Step | Loop) -> bool:
    """Tell whether an instruction passes a step that has run: a turn of a loop in which something was read.

    Turns that are not alike (a solver takes some anew) are passed node by node, and read no weights again and again.
    """
    return isinstance(step, Step) and isinstance(step.op, Composite)


def may_be_of_episode(step: Step | Loop) -> bool:
    """Tell whether an instruction goes over a step that has run, or takes a row."""
    return ran_before(step) or (isinstance(step, Step) and step.op.name == "select")


def is_of_episode(line: Sequence[Step | Loop]) -> bool:
    """Tell whether a line goes over steps that have run, or does nothing in its loops but take the rows of an array.

    The steps must be light: what they left goes through the host.
    """
    loops = [step for step in line if isinstance(step, Loop)]
    spans = [(loop, step) for loop in loops for step in loop.body
             if isinstance(step, Step) and isinstance(step.op, Composite)]  # fmt: skip
    if spans:
        return sum([_stacked_bytes(loop, step) for loop, step in spans]) < HEAVY
    return bool(loops) and all(map(only_selects, loops))


def _stacked_bytes(loop: Loop, step: Step) -> int:
    """Return how many bytes an instruction reads in each turn of what lies ready for all turns."""
    first = loop.constants + loop.carries
    read = zip(step.arguments, step.token[2], strict=True)
    return sum([known.nbytes for a, known in read if type(a) is int and -1 - a >= first])
