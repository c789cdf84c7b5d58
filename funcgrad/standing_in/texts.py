"""torch._tensor_str: the numbers of a tensor as its repr shows them, and the options by which they are written."""

from __future__ import annotations

from funcgrad._tensor.interop import to_host
from funcgrad._tensor.printing import OPTIONS as PRINT_OPTS
from funcgrad._tensor.printing import format_values
from funcgrad._tensor.tensor import Tensor

__all__ = ["PRINT_OPTS", "_tensor_str"]


def _tensor_str(self: Tensor, indent: int) -> str:
    """Return the numbers in brackets, for a text whose first bracket stands at the column `indent`."""
    return format_values(to_host(self), indent)
