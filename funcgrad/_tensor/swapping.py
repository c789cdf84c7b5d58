"""swap_tensors: two names change places, with all that is known of them; who held the one holds the other."""

from __future__ import annotations

from weakref import ref

from funcgrad._tensor.tensor import Tensor

__all__ = ["swap_tensors"]
_PARTS = ("__class__", "__dict__", "_alias", "_made_in_inference", "_slot", "_variable", "_writes")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Let each of two tensors be what the other one was: class, attributes, numbers, gradient and history."""
    if not isinstance(t1, Tensor) or not isinstance(t2, Tensor):
        raise TypeError(f"swap_tensors: expected two Tensors, got {type(t1).__name__} and {type(t2).__name__}")
    for part in _PARTS:
        first, second = getattr(t1, part), getattr(t2, part)
        setattr(t1, part, second)
        setattr(t2, part, first)
    for tensor in (t1, t2):
        if tensor._slot is not None:
            tensor._slot.owner = ref(tensor)
