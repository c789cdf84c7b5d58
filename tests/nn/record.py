"""Record torch's layers for the tests of nn: `python -m tests.nn.record`, where torch 2.13 is installed."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.nn import initial
from tests.nn.cases import CASES
from tests.nn.running import described, numbers

FOLDER = Path(__file__).parent / "recorded"


def layers() -> tuple[dict[str, str], dict[str, np.ndarray[Any, Any]]]:
    """Return every case's repr, and its arrays by "case/name"."""
    texts: dict[str, str] = {}
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for case in CASES:
        found = described(torch, case)
        texts[case.name] = found.pop("repr")
        arrays.update({f"{case.name}/{name}": array for name, array in found.items()})
    return texts, arrays


def main() -> None:
    """Write all files anew."""
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    texts, arrays = layers()
    (FOLDER / "reprs.json").write_text(json.dumps(texts, indent=1) + "\n")
    np.savez_compressed(FOLDER / "layers.npz", **arrays)
    values = {name: numbers(initial.made(torch, name)) for name in initial.NAMES}
    np.savez_compressed(FOLDER / "initial.npz", **values)


if __name__ == "__main__":
    main()
