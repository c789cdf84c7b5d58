"""One process that runs one workload with one engine: it takes a step count on a line, and answers with JSON."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks import workloads

ENGINES = ("funcgrad", "torch", "by hand")


def build(engine: str, workload: str) -> Callable[[], float]:
    """Return the engine's step."""
    if engine == "by hand":
        return importlib.import_module("tests.benchmarks.by_hand").step_of(workload)
    return workloads.loop(importlib.import_module(engine), workload)


def peak_bytes(engine: str) -> int | None:
    """Return the most bytes that a step holds, or None where nobody counts them.

    On accelerators it is the device's own peak. The CPU keeps none, so it is reckoned: for the largest of the programs
    that have been compiled, XLA's own figures for arguments + results - what results reuse of them + temporaries; or,
    if that is more, the bytes of all arrays alive between two steps.
    """
    if engine == "torch":
        return None
    jax = importlib.import_module("jax")
    device = jax.devices()[0]
    if stats := device.memory_stats():
        return stats["peak_bytes_in_use"]
    programs = [executable.get_compiled_memory_stats() for executable in device.client.live_executables()]
    largest = max(
        (
            s.argument_size_in_bytes + s.output_size_in_bytes - s.alias_size_in_bytes + s.temp_size_in_bytes
            for s in programs
        ),
        default=0,  # numpy runs them all
    )
    return max(largest, sum(array.nbytes for array in jax.live_arrays()))


def serve(engine: str, workload: str) -> None:
    """Make the first step, then run as many as each line on standard input asks for."""
    if workload == "ops":
        torch: Any = importlib.import_module(engine)
        for with_history in (False, True):
            _answer(workloads.record_ops(torch, 100_000, time.perf_counter, with_history=with_history))
        return
    step = build(engine, workload)
    start = time.perf_counter()
    losses = [step()]
    _answer({"first": time.perf_counter() - start, "loss": losses[0]})
    for line in sys.stdin:
        if line.strip() == "memory":
            _answer(peak_bytes(engine))
            continue
        seconds, losses = [], []
        for _ in range(int(line)):
            start = time.perf_counter()
            losses.append(step())
            seconds.append(time.perf_counter() - start)
        _answer({"seconds": seconds, "losses": losses})


def _answer(what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:3])
