"""What the processes of a group do together; with one member each is at most a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base.world import World, need
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.names import synchronize
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.groups import ReduceOp


class Work:
    """A collective that was asked for with async_op: it is done."""

    def wait(self, timeout: Any = None) -> bool:
        """Tell that it is done."""
        return True

    is_completed = is_success = wait

    def get_future(self) -> Work:
        """Return itself."""
        return self


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def _copied(results: Sequence[Any], sources: Sequence[Any], async_op: bool) -> Work | None:
    need()
    if len(results) != len(sources):
        count = max(len(results), len(sources))
        raise RuntimeError(f"expected a list of one tensor, that of the one process, but got {count}")
    with no_grad():
        for result, source in zip(results, sources, strict=True):
            result.copy_(source)
    return _done(async_op)


def _check_root(rank: int | None, what: str) -> None:
    if rank not in (None, World.rank):
        raise RuntimeError(f"ProcessGroupGloo::{what}: invalid root rank: {rank}. There is one process, of rank 0.")


def _check(tensor: Any, op: Any = None) -> None:
    """TypeError for what is no tensor, or no kind of reduction."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "Invalid function argument. Expected parameter `tensor` of type torch.Tensor\n"
            f"             but got {type(tensor)} instead."
        )
    if op is not None and not isinstance(op, ReduceOp):
        raise TypeError(f"incompatible function arguments. ReduceOp is expected as op, but got {op!r}")


def all_reduce(tensor: Any, op: Any = None, group: Any = None, async_op: bool = False) -> Work | None:
    """Leave the tensor as it is: the sum, mean, least or greatest of one."""
    _check(tensor, op)
    need()
    return _done(async_op)


def broadcast(tensor: Any, src: int = 0, group: Any = None, async_op: bool = False, **_: Any) -> Work | None:
    """Leave the tensor as it is. RuntimeError for a rank that there is not, here and below."""
    _check(tensor)
    need()
    _check_root(src, "broadcast")
    return _done(async_op)


def reduce(tensor: Any, dst: int = 0, op: Any = None, group: Any = None, async_op: bool = False, **_: Any) -> Any:
    """Leave the tensor as it is."""
    _check(tensor, op)
    need()
    _check_root(dst, "reduce")
    return _done(async_op)


def all_gather(tensor_list: Sequence[Any], tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """Copy the tensor into the list's only one."""
    _check(tensor)
    for place, one in enumerate(tensor_list):
        if one.shape != tensor.shape:
            given, found = (f"({', '.join(map(str, x.shape))})" for x in (tensor, one))
            raise RuntimeError(
                f"ProcessGroupGloo::allgather: invalid tensor size at index {place} (expected {given}, got {found})"
            )
    return _copied(tensor_list, [tensor], async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the input into the output."""
    return _copied([output_tensor], [input_tensor.reshape(output_tensor.shape)], async_op)


def gather(
    tensor: Any, gather_list: Sequence[Any] | None = None, dst: int = 0, group: Any = None, async_op: bool = False,
    **_: Any,
) -> Work | None:  # fmt: skip
    """Copy the tensor into the list's only one."""
    _check_root(dst, "gather")
    return _copied(gather_list or [], [tensor] if gather_list else [], async_op)


def scatter(
    tensor: Any, scatter_list: Sequence[Any] | None = None, src: int = 0, group: Any = None, async_op: bool = False,
    **_: Any,
) -> Work | None:  # fmt: skip
    """Copy the list's only tensor into the tensor."""
    _check_root(src, "scatter")
    return _copied([tensor] if scatter_list else [], scatter_list or [], async_op)


def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: Any = None, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the list's only tensor into the output."""
    return _copied([output], input_list, async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = None, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the input into the output."""
    return _copied([output], [input.reshape(output.shape)], async_op)


def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy each input into its output."""
    return _copied(output_tensor_list, input_tensor_list, async_op)


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Copy the input into the output."""
    for sizes, tensor in ((output_split_sizes, output), (input_split_sizes, input)):
        if sizes and list(sizes) != [tensor.shape[0]]:
            raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return _copied([output], [input], async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait until the devices are idle."""
    need()
    synchronize()
    return _done(async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Wait until the devices are idle."""
    barrier()


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Any = None, device: Any = None) -> None:
    """Leave the list as it is."""
    need()
    _check_root(src, "broadcast_object_list")


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put the object into the list's only place."""
    need()
    object_list[0] = obj


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: Any = None, **_: Any
) -> None:
    """Put the object into the list's only place."""
    need()
    _check_root(dst, "gather_object")
    if object_gather_list is not None:
        object_gather_list[0] = obj


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any], src: int = 0, group: Any = None
) -> None:
    """Put the input list's only object into the output list."""
    need()
    _check_root(src, "scatter_object_list")
    scatter_object_output_list[0] = scatter_object_input_list[0]
