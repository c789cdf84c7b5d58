"""torch.distributed._functional_collectives: collectives that return what they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base.world import world
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed import nn as collectives
from funcgrad.distributed.device_mesh import DeviceMesh
from funcgrad.distributed.groups import ProcessGroup
from funcgrad.distributed.reductions import ReduceOp


class AsyncCollectiveTensor(Tensor):
    """Named for isinstance: what a collective returns is there at once, so none is made."""


def wait_tensor(tensor: Tensor) -> Tensor:
    """Return the tensor: it is there."""
    return tensor


def all_reduce(self: Tensor, reduceOp: str, group: Any = None, tag: str = "") -> Tensor:  # noqa: N803 - torch's name
    """Return the sum (or "avg", "max", ...) of the tensors of all processes."""
    of = _group(group)
    return self if of is None else collectives.all_reduce(self, _kind(reduceOp), of)


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any = None, tag: str = "") -> Tensor:
    """Return the tensors of all processes, one after the other along a dimension."""
    of = _group(group)
    return self if of is None else fg.cat(collectives.all_gather(self, of), gather_dim)


all_gather_tensor_autograd = all_gather_tensor


def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group: Any = None, tag: str = ""  # noqa: N803 - torch's name
) -> Tensor:  # fmt: skip
    """Return this process's part, along a dimension, of the sum (or "avg", ...) of the tensors of all."""
    of = _group(group)
    return self if of is None else all_reduce(self, reduceOp, of).chunk(of.size(), scatter_dim)[of.rank()]


reduce_scatter_tensor_autograd = reduce_scatter_tensor


def all_to_all_single(
    self: Tensor, output_split_sizes: Sequence[int] | None = None, input_split_sizes: Sequence[int] | None = None,
    group: Any = None, tag: str = "",
) -> Tensor:  # fmt: skip
    """Return, one after the other, the rows that each process has for this one."""
    of = _group(group)
    return self if of is None else collectives.all_to_all_rows(self, output_split_sizes, input_split_sizes, of)


all_to_all_single_autograd = all_to_all_single


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: Any = None, tag: str = "") -> Tensor:
    """Return the tensor of the process from which this one is to have one: that of rank i goes to `src_dst[i]`."""
    of = _group(group)
    return self if of is None else collectives.all_gather(self, of)[list(src_dst).index(of.rank())]


def _group(group: Any) -> ProcessGroup | None:
    """Return a group of several processes, given as such or as a mesh of one dimension; None for others."""
    found = group.get_group() if isinstance(group, DeviceMesh) else world().group if group is None else group
    return found if isinstance(found, ProcessGroup) and found.size() > 1 else None


def _kind(name: str) -> Any:
    return ReduceOp.RedOpType[name.upper()]
