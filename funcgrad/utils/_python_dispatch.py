"""torch.utils._python_dispatch: which classes of tensors say what they are made of."""

from __future__ import annotations

from funcgrad._tensor.tensor import Tensor

__all__ = ["is_traceable_wrapper_subclass", "is_traceable_wrapper_subclass_type"]


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether this is a tensor of a class of its own that comes apart by `__tensor_flatten__`, and together again."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether tensors of this class come apart by `__tensor_flatten__`, and together again."""
    is_own = issubclass(t, Tensor) and t is not Tensor
    return is_own and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
