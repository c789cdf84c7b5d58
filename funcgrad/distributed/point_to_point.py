"""What one process sends to another: with one process nobody is there, so what is asked for is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base.world import World, need
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.collectives import Work

_ALONE = "there is no other process to send to or to receive from: the process group has one member"


def send(tensor: Any, dst: int | None = None, *_: Any, group_dst: int | None = None, **__: Any) -> None:
    """Raise RuntimeError: there is no other process; ValueError where this one is named."""
    if World.rank in (dst, group_dst):
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the current process."
        )
    raise RuntimeError(_ALONE)


recv = send


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
    group_dst: int | None = None, **_: Any,
) -> None:  # fmt: skip
    """Raise as `send` does: ValueError where this process is named, else RuntimeError."""
    send(object_list, dst, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None, **_: Any,
) -> int:  # fmt: skip
    """Raise as `recv` does: ValueError where this process is named, else RuntimeError."""
    need()
    if World.rank in (src, group_src):
        raise ValueError("Invalid source rank: source rank should not be the same as the rank of the current process.")
    raise RuntimeError(_ALONE)


def isend(tensor: Any, *_: Any, **__: Any) -> Work:
    """Raise RuntimeError: there is no other process."""
    need()
    raise RuntimeError(_ALONE)


def irecv(tensor: Any, *_: Any, **__: Any) -> Work:
    """Raise RuntimeError: there is no other process."""
    need()
    raise RuntimeError(_ALONE)


class P2POp:
    """A tensor to be sent (`op` is `isend`) to a process, or received (`irecv`) from it."""

    def __init__(
        self, op: Callable[..., Any], tensor: Tensor, peer: int | None = None, group: Any = None, tag: int = 0,
        group_peer: int | None = None,
    ) -> None:  # fmt: skip
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Invalid function argument. Expected parameter `tensor` of type torch.Tensor\n             but got "
                f"{type(tensor)} instead."
            )
        need()
        if (peer is None) == (group_peer is None):
            raise ValueError("Must specify `group_rank` or `global_rank`" if peer is None else "Can't specify both")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.peer = self.group_peer = group_peer if peer is None else peer

    def __repr__(self) -> str:
        ends = (World.rank, self.group_peer) if self.op is isend else (self.group_peer, World.rank)
        return (
            f"P2POp({self.op.__name__} pg=0, group_src={ends[0]}, group_dst={ends[1]},  {self.tensor.shape}, "
            f"{self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Start what is to be sent and received, and return what can be waited for.

    RuntimeError: there is no other process. ValueError for what is no P2POp; IndexError for an empty list.
    """
    if not isinstance(p2p_op_list, list) or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if not p2p_op_list:
        raise IndexError("list index out of range")
    return [each.op(each.tensor, group_peer=each.group_peer, group=each.group, tag=each.tag) for each in p2p_op_list]
