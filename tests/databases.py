"""Counting how many entries of torch's own sample databases hold, each in several respects; printed as one line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

FALLS_SHORT, WHOLE = "falls short", "holds"


class Holds:
    """What one test says of one entry: each respect holds unless a judgement on it fails.

    As a block: all respects of all samples are judged; at its end the first difference of each respect is raised.
    """

    def __init__(self, record: Any, database: str, entry: str, respects: Sequence[str]) -> None:
        self.record, self.database, self.entry = record, database, entry
        self.found = dict.fromkeys(respects, WHOLE)
        self.errors: list[Exception] = []

    def __enter__(self) -> Holds:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self.found = dict.fromkeys(self.found, FALLS_SHORT)
        self.record("holds", (self.database, self.entry, self.found))
        if self.errors and error is None:
            raise ExceptionGroup(f"{self.entry} falls short", self.errors)

    @contextmanager
    def judging(self, respect: str) -> Iterator[None]:
        """Note that the entry falls short in this respect where the block raises."""
        try:
            yield
        except Exception as error:  # every kind of failure counts against the entry, and is raised at the end
            if self.found[respect] == WHOLE:
                self.errors.append(error)
            self.found[respect] = FALLS_SHORT


def chosen(count: int, share: int) -> list[int]:
    """Return `share` of `count` places, the first and the last among them; all with FUNCGRAD_TEST_ALL=1."""
    if count <= share or os.environ.get("FUNCGRAD_TEST_ALL", "0") not in ("", "0"):
        return list(range(count))
    return sorted({round(i * (count - 1) / (share - 1)) for i in range(share)})


def summaries(reports: Sequence[Any]) -> list[str]:
    """Return one line a database out of the tests' reports (from all processes of a parallel run)."""
    entries: dict[str, dict[str, dict[str, str]]] = {}
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == "holds":
                database, entry, found = value
                known = entries.setdefault(database, {}).setdefault(entry, {})
                for respect, state in found.items():
                    known[respect] = min(state, known.get(respect, state))  # "falls short" sorts before "holds"
    return [_line(database, found) for database, found in entries.items()]


def _line(database: str, entries: dict[str, dict[str, str]]) -> str:
    respects = list(dict.fromkeys(respect for found in entries.values() for respect in found))
    counts = []
    for respect in respects:
        judged = [found[respect] for found in entries.values() if respect in found]
        counts.append(f"{respect} {judged.count(WHOLE)} of {len(judged)}")
    short = [entry for entry, found in entries.items() if FALLS_SHORT in found.values()]
    return f"{database}: {len(entries)} entries; {', '.join(counts)}; fall short: {', '.join(short) or 'none'}"
