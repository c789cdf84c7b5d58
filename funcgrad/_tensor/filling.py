"""What is written into a whole tensor by hand-written methods: a number, a diagonal, a Python function's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from funcgrad._ops.table import TABLE
from funcgrad._tape.nodes import rename_node
from funcgrad._tensor.call import call_in_place
from funcgrad._tensor.forms import refused_forms
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.refused_numbers import check_filling
from funcgrad._tensor.registry import both, function, method
from funcgrad._tensor.tensor import Tensor


@both()
def fill_(input: Tensor, value: Any) -> Tensor:
    """Make all elements one number."""
    if not isinstance(value, (Tensor, jax.Array, np.generic, np.ndarray, bool, int, float, complex)):
        raise refused_forms("fill_", [("", value)], is_method=True)
    check_filling(value, input)
    of_tensor = isinstance(value, Tensor)
    filled = call_in_place(TABLE["fill_tensor" if of_tensor else "fill"], (input, value))
    node = filled._variable.node if isinstance(filled, Tensor) else None
    if node is not None and node.name() in ("FillBackward0", "FillBackward1"):
        rename_node(node, "FillBackward3" if of_tensor else "FillBackward2")
    return filled


@function()
def zero_(input: Tensor) -> Tensor:
    """Make all elements 0."""
    return input.zero_()


@method()
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write one number on the main diagonal; `wrap` begins it anew in a tall matrix after each block of rows."""
    self._check_writable()
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    columns = self.shape[-1]
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(columns**d for d in range(self.ndim)) if self.ndim > 2 else columns + 1
    end = self.shape.numel() if wrap or self.ndim > 2 else columns * columns
    flat = np.zeros(self.shape.numel(), bool)
    flat[:end:step] = True
    mask = from_host(flat.reshape(self.shape), device=self.device)
    return call_in_place(TABLE["masked_fill"], (self, mask, fill_value))


@method()
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element by callable(element), one Python call each. RuntimeError if the tensor requires grad."""
    _refuse_history(self, "apply_")
    array = to_host(self.detach())
    return self.copy_(from_host(np.vectorize(callable, otypes=[array.dtype])(array)))


@method()
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace every element by callable(element, the other's element), one Python call each; refused as by `apply_`."""
    _refuse_history(self, "map_")
    array = to_host(self.detach())
    return self.copy_(from_host(np.vectorize(callable, otypes=[array.dtype])(array, to_host(tensor.detach()))))


@method()
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace every element by callable(element, x's element, y's), one Python call each; refused as by `apply_`."""
    _refuse_history(self, "map2_")
    array, others = to_host(self.detach()), (to_host(x.detach()), to_host(y.detach()))
    return self.copy_(from_host(np.vectorize(callable, otypes=[array.dtype])(array, *others)))


def _refuse_history(tensor: Tensor, name: str) -> None:
    if tensor.requires_grad:
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
