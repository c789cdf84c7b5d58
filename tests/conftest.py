"""What all tests share: a fresh seed, and the compiled programs of one run in one temporary folder."""

from __future__ import annotations

import gc
import os
import zlib
from collections.abc import Iterator

import jax
import pytest

import funcgrad
from funcgrad._program.lengths.family import forget_lengths
from funcgrad._program.stepwise import forget_plans
from tests.databases import summaries

SHARE = 36  # compiling each row in each spelling takes an hour on two cores


@pytest.fixture(autouse=True)
def the_same_start() -> Iterator[None]:
    """Seed the generators before each test; what earlier tests compiled tells nothing about what this one will."""
    funcgrad.manual_seed(0)
    forget_lengths()
    forget_plans()
    yield
    Finished.tests += 1
    if Finished.tests % 40 == 0:
        jax.clear_caches()  # what the table's tests compile would fill the machine's memory
        gc.collect()


class Finished:
    """How many tests this process has run."""

    tests = 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take one in SHARE of the tests marked `thorough`, always the same ones; all of them with FUNCGRAD_TEST_ALL=1."""
    if os.environ.get("FUNCGRAD_TEST_ALL", "0") not in ("", "0") or any("::" in word for word in config.args):
        return
    left = [i for i in items if i.get_closest_marker("thorough") and zlib.crc32(i.nodeid.encode()) % SHARE]
    config.hook.pytest_deselected(items=left)
    away = set(left)
    items[:] = [item for item in items if item not in away]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many entries of torch's sample databases hold, where tests have judged some."""
    reports = [report for state in ("passed", "failed") for report in terminalreporter.stats.get(state, ())]
    for line in summaries(reports):
        terminalreporter.write_line(line)
