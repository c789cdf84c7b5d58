"""Runs one measurement in a process of its own, without any cache of compiled programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
