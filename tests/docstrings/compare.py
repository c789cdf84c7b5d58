"""When what an example did under funcgrad counts as what it did under torch."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.docstrings.run import Outcome, Outcomes

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)")
RELATIVE, ABSOLUTE = 2e-3, 2e-4  # four printed digits, and what factorisations lose
LONGEST = 600  # characters that a report shows
UNLIKE = (
    (re.compile(r"<built-in (method|function) (\w+)( of type object)?"), r"<function \2"),
    (re.compile(r"<[\w.]+ object at 0x[0-9a-f]+>"), "<object>"),
    (re.compile(r" ?at 0x[0-9a-f]+"), ""),
    (re.compile(r"\s+"), ""),
)


class Difference(NamedTuple):
    """An example that did otherwise; what follows it in its docstring is not compared where only one of both raised."""

    name: str
    ours: Outcome
    theirs: Outcome

    def __str__(self) -> str:
        example = f"{self.name}\n>>> {self.ours.source.rstrip()}"
        return f"{example}\ntorch:    {_told(self.theirs)}\nfuncgrad: {_told(self.ours)}"


def differences(ours: Outcomes, theirs: Outcomes) -> Iterator[Difference | None]:
    """Yield, for each example that can be compared, what parts both libraries, or None."""
    for name, found in theirs.items():
        for our, their in zip(ours[name], found, strict=True):
            yield None if agree(our, their) else Difference(name, our, their)
            if bool(our.raised) != bool(their.raised):
                break  # the rest needs what only one of both has


def agree(our: Outcome, their: Outcome) -> bool:
    """Tell whether both printed the same text, with numbers that are near, and raised the same kind of exception."""
    if bool(our.raised) != bool(their.raised) or not same_text(our.printed, their.printed):
        return False
    return not their.raised or their.raised[0] in our.raised


def same_text(our: str, their: str) -> bool:
    """Tell whether two texts are the same but for white space, addresses and what numbers lose by rounding."""
    for pattern, plain in UNLIKE:
        our, their = pattern.sub(plain, our), pattern.sub(plain, their)
    if our == their:
        return True
    if NUMBER.sub("#", our) != NUMBER.sub("#", their):
        return False
    pairs = zip(NUMBER.findall(our), NUMBER.findall(their), strict=True)
    return all(_near(float(a), float(b)) for a, b in pairs)


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (math.isnan(a) and math.isnan(b))


def _told(outcome: Outcome) -> str:
    raised = f" {outcome.raised[0]}: {outcome.message}" if outcome.raised else ""
    return outcome.printed.rstrip()[:LONGEST] + raised[:LONGEST]
