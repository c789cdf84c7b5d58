"""Variable, torch's old spelling of a tensor."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from funcgrad._tape.modes import thread
from funcgrad._tensor.creation import zeros
from funcgrad._tensor.functions import typename
from funcgrad._tensor.tensor import Tensor

__all__ = ["Variable"]


class _Engine:
    """What scripts ask of torch's engine itself."""

    @staticmethod
    def queue_callback(callback: Callable[[], None]) -> None:
        """Call it when all gradients of the present backward pass are in place. RuntimeError outside of one."""
        if thread.running is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        thread.running.at_the_end.append(callback)


class _VariableType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """Old spelling: a new leaf that shares the memory of `data` and has no history, whatever `data` has.

    Without `data` it is empty. Raises TypeError where `data` is no tensor, RuntimeError where its dtype has no
    gradients.
    """

    _execution_engine = _Engine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool | None = None) -> Any:
        if volatile:
            message = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
            warnings.warn(message, UserWarning, stacklevel=2)
        if data is None:
            return zeros(0, requires_grad=requires_grad)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {typename(data)}")
        return data.detach().requires_grad_(requires_grad)
