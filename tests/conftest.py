"""What all tests share: a fresh seed, programs that compile quickly, and a memory that does not fill."""

from __future__ import annotations

import gc
import os
import resource
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

import funcgrad
from funcgrad._program import at_once
from funcgrad._program.compiling import HAS_OLDER_EMITTERS
from funcgrad._program.lengths.family import forget_lengths
from funcgrad._program.parts import forget_parts
from funcgrad._program.plan import forget_executables
from funcgrad._program.record import AtFirst, fresh_program, note_gradient, thread
from funcgrad._program.renting import Exactness
from funcgrad._program.stepwise import forget_plans
from funcgrad._tape.spans import forget_kinds
from tests.databases import summaries

MOST, MORE = 3 << 30, 1 << 30  # bytes: where the memory is emptied first, and how much it may grow until it is again
SHARE = 288  # compiling each row in each spelling takes an hour on two cores
# Beside each other the threads of processes wait for each other, turning round: a second of PyTorch's takes 40 then.
os.environ.setdefault("OMP_NUM_THREADS", "1")
QUICK = "XLA_FLAGS" not in os.environ  # XLA_FLAGS= runs all tests with what XLA does by default
if QUICK:
    # With LLVM at level 0, XLA's older emitters compile the programs of tests in a fifth of the time. XLA reads the
    # variable once; scripts that tests run in processes of their own have XLA's defaults, and so users' code.
    older = "--xla_cpu_use_fusion_emitters=false" if HAS_OLDER_EMITTERS else ""
    os.environ["XLA_FLAGS"] = f"{older} --xla_cpu_parallel_codegen_split_count=1"
    jax.devices()
    del os.environ["XLA_FLAGS"]


@pytest.fixture(autouse=True)
def the_same_start(request: pytest.FixtureRequest) -> Iterator[None]:
    """Seed the generators before each test; what earlier tests compiled tells nothing about what this one will."""
    compile_quickly(QUICK and not request.node.get_closest_marker("optimised"))
    funcgrad.manual_seed(0)
    forget_lengths()
    forget_plans()
    forget_parts()
    forget_executables()
    forget_kinds()
    Exactness.wanted_for.clear()
    note_gradient()  # tests are about what is recorded, but for those that use `at_first`
    fresh_program()  # the last one may have begun in a forest of the test before
    yield
    Memory.keep_within_bounds()


@pytest.fixture
def at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this thread be as in a process in which nothing has wanted a gradient yet."""
    monkeypatch.setattr(AtFirst, "instead", at_once.at_once_if_small)
    monkeypatch.setattr(thread, "instead", at_once.at_once_if_small)


@pytest.fixture
def each_look_is_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Record what is looked at however often: the test is about the programs."""
    monkeypatch.setattr(at_once, "LOOKS", sys.maxsize)


def compile_quickly(chosen: bool) -> None:
    """Turn LLVM's optimisations off, or on again; what was compiled the other way is forgotten."""
    if jax.config.read("jax_disable_most_optimizations") != chosen:
        jax.config.update("jax_disable_most_optimizations", chosen)
        jax.clear_caches()


def pytest_collection_finish() -> None:
    """Spare PyTorch what it does for accelerators and for the names of its own tests: a third of a comparison's time.

    Each `manual_seed` writes the whole stack down for each kind of device that is not there.
    """
    torch, its_tests = (sys.modules.get(name) for name in ("torch", "torch.testing._internal.common_utils"))
    if torch is not None:
        for kind in (torch.cuda, torch.mtia, torch.xpu):
            kind.manual_seed_all = lambda _: None
    if its_tests is not None:
        its_tests.extract_test_fn = lambda: None


class Memory:
    """What tests compile fills the machine's memory. It is emptied when there is much: to look takes a second."""

    most = MOST

    @classmethod
    def keep_within_bounds(cls) -> None:
        """Let go of what was compiled, if this process has more memory than it may."""
        if cls.taken() > cls.most:
            jax.clear_caches()
            gc.collect()
            cls.most = max(MOST, cls.taken() + MORE)

    @staticmethod
    def taken() -> int:
        """Return the bytes that this process has; where the system does not tell, the most that it ever had."""
        try:
            return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        except FileNotFoundError:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


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
