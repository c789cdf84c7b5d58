"""Record what torch does under autocast and in half precision, and with a GradScaler: `python -m tests.amp.record`."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import torch

from tests.amp import cases, gradients


def main() -> None:
    """Write recorded.json."""
    warnings.simplefilter("ignore")
    found = {
        "dtypes": {name: str(cases.called(torch, name).dtype) for name in cases.CALLS},
        "losses": {
            f"{kind} {dtype}": cases.losses(torch, kind, dtype).tolist()
            for kind in ("mlp", "conv")
            for dtype in ("bfloat16", "float16")
        },
        "scaled": {
            f"{name}, {which}": cases.scaled(torch, name, steps)
            for name in cases.OPTIMIZERS
            for which, steps in cases.OVERFLOWS.items()
        },
        "gradients": {
            f"{name}, {dtype}": gradients.written(gradients.pulled(torch, name, dtype), dtype)
            for name in gradients.CALLS
            for dtype in ("bfloat16", "float16")
        },
    }
    text = json.dumps(json.loads(json.dumps(found), parse_float=lambda x: float(f"{float(x):.7g}")))
    (Path(__file__).parent / "recorded.json").write_text(text.replace('], "', '],\n"') + "\n")


if __name__ == "__main__":
    main()
