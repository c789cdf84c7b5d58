"""Process groups of one process: made, asked and destroyed as scripts do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from enum import Enum
from typing import Any

from funcgrad._base.world import World, forget, make, need


class RedOpType(Enum):
    """How a reduction joins what the processes have; with one process each of them leaves it as it is."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __int__(self) -> int:
        return self.value


class _Members(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, RedOpType)


class ReduceOp(metaclass=_Members):
    """What holds the kinds of reductions: `ReduceOp.SUM`. Called with one of them it returns it."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR, PREMUL_SUM = RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR, RedOpType.PREMUL_SUM

    def __new__(cls, op: RedOpType) -> Any:
        """Return the kind itself."""
        return op


reduce_op = ReduceOp


class Backend(str):
    """The name of a communication library; none of them is needed."""

    GLOO, NCCL, MPI, UCC, XCCL, UNDEFINED = "gloo", "nccl", "mpi", "ucc", "xccl", "undefined"


class ProcessGroup:
    """A group with this process as its only member."""

    def rank(self) -> int:
        """Return 0."""
        return 0

    def size(self) -> int:
        """Return 1."""
        return 1


class GroupMember:
    """The group of all processes, and the mark of no group."""

    WORLD = ProcessGroup()
    NON_GROUP_MEMBER = -100


class group:  # noqa: N801 - torch's own spelling
    """The group of all processes."""

    WORLD = GroupMember.WORLD


def is_available() -> bool:
    """Tell that the module can be used."""
    return True


is_gloo_available = is_available


def is_nccl_available() -> bool:
    """Tell whether NCCL is used from Python: never, XLA uses it itself."""
    return False


is_mpi_available = is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """Tell whether a group may name this backend: only Gloo is said to be there."""
    return backend.lower() == Backend.GLOO


def is_torchelastic_launched() -> bool:
    """Tell whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_initialized() -> bool:
    """Tell whether a process group was made."""
    return World.backend is not None


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
    world_size: int = -1, rank: int = -1, store: Any = None, group_name: str = "", pg_options: Any = None,
    device_id: Any = None,
) -> None:  # fmt: skip
    """Make the process group of this one process; RuntimeError where a script asks for more than one."""
    if World.backend is not None:
        raise ValueError("trying to initialize the default process group twice!")
    size = world_size if world_size > 0 else int(os.environ.get("WORLD_SIZE", "1"))
    if rank > 0 and size == 1:
        raise ValueError(f"init_process_group(): there is no rank {rank} in a world of one process")
    if size != 1:
        raise RuntimeError(
            f"init_process_group(): {size} processes were asked for. funcgrad drives all devices of a machine from one "
            "process: start the script once, with world_size 1 (python -m funcgrad script.py, without torchrun)."
        )
    make((backend or "gloo").lower())


def destroy_process_group(group: Any = None) -> None:
    """Forget the process group (or leave it, where only a smaller one is destroyed). AssertionError: there is none."""
    if group is None or group is GroupMember.WORLD:
        if World.backend is None:
            raise AssertionError("Process group cannot be None")
        forget()


def get_rank(group: Any = None) -> int:
    """Return 0; ValueError before `init_process_group`."""
    need()
    return World.rank


def get_node_local_rank(fallback_rank: Any = None) -> int:
    """Return the rank on this machine that the launcher set as LOCAL_RANK; without one `fallback_rank`.

    RuntimeError where there is neither.
    """
    found = os.environ.get("LOCAL_RANK", fallback_rank)
    if found is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to "
            "work, assuming you are not running in a multi-device context and want the code to run locally instead."
        )
    return int(found)


def get_world_size(group: Any = None) -> int:
    """Return 1; ValueError before `init_process_group`."""
    need()
    return World.size


def get_backend(group: Any = None) -> str:
    """Return the backend's name that the script chose; ValueError before `init_process_group`."""
    need()
    return Backend(World.backend)


def get_default_backend_for_device(device: Any) -> str:
    """Return what torch would use for a device."""
    return "nccl" if str(device).startswith("cuda") else "gloo"


def new_group(ranks: Sequence[int] | None = None, *_: Any, **__: Any) -> Any:
    """Return a group of this process, or the mark of no group where there are none; ValueError for other ranks."""
    need()
    for rank in ranks or ():
        if rank != World.rank:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to 0 (world_size=1)")
    return ProcessGroup() if ranks is None or 0 in ranks else GroupMember.NON_GROUP_MEMBER


def new_subgroups(group_size: int | None = None, *_: Any, **__: Any) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Return the one group that there can be, alone and in a list; ValueError for more than one member."""
    if group_size is not None and group_size > World.size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({World.size})")
    made = new_group()
    return made, [made]


def get_process_group_ranks(group: Any = None) -> list[int]:
    """Return [0]."""
    return [0]


def get_global_rank(group: Any, group_rank: int) -> int:
    """Return 0."""
    return 0


get_group_rank = get_global_rank
