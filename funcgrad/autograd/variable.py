"""Variable, torch's old spelling of a tensor."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor

__all__ = ["Variable"]


class _VariableType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """Old spelling: returns the tensor itself, as a leaf with requires_grad as given."""

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        tensor = data.detach() if requires_grad and not data.requires_grad else data
        return tensor.requires_grad_() if requires_grad and not data.requires_grad else tensor
