"""Beginning anew within a process: what has been compiled means something else from here."""

from __future__ import annotations

from funcgrad._program.lengths.family import forget_lengths
from funcgrad._program.parts import forget_parts
from funcgrad._program.plan import forget_executables
from funcgrad._program.record import fresh_program
from funcgrad._program.run import flush
from funcgrad._program.single import forget_functions
from funcgrad._program.stepwise import forget_plans
from funcgrad._program.trie import forest


def forget_compiled() -> None:
    """Run what is recorded, and let whatever comes next be planned and compiled as if it had not been seen before."""
    flush()
    forest.clear()
    for forget in (forget_lengths, forget_parts, forget_plans, forget_executables, forget_functions):
        forget()
    fresh_program()
