"""What the processes of a group do together. All of them call it; `async_op`: what is returned is to be waited for."""

from __future__ import annotations

import functools
import inspect
import pickle
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from funcgrad._base.world import world
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.names import synchronize
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.groups import GroupMember, ProcessGroup, members
from funcgrad.distributed.parcels import Array, packed, reduced, unpacked, written
from funcgrad.distributed.reductions import ReduceOp
from funcgrad.distributed.work import Work, ended


def _check(tensor: Any, op: Any = None, name: str = "tensor") -> None:
    """TypeError for what is no tensor, or no kind of reduction."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(tensor)} instead."
        )
    if op is not None and not isinstance(op, ReduceOp):
        raise TypeError(f"incompatible function arguments. ReduceOp is expected as op, but got {op!r}")


def _check_list(tensors: Any, name: str) -> None:
    """TypeError for what is no list of tensors."""
    if not isinstance(tensors, list):
        found = f"{type(tensors)} instead"
    elif not all(isinstance(tensor, Tensor) for tensor in tensors):
        found = f"{type(tensors)} with elements of type {[type(tensor) for tensor in tensors]}"
    else:
        return
    raise TypeError(
        f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
        f"             but got {found}."
    )


def _check_dtypes(*tensors: Tensor) -> None:
    """ValueError for tensors of several dtypes."""
    for tensor in tensors:
        if tensor.dtype != tensors[0].dtype:
            raise ValueError(
                f"Invalid usage of tensors with different dtypesFound {tensors[0].dtype} and  {tensor.dtype}"
            )


def _root(group: ProcessGroup, what: str, rank: int | None, place: int | None) -> int:
    """Return the place in a group of the one that gives or gets; 0 where nobody is named."""
    if place is None and rank is not None and rank not in group.ranks:
        raise RuntimeError(f"ProcessGroupGloo::{what}: invalid root rank: {rank}")
    return 0 if rank is None and place is None else group.place_of(rank, place)


def _counted(found: Sequence[Any], group: ProcessGroup) -> Sequence[Any]:
    if len(found) != group.size():
        plural = "s" * (group.size() > 1)
        raise RuntimeError(
            f"expected a list of {group.size()} tensor{plural}, one for each process, but got {len(found)}"
        )
    return found


def _parts(tensor: Tensor, sizes: Sequence[int] | None, group: ProcessGroup) -> list[int]:
    """Return where a tensor's rows are split: evenly, or into parts of these sizes."""
    rows = tensor.shape[0]
    if sizes:
        if len(sizes) != group.size():
            raise RuntimeError("Number of tensor splits not equal to group size")
        if sum(sizes) != rows:
            raise RuntimeError("Split sizes doesn't match total dim 0 size")
        return list(np.cumsum(sizes)[:-1])
    if rows % group.size():
        raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
    return [rows // group.size() * i for i in range(1, group.size())]


Collective = TypeVar("Collective", bound=Callable[..., Any])


def of_members(collective: Collective) -> Collective:
    """Let a collective do nothing, with torch's warning, in a process that is no member of its group."""
    signature = inspect.signature(collective)

    @functools.wraps(collective)
    def called(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options).arguments.get("group")
        if isinstance(given, int) and given == GroupMember.NON_GROUP_MEMBER:
            warnings.warn(
                f"Running {collective.__name__} on global rank {world().rank} which does not belong to the given "
                "group.",
                stacklevel=2,
            )
            return None
        return collective(*args, **options)

    return cast("Collective", called)


@of_members
def all_reduce(tensor: Any, op: Any = None, group: Any = None, async_op: bool = False) -> Work | None:
    """Replace the tensor by the sum (or `op`) of those of all processes."""
    _check(tensor, op)
    group = members(group)
    if group.size() == 1:
        return ended(lambda: None, async_op, [tensor])
    wait = group.asked(packed([to_host(tensor)]))
    return ended(lambda: written(tensor, reduced(op, _each(wait))), async_op, [tensor])


@of_members
def broadcast(
    tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Replace the tensor by that of the process `src`. RuntimeError for a rank that there is not, here and below."""
    _check(tensor)
    group = members(group)
    place = _root(group, "broadcast", src, group_src)
    gives = group.rank() == place
    wait = group.asked(packed([to_host(tensor)]) if gives else None, [place])
    return ended(lambda: wait() if gives else written(tensor, unpacked(wait()[0])[0]), async_op, [tensor])


@of_members
def reduce(
    tensor: Any, dst: int | None = None, op: Any = None, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Replace the tensor of the process `dst` by the sum (or `op`) of all."""
    _check(tensor, op)
    group = members(group)
    place = _root(group, "reduce", dst, group_dst)
    gets = group.rank() == place and group.size() > 1
    wait = group.asked(packed([to_host(tensor)]), None if gets else [])
    return ended(lambda: written(tensor, reduced(op, _each(wait))) if gets else wait(), async_op, [tensor])


@of_members
def all_gather(tensor_list: Sequence[Any], tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    """Copy the tensors of all processes into the list's."""
    _check_list(tensor_list, "tensor_list")
    _check(tensor)
    _check_dtypes(*tensor_list, tensor)
    group = members(group)
    for place, one in enumerate(_counted(tensor_list, group)):
        if one.shape != tensor.shape:
            given, found = (f"({', '.join(map(str, x.shape))})" for x in (tensor, one))
            raise RuntimeError(
                f"ProcessGroupGloo::allgather: invalid tensor size at index {place} (expected {given}, got {found})"
            )
    wait = group.asked(packed([to_host(tensor)]))
    return ended(lambda: _all_written(tensor_list, _each(wait)), async_op, tensor_list)


def _each(wait: Callable[[], list[bytes]], place: int = 0) -> list[Array]:
    """Wait, and return what each process has at a place of its list."""
    return [unpacked(sent)[place] for sent in wait()]


def _all_written(tensors: Sequence[Tensor], arrays: Sequence[Array]) -> None:
    for tensor, array in zip(tensors, arrays, strict=True):
        written(tensor, array)


@of_members
def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the inputs of all processes into the output, one after the other or as a stack."""
    _check(input_tensor, name="input_tensor")
    _check(output_tensor, name="output_tensor")
    _check_dtypes(output_tensor, input_tensor)
    group = members(group)
    wait = group.asked(packed([to_host(input_tensor)]))
    return ended(lambda: written(output_tensor, np.stack(_each(wait))), async_op, [output_tensor])


@of_members
def gather(
    tensor: Any, gather_list: Sequence[Any] | None = None, dst: int | None = None, group: Any = None,
    async_op: bool = False, group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Copy the tensors of all processes into the list's of the process `dst`."""
    _check(tensor)
    group = members(group)
    gets = group.rank() == _root(group, "gather", dst, group_dst)
    _check_gathered(gather_list, gets)
    _check_dtypes(tensor, *(gather_list or []))
    results = _counted(gather_list or [], group) if gets else []
    wait = group.asked(packed([to_host(tensor)]), None if gets else [])
    return ended(lambda: _all_written(results, _each(wait)), async_op, results)


def _check_gathered(gathered: Any, gets: bool) -> None:
    """ValueError for a list where this process gets nothing, and for none where it does."""
    if gets and not gathered:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if gathered and not gets:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")


@of_members
def scatter(
    tensor: Any, scatter_list: Sequence[Any] | None = None, src: int | None = None, group: Any = None,
    async_op: bool = False, group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """Copy into the tensor the one that the process `src` has for this process in its list."""
    _check(tensor)
    group = members(group)
    place = _root(group, "scatter", src, group_src)
    given = None
    if group.rank() == place:
        if scatter_list is None:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        given = packed(list(map(to_host, _counted(scatter_list, group))))
    wait = group.asked(given, [place])
    return ended(lambda: written(tensor, unpacked(wait()[0])[group.rank()]), async_op, [tensor])


@of_members
def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: Any = None, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy into the output the sum (or `op`) of what all processes have for this one in their lists."""
    _check(output, op, "output")
    _check_list(input_list, "input_list")
    _check_dtypes(output, *input_list)
    group = members(group)
    wait = group.asked(packed(list(map(to_host, _counted(input_list, group)))))
    return ended(lambda: written(output, reduced(op, _each(wait, group.rank()))), async_op, [output])


@of_members
def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = None, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy into the output this process's part of the sum (or `op`) of all inputs."""
    _check(output, op, "output")
    _check(input, name="input")
    group = members(group)
    array = to_host(input)
    parts = np.split(array, group.size()) if array.shape[0] % group.size() == 0 else [array]
    return reduce_scatter(output, list(map(from_host, parts)), op, group, async_op)


@of_members
def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy into each output what that process has for this one among its inputs."""
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    _check_dtypes(*output_tensor_list, *input_tensor_list)
    group = members(group)
    results = _counted(output_tensor_list, group)
    wait = group.asked(packed(list(map(to_host, _counted(input_tensor_list, group)))))
    return ended(lambda: _all_written(results, _each(wait, group.rank())), async_op, results)


@of_members
def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Put into the output, one after the other, what each process has for this one among its input's rows."""
    _check(output, name="output")
    _check(input, name="input")
    _check_dtypes(output, input)
    group = members(group)
    _parts(output, output_split_sizes, group)
    wait = group.asked(packed(np.split(to_host(input), _parts(input, input_split_sizes, group))))
    return ended(lambda: written(output, np.concatenate(_each(wait, group.rank()))), async_op, [output])


@of_members
def all_reduce_coalesced(tensors: Sequence[Any], op: Any = None, group: Any = None, async_op: bool = False) -> Any:
    """Replace each tensor by the sum (or `op`) of those of all processes."""
    works = [all_reduce(tensor, op, group, async_op=True) for tensor in tensors]
    return ended(lambda: [work.wait() for work in works if work is not None], async_op)


@of_members
def all_gather_coalesced(
    output_tensor_lists: Sequence[Sequence[Any]], input_tensor_list: Sequence[Any], group: Any = None,
    async_op: bool = False,
) -> Any:  # fmt: skip
    """Copy each tensor of all processes into its list."""
    pairs = zip(output_tensor_lists, input_tensor_list, strict=True)
    works = [all_gather(results, tensor, group, async_op=True) for results, tensor in pairs]
    return ended(lambda: [work.wait() for work in works if work is not None], async_op)


@of_members
def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait until the devices are idle, and all processes are here."""
    group = members(group)
    synchronize()
    return ended(group.asked(b""), async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Wait until the devices are idle, and all processes are here."""
    barrier(group)


@of_members
def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """Replace the objects of the list by those of the process `src`; they are pickled."""
    group = members(group)
    place = _root(group, "broadcast_object_list", src, group_src)
    gives = group.rank() == place and group.size() > 1
    found = group.asked(pickle.dumps(object_list) if gives else None, [place])() if group.size() > 1 else []
    if found and not gives:
        object_list[:] = pickle.loads(found[0])


@of_members
def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put the objects of all processes into the list; they are pickled."""
    group = members(group)
    object_list[: group.size()] = _objects(group, obj)


def _objects(group: ProcessGroup, obj: Any) -> list[Any]:
    return [obj] if group.size() == 1 else list(map(pickle.loads, group.exchange(pickle.dumps(obj))))


@of_members
def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """Put the objects of all processes into the list of the process `dst`; they are pickled."""
    group = members(group)
    gets = group.rank() == _root(group, "gather_object", dst, group_dst)
    _check_gathered(object_gather_list, gets)
    found = _objects(group, obj)
    if gets and object_gather_list is not None:
        object_gather_list[:] = found


@of_members
def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None, src: int | None = None,
    group: Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """Put into the output list the object that the process `src` has for this one in its input list."""
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    group = members(group)
    place = _root(group, "scatter_object_list", src, group_src)
    if group.rank() == place and scatter_object_input_list is None:
        raise ValueError("source rank must provide non-None scatter_object_input_list")
    lists = [scatter_object_input_list]
    if group.size() > 1:
        given = pickle.dumps(scatter_object_input_list) if group.rank() == place else None
        lists = list(map(pickle.loads, group.asked(given, [place])()))
    scatter_object_output_list[0] = (lists[0] or [])[group.rank()]


__all__ = [
    "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "broadcast", "broadcast_object_list",
    "gather", "gather_object", "monitored_barrier", "of_members", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "scatter", "scatter_object_list",
]  # fmt: skip
