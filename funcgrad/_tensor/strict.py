"""Strict mode: raise where torch would, when a tensor that backward needs was modified in place since the forward.

Values never change here, so the gradient would be right all the same; scripts that must fail as in torch ask for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

from funcgrad._tape.variable import Variable
from funcgrad._tensor.tensor import Tensor


class Guard:
    """What one node saved: the names, and the values that they had."""

    __slots__ = ("names",)

    def __init__(self, names: list[tuple[Any, Variable]]) -> None:
        self.names = names

    def __call__(self) -> None:
        """Raise RuntimeError if one of the names stands for another value by now."""
        for name, saved in self.names:
            tensor = name()
            if tensor is None or tensor._current().value is saved.value:
                continue
            shape = ", ".join(map(str, saved.aval.shape))
            origin = "" if saved.node is None else f", which is output {saved.index} of {saved.node.name()},"
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{tensor.type()} [{shape}]]{origin} is at version 1; expected version 0 instead. Hint: enable "
                "anomaly detection to find the operation that failed to compute its gradient, with "
                "torch.autograd.set_detect_anomaly(True)."
            )


def guard(results: Sequence[Variable], inputs: Sequence[Any], variables: Sequence[Any]) -> None:
    """Let the node behind `results` remember which names its saved inputs had."""
    node = results[0].node
    saved = getattr(node, "saved", None)
    if saved:
        held = {id(v) for v in saved}
        names = [(ref(x), v) for x, v in zip(inputs, variables, strict=True) if isinstance(x, Tensor) and id(v) in held]
        node.metadata["guard"] = Guard(names)
        if any(x.is_inference() for x in inputs if isinstance(x, Tensor) and id(x._variable) in held):
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
            )
