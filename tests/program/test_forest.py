"""The bounds on programs that are kept: of those without an executable, what comes back is given room."""

from __future__ import annotations

from funcgrad._program.trie import _RENTED, Call, Forest


class Plan:
    """A plan without an executable of its own."""

    def __init__(self, used: int) -> None:
        self.spare, self.used = 9, used


def last_of(forest: Forest, name: str, length: int) -> Call:
    """Return the last instruction of a program of so many."""
    call = forest.root(None)
    for i in range(length):
        call = call.children.setdefault((name, i), Call(call, (name, i), None, ()))
    return call


def test_programs_that_come_back_stay_however_long_they_are() -> None:
    forest, runs = Forest(), 0
    planned: list[str] = []

    def run(name: str) -> None:
        nonlocal runs
        runs += 1
        call = last_of(forest, name, 3 * _RENTED)
        if "key" not in call.plans:
            planned.append(name)
            forest.add(call, "key", Plan(runs))
        call.plans["key"].used = runs

    for _ in range(4):
        run("a")
        run("b")
    assert planned == ["a", "b", "a"]
    for i in range(8):  # what does not come back makes way
        run(f"other {i}")
    assert forest.size() < 16 * _RENTED
