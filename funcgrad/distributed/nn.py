"""torch.distributed.nn.functional: collectives through which gradients go. With one process each is a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import funcgrad.distributed.collectives as plain
from funcgrad._tensor.creation import empty_like, zeros_like
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd import Function
from funcgrad.distributed.groups import ProcessGroup, members

Sizes: TypeAlias = "Sequence[int] | None"


class _AllReduce(Function):
    """The sum of all; its gradient is the sum of all gradients."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, op: Any, group: ProcessGroup) -> Tensor:
        ctx.op, ctx.group = op, group
        result = tensor.clone()
        plain.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _AllReduce.apply(gradient, ctx.op, ctx.group), None, None


class _AllGather(Function):
    """The tensors of all; the gradient of each is the sum of those that all have for it."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, group: ProcessGroup) -> tuple[Tensor, ...]:
        ctx.group = group
        results = [empty_like(tensor) for _ in range(group.size())]
        plain.all_gather(results, tensor, group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        result = empty_like(gradients[0])
        plain.reduce_scatter(result, list(gradients), None, ctx.group)
        return result, None


class _Reduce(Function):
    """The sum of all for one, whose gradient is that of all."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, place: int, op: Any, group: ProcessGroup) -> Tensor:
        ctx.place, ctx.group = place, group
        result = tensor.clone()
        plain.reduce(result, None, op, group, group_dst=place)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _Broadcast.apply(gradient, ctx.place, ctx.group), None, None, None


class _Broadcast(Function):
    """The tensor of one for all; its gradient is the sum of all gradients, and others have none."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, place: int, group: ProcessGroup) -> Tensor:
        ctx.place, ctx.group = place, group
        result = tensor.clone()
        plain.broadcast(result, None, group, group_src=place)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        summed = _Reduce.apply(gradient, ctx.place, None, ctx.group)
        return summed if ctx.group.rank() == ctx.place else zeros_like(gradient), None, None


class _Gather(Function):
    """The tensors of all for one, zeros for others; gradients are those that the one has."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, place: int, group: ProcessGroup) -> tuple[Tensor, ...]:
        ctx.place, ctx.group = place, group
        results = [zeros_like(tensor) for _ in range(group.size())]
        plain.gather(tensor, results if group.rank() == place else None, None, group, group_dst=place)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        result, gives = empty_like(gradients[0]), ctx.group.rank() == ctx.place
        plain.scatter(result, list(gradients) if gives else None, None, ctx.group, group_src=ctx.place)
        return result, None, None


class _AllToAll(Function):
    """The rows that each has for this one; gradients go back to whom the rows are from."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, output: Sizes, input: Sizes, group: ProcessGroup) -> Tensor:
        ctx.output, ctx.input, ctx.group = output, input, group
        result = tensor.new_empty((sum(output) if output else tensor.shape[0], *tensor.shape[1:]))
        plain.all_to_all_single(result, tensor, output, input, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _AllToAll.apply(gradient, ctx.input, ctx.output, ctx.group), None, None, None


def all_to_all_rows(tensor: Tensor, output_sizes: Sizes, input_sizes: Sizes, group: Any = None) -> Tensor:
    """Return, one after the other, the rows that each process has for this one; sizes: how many, evenly if None."""
    return _AllToAll.apply(tensor, output_sizes, input_sizes, members(group))


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """Return the tensors of all processes, each of the tensor's shape."""
    return _AllGather.apply(tensor, members(group))


def all_reduce(tensor: Tensor, op: Any = None, group: Any = None) -> Tensor:
    """Return the sum (or `op`, one of `ReduceOp`) of the tensors of all processes."""
    return _AllReduce.apply(tensor, op, members(group))


def broadcast(tensor: Tensor, src: int = 0, group: Any = None) -> Tensor:
    """Return the tensor of the process `src`."""
    of = members(group)
    return _Broadcast.apply(tensor, of.place_of(src), of)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """Return the tensors of all processes in the process `dst`, zeros in others."""
    of = members(group)
    return _Gather.apply(tensor, of.place_of(dst), of)


def reduce(tensor: Tensor, dst: int = 0, op: Any = None, group: Any = None) -> Tensor:
    """Return the sum (or `op`) of the tensors of all processes in the process `dst`, in others their own."""
    of = members(group)
    return _Reduce.apply(tensor, of.place_of(dst), op, of)
