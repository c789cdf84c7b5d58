"""torch.utils._python_dispatch: modes that see aten's functions, and which classes say what they are made of."""

from __future__ import annotations

from typing import Any

from funcgrad._base.rooms import imported
from funcgrad._tensor.tensor import Tensor

__all__ = ["is_traceable_wrapper_subclass", "is_traceable_wrapper_subclass_type"]
_OF_MODES = {
    "TorchDispatchMode": "TorchDispatchMode", "BaseTorchDispatchMode": "BaseTorchDispatchMode",
    "_disable_current_modes": "no_modes", "_get_current_dispatch_mode": "current_mode",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _OF_MODES:
        return getattr(imported("funcgrad.dispatching.modes"), _OF_MODES[name])
    raise AttributeError(f"module 'torch.utils._python_dispatch' has no attribute {name!r}")


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether this is a tensor of a class of its own that comes apart by `__tensor_flatten__`, and together again."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether tensors of this class come apart by `__tensor_flatten__`, and together again."""
    is_own = issubclass(t, Tensor) and t is not Tensor
    return is_own and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
