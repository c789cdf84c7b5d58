"""How an expression about masked tensors is evaluated, in torch (to record) or in funcgrad (to test), and written."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDED = HERE / "recorded" / "masked.json"


def expressions() -> list[str]:
    """Return the expressions of `expressions.txt`, in order."""
    return [line for line in (HERE / "expressions.txt").read_text().splitlines() if line and not line.startswith("#")]


def scope(torch: Any) -> dict[str, Any]:
    """Return the names that the expressions use."""
    made = torch.masked.masked_tensor
    d = torch.arange(6.0).reshape(2, 3)
    k = torch.tensor([[True, False, True], [False, True, True]])
    leaf = d.clone().requires_grad_()
    return {
        "torch": torch, "d": d, "k": k, "masked_tensor": made, "as_masked_tensor": torch.masked.as_masked_tensor,
        "is_masked_tensor": torch.masked.is_masked_tensor, "MaskedTensor": torch.masked.MaskedTensor, "leaf": leaf,
        "m": made(d, k), "m2": made(d + 1, k), "m3": made(d, ~k), "mi": made(torch.arange(6).reshape(2, 3), k),
        "e1": made(d, k & False), "g": made(d, k, requires_grad=True),
        "of_leaf": torch.masked.as_masked_tensor(leaf, k),
    }  # fmt: skip


def shown(torch: Any, expression: str) -> str:
    """Evaluate an expression and write down what it gives: of an error its class and its first words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = repr(eval(expression, scope(torch)))
        except Exception as error:
            kinds = {kind.__name__ for kind in type(error).__mro__} & {"TypeError", "ValueError", "RuntimeError"}
            return f"!! {min(kinds, default=str(type(error)))}: {' '.join(str(error).split()[:3])}"
    return re.sub(r"grad_fn=<\w+>", "grad_fn", text)
