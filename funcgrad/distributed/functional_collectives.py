"""torch.distributed._functional_collectives: collectives that return what they make; with one process, their input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor.tensor import Tensor


class AsyncCollectiveTensor(Tensor):
    """Named for isinstance: what a collective returns is there at once, so none is made."""


def wait_tensor(tensor: Tensor) -> Tensor:
    """Return the tensor: it is there."""
    return tensor


def all_reduce(self: Tensor, reduceOp: str, group: Any = None, tag: str = "") -> Tensor:  # noqa: N803 - torch's name
    """Return the tensor: the sum, mean, least or greatest of one."""
    return self


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any = None, tag: str = "") -> Tensor:
    """Return the tensor: those of all processes, one after the other."""
    return self


all_gather_tensor_autograd = all_gather_tensor


def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group: Any = None, tag: str = ""  # noqa: N803 - torch's name
) -> Tensor:  # fmt: skip
    """Return the tensor: its only part."""
    return self


reduce_scatter_tensor_autograd = reduce_scatter_tensor


def all_to_all_single(
    self: Tensor, output_split_sizes: Sequence[int] | None = None, input_split_sizes: Sequence[int] | None = None,
    group: Any = None, tag: str = "",
) -> Tensor:  # fmt: skip
    """Return the tensor: what this process sends to itself."""
    return self


all_to_all_single_autograd = all_to_all_single


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: Any = None, tag: str = "") -> Tensor:
    """Return the tensor: what the one process sends to itself."""
    return self
