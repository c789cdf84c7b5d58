"""PyTorch itself gives the answers that these tests hold funcgrad to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")


@pytest.mark.parity
def test_pytorch_gives_the_same_answers() -> None:
    command = [sys.executable, "-m", "tests.questions.with_torch"]
    root = Path(__file__).resolve().parents[2]
    completed = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False)
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-1000:]
