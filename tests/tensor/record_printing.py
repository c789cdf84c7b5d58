"""Records torch's repr of every printing case: run it with torch installed to renew recorded/printing.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from tests.tensor.printing_cases import Case, cases

RECORDED = Path(__file__).parent / "recorded" / "printing.json"


def torch_repr(case: Case) -> str:
    """Return what torch prints for `case`."""
    kind = getattr(torch, case.dtype)
    raw = bytearray(np.ascontiguousarray(case.array).tobytes())
    values = torch.frombuffer(raw, dtype=kind) if raw else torch.empty(0, dtype=kind)
    tensor = values.reshape(case.array.shape)
    if case.grad == "parameter":
        tensor = torch.nn.Parameter(tensor)
    elif case.grad:
        tensor = tensor.clone().requires_grad_()
    if case.grad == "AddBackward0":
        tensor = tensor + 0 * tensor.detach()
        tensor.data = values.reshape(case.array.shape)
    elif case.grad == "MulBackward0":
        tensor = tensor * 1
    torch.set_default_dtype(getattr(torch, case.default_dtype))
    torch.set_printoptions(**case.options)
    try:
        return repr(tensor)
    finally:
        torch.set_printoptions(profile="default")
        torch.set_default_dtype(torch.float32)


def main() -> None:
    """Write the recorded file."""
    texts = {case.name: torch_repr(case) for case in cases()}
    assert len(texts) == sum(1 for _ in cases()), "names are not unique"
    RECORDED.write_text(json.dumps(texts, indent=0) + "\n")


if __name__ == "__main__":
    main()
