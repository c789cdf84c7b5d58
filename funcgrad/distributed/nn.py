"""torch.distributed.nn.functional: collectives through which gradients go; with one process, at most in a tuple."""

from __future__ import annotations

from typing import Any

from funcgrad._base.world import need
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """Return the tensors of all processes: this one."""
    need()
    return (fg.clone(tensor),)


def all_reduce(tensor: Tensor, op: Any = None, group: Any = None) -> Tensor:
    """Return the sum, mean, least or greatest of one: a copy."""
    need()
    return fg.clone(tensor)


def broadcast(tensor: Tensor, src: int = 0, group: Any = None) -> Tensor:
    """Return a copy of the tensor of the one process."""
    need()
    return fg.clone(tensor)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """Return the tensors of all processes: this one."""
    return all_gather(tensor)


def reduce(tensor: Tensor, dst: int = 0, op: Any = None, group: Any = None) -> Tensor:
    """Return the sum of one: a copy."""
    return all_reduce(tensor)
