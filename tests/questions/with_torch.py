"""Run these tests with PyTorch in funcgrad's place: python -m tests.questions.with_torch."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    for needed in ("torch", "torch.utils.data", "torch.optim.lr_scheduler"):
        importlib.import_module(needed)
    for name, module in list(sys.modules.items()):
        if name == "torch" or name.startswith("torch."):
            sys.modules["funcgrad" + name.removeprefix("torch")] = module
    here = str(Path(__file__).parent)
    sys.exit(pytest.main([here, "-q", "--noconftest", "-p", "no:cacheprovider", "-m", "not parity"]))
