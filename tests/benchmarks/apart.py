"""Runs one measurement in a process of its own, without any cache of compiled programs, and the command line for it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 300  # seconds


def measured_apart(module: str, engine: str, workload: str) -> dict[str, Any]:
    """Return what `python -m module --measure engine workload` answers; nothing where it fails or takes too long."""
    command = [sys.executable, "-m", module, "--measure", engine, workload]
    environment = os.environ | {"FUNCGRAD_CACHE": "off"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return {}
    if done.returncode:
        sys.stderr.write(done.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def chosen(
    description: str | None, workloads: Iterable[str], measure: Callable[[str, str], dict[str, float]]
) -> list[str]:
    """Return the workloads that the command line names; `--measure engine workload` prints its answer and exits."""
    workloads = list(workloads)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", choices=workloads, default=workloads)
    parser.add_argument("--measure", nargs=2, metavar=("ENGINE", "WORKLOAD"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(*given.measure)))
        sys.exit()
    return given.workloads


def print_first_and_later(module: str, names: Iterable[str], unit: str) -> None:
    """Print a row for each name: `first` and `later` under funcgrad and under torch, and how often torch's they are."""
    print(f"{unit:12}{'first':>10}{'torch':>8}{'ratio':>8}{'later':>10}{'torch':>8}{'ratio':>8}")
    for name in names:
        ours, theirs = (measured_apart(module, engine, name) for engine in ("funcgrad", "torch"))
        pairs = [(ours[when], theirs[when]) for when in ("first", "later")]
        print(f"{name:12}" + "".join(f"{one:>10.1f}{other:>8.1f}{one / other:>8.1f}" for one, other in pairs))
