"""Python's garbage collector, which a loop's graphs set off: they are thousands of small objects, alive all at once."""

from __future__ import annotations

import gc

YOUNG = 10_000  # objects made since, net of those gone, when it looks at them first


def relieve() -> None:
    """Let it look at what is there by now no more, and at what is new less often, unless somebody chose how often."""
    gc.freeze()
    young, *older = gc.get_threshold()
    if young in (700, 2000):  # as Python has it, up to 3.12 and since then
        gc.set_threshold(YOUNG, *older)
