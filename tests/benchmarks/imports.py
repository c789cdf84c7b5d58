"""Measure what `import funcgrad` costs on top of `import jax`: `python -m tests.benchmarks.imports [rounds]`.

Each round is a fresh process that imports one after the other. Bytecode is kept between the rounds in a folder of its
own, as an installed package keeps it. Bound: 0.1 s of wall time on an idle machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
BOUND = 0.1
_TIMED = """
import json, time

def timed(name):
    wall, cpu = time.perf_counter(), time.process_time()
    __import__(name)
    return time.perf_counter() - wall, time.process_time() - cpu

print(json.dumps([timed("jax"), timed("funcgrad")]))
"""


def once(environment: dict[str, str]) -> list[list[float]]:
    """Return (wall, CPU) seconds of `import jax`, and then of `import funcgrad`, in a fresh process."""
    answer = subprocess.run(
        [sys.executable, "-c", _TIMED], check=True, capture_output=True, text=True, cwd=ROOT, env=environment
    )
    return json.loads(answer.stdout)


def main(rounds: int) -> None:
    """Print the times of every round, and their medians."""
    print("round   jax s   + funcgrad s   of it CPU s")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        once(environment)  # writes the bytecode
        times = [once(environment) for _ in range(rounds)]
    for i, ((jax, _), (wall, cpu)) in enumerate(times):
        print(f"{i:5}   {jax:5.3f}   {wall:12.3f}   {cpu:11.3f}")
    walls, cpus = [wall for _, (wall, _) in times], [cpu for _, (_, cpu) in times]
    print(f"median  {median(jax for (jax, _), _ in times):.3f}   {median(walls):12.3f}   {median(cpus):11.3f}")
    print(f"least   {min(jax for (jax, _), _ in times):.3f}   {min(walls):12.3f}   {min(cpus):11.3f}   bound {BOUND}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
