"""How an expression about nested tensors is evaluated, in torch (to record) or funcgrad (to test), and written."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDED = HERE / "recorded" / "nested.json"


def expressions() -> list[str]:
    """Return the expressions of `expressions.txt`, in order."""
    return [line for line in (HERE / "expressions.txt").read_text().splitlines() if line and not line.startswith("#")]


def heads(x: Any) -> Any:
    """Split the last dimension in two heads of four, as attention does."""
    return x.unflatten(-1, [2, 4]).transpose(1, 2)


def scope(torch: Any) -> dict[str, Any]:
    """Return the names that the expressions use."""
    nn, nested, jagged = torch.nn, torch.nested, torch.jagged
    a, b = torch.arange(6.0).reshape(2, 3), torch.arange(9.0).reshape(3, 3) + 10
    wide = [torch.arange(16.0).reshape(2, 8) / 10, torch.arange(24.0).reshape(3, 8) / 10]
    ids = nested.nested_tensor([torch.tensor([1, 2]), torch.tensor([3, 4, 0])], layout=jagged)
    linear, table, padded = nn.Linear(3, 4), nn.Embedding(5, 4), torch.arange(24.0).reshape(2, 4, 3)
    with torch.no_grad():
        linear.weight.copy_(torch.arange(12.0).reshape(4, 3) / 10)
        linear.bias.fill_(0.5)
        table.weight.copy_(torch.arange(20.0).reshape(5, 4))
    return {
        "torch": torch, "nn": nn, "F": nn.functional, "a": a, "b": b, "heads": heads, "ids": ids, "emb": table,
        "nt": nested.nested_tensor([a, b], layout=jagged), "nt2": nested.nested_tensor([a, b], layout=jagged),
        "g": nested.nested_tensor([a, b], layout=jagged, requires_grad=True), "lin": linear, "ln": nn.LayerNorm(3),
        "n4": nested.nested_tensor([a.reshape(2, 3, 1), b.reshape(3, 3, 1)], layout=jagged), "base": padded[0],
        "w": torch.arange(12.0).reshape(3, 4), "off": torch.tensor([0, 1, 4]), "lens": torch.tensor([1, 2]),
        "pad": padded, "nar": nested.narrow(padded, 1, 0, torch.tensor([2, 3]), layout=jagged),
        "q": nested.nested_tensor(wide, layout=jagged, requires_grad=True),
        "k": nested.nested_tensor(wide[::-1], layout=jagged), "sd": nn.functional.scaled_dot_product_attention,
        "st": nested.nested_tensor([a, b]), "st2": nested.nested_tensor([a, b.T]),
        "sg": nested.nested_tensor([a, b], requires_grad=True),
    }  # fmt: skip


def shown(torch: Any, expression: str) -> str:
    """Evaluate an expression and write down what it gives: of an error its class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return written(torch, eval(expression, scope(torch)))
        except Exception as error:
            return f"!! {type(error).__name__}"


def written(torch: Any, value: Any) -> str:
    """Write a value down without what is counted or named otherwise: symbols, addresses, nodes."""
    text = repr(value)
    if isinstance(value, torch.Tensor) and value.is_nested and value.layout is torch.jagged:
        text += f" of {value.values().detach()!r}"
    text = re.sub(r"\bj\d+", "j", text)
    return re.sub(r"grad_fn=<\w+( object at 0x[0-9a-f]+)?>", "grad_fn", text)
