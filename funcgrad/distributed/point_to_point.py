"""What one process sends to another. With one process nobody is there, so what is asked for is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base.world import need, world
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.collectives import of_members
from funcgrad.distributed.groups import ProcessGroup, members
from funcgrad.distributed.parcels import packed, unpacked, written
from funcgrad.distributed.work import Work

_OBJECTS = -1  # the tag of lists of objects

_ALONE = "there is no other process to send to or to receive from: the process group has one member"


def _peer(group: Any, rank: int | None, place: int | None, *, sends: bool) -> tuple[ProcessGroup, int | None]:
    """Return the group, and the place in it of the other process (None: any that sends)."""
    found = members(group)
    word = "destination" if sends else "source"
    if world().rank == rank or (place is not None and found.rank() == place):
        raise ValueError(f"Invalid {word} rank: {word} rank should not be the same as the rank of the current process.")
    if found.size() == 1:
        raise RuntimeError(_ALONE)
    return found, None if rank is None and place is None else found.place_of(rank, place)


@of_members
def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to a process. ValueError where this one is named; RuntimeError: there is no other."""
    to, place = _peer(group, dst, group_dst, sends=True)
    to.send(packed([to_host(tensor)]), place or 0, tag)


@of_members
def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from a process, or any; returns its rank. ValueError where this one is named."""
    work = irecv(tensor, src, group, tag, group_src)
    work.wait()
    return work.source_rank()


def isend(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> Work:
    """Send a tensor to a process; it is on its way when this returns. RuntimeError: there is no other process."""
    need()
    send(tensor, dst, group, tag, group_dst)
    return Work()


def irecv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> Work:
    """Receive a tensor from a process, or any, by the time that it is waited for. RuntimeError: there is no other."""
    need()
    of, place = _peer(group, src, group_src, sends=False)
    came: list[int] = []

    def receive() -> None:
        sent, sender = of.receive(place, tag)
        came.append(of.ranks[sender])
        written(tensor, unpacked(sent)[0])

    return Work(receive, lambda: came[0])


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
    group_dst: int | None = None, **_: Any,
) -> None:  # fmt: skip
    """Send a list of objects to a process; they are pickled. Raises as `send` does."""
    to, place = _peer(group, dst, group_dst, sends=True)
    to.send(pickle.dumps(object_list), place or 0, _OBJECTS)


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None, **_: Any,
) -> int:  # fmt: skip
    """Receive a list of objects from a process, or any; returns its rank. Raises as `recv` does."""
    of, place = _peer(group, src, group_src, sends=False)
    sent, sender = of.receive(place, _OBJECTS)
    object_list[:] = pickle.loads(sent)
    return of.ranks[sender]


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
        of = members(group)
        if of.size() == 1:
            self.peer = self.group_peer = group_peer if peer is None else peer
        else:
            self.group_peer = of.place_of(peer, group_peer)
            self.peer = of.ranks[self.group_peer]

    def __repr__(self) -> str:
        ends = (world().rank, self.group_peer) if self.op is isend else (self.group_peer, world().rank)
        return (
            f"P2POp({self.op.__name__} pg=0, group_src={ends[0]}, group_dst={ends[1]},  {self.tensor.shape}, "
            f"{self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Start what is to be sent and received, and return what can be waited for.

    What is sent is sent before anything is waited for. RuntimeError: there is no other process. ValueError for what is
    no P2POp; IndexError for an empty list.
    """
    if not isinstance(p2p_op_list, list) or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if not p2p_op_list:
        raise IndexError("list index out of range")
    return [each.op(each.tensor, each.peer, each.group, each.tag) for each in p2p_op_list]
