"""Functions that torch has under `torch.ops.aten` alone, beneath its methods: alias, index, _to_copy, _pin_memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor.conversions import to
from funcgrad._tensor.indexing import get_item
from funcgrad._tensor.registry import function
from funcgrad._tensor.tensor import Tensor


@function("ops.aten.alias")
def alias(input: Tensor) -> Tensor:
    """Return a view of the whole tensor."""
    return get_item(input, ...)


@function("ops.aten.index")
def index(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Return what tensors of places select, one for each dimension; None stands for a whole one."""
    return get_item(input, tuple(slice(None) if places is None else places for places in indices))


@function("ops.aten._to_copy")
def to_copy(
    input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    non_blocking: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Return a copy, in another dtype or on another device where they are given."""
    return to(input, dtype=dtype, device=device, copy=True, memory_format=memory_format)


@function("ops.aten._pin_memory")
def pin_memory(input: Tensor, device: Any = None) -> Tensor:
    """Return the tensor itself, as Tensor.pin_memory does: XLA moves it from where it is."""
    return input
