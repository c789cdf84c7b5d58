"""Process groups: made, asked and destroyed as scripts do. What is given to each other goes through a store."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

import numpy as np

from funcgrad._base.world import forget, make, need, world
from funcgrad._tensor.creation import zeros_like
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.constants import default_pg_timeout
from funcgrad.distributed.parcels import packed, reduced, unpacked, written
from funcgrad.distributed.stores import FileStore, PrefixStore, Store, TCPStore

_AGAIN = 0.001  # seconds between two looks at who has sent something


class Backend(str):
    """The name of a communication library, which is kept: a store connects the processes, whatever is named."""

    GLOO, NCCL, MPI, UCC, XCCL, UNDEFINED = "gloo", "nccl", "mpi", "ucc", "xccl", "undefined"


class ProcessGroup:
    """Some processes that do things together, in the order of `ranks` (of all); each leaves bytes for the others.

    All of them call the same collectives in the same order. rank: this process's among all.
    """

    def __init__(self, store: Store | None, ranks: Sequence[int], rank: int, name: str = "0") -> None:
        self.store, self.ranks, self.group_name = store, list(ranks), name
        self._rank = self.ranks.index(rank)
        self._turn, self._made = itertools.count(), itertools.count(1)
        self._sent: Counter[Any] = Counter()  # messages so far, by where they go and their tag
        self._received: Counter[Any] = Counter()

    def __reduce__(self) -> tuple[Any, ...]:
        if self is not world().group:
            raise TypeError("cannot pickle 'ProcessGroup' object")
        return _of_all, ()

    def rank(self) -> int:
        """Return this process's place in the group."""
        return self._rank

    def size(self) -> int:
        """Return how many processes are in the group."""
        return len(self.ranks)

    def name(self) -> str:
        """Return the name of what connects the processes."""
        return str(world().backend)

    def place_of(self, rank: int | None, place: int | None = None) -> int:
        """Return the place of a rank of all; `place` is given instead. ValueError: neither, or it is no member."""
        if place is not None:
            return place
        if rank not in self.ranks:
            raise ValueError(f"Global rank {rank} is not part of group {self.group_name}")
        return self.ranks.index(rank)

    def asked(self, given: bytes | None, sources: Sequence[int] | None = None) -> Callable[[], list[bytes]]:
        """Leave bytes (None: nothing) for all; return what waits for those that the members at `sources` left (all)."""
        if self.store is None:
            return lambda: [] if given is None else [given]
        turn, store = f"{self.group_name}/{next(self._turn)}", self.store
        if given is not None:
            store.set(f"{turn}/{self._rank}", given)
        places = range(self.size()) if sources is None else sources

        def wait() -> list[bytes]:
            found = [given if i == self._rank and given is not None else store.get(f"{turn}/{i}") for i in places]
            if store.add(f"{turn}/read", 1) == self.size():  # nobody needs them any more
                for key in (*map(str, range(self.size())), "read"):
                    store.delete_key(f"{turn}/{key}")
            return found

        return wait

    def exchange(self, given: bytes) -> list[bytes]:
        """Return what all members give, in their order."""
        return self.asked(given)()

    def told(self, given: Any) -> list[Any]:
        """Return what all members say, in their order: numbers, texts and lists of them."""
        return list(map(json.loads, self.exchange(json.dumps(given).encode())))

    def numbers(self, number: int) -> list[int]:
        """Return what number each member gives, in their order."""
        return self.told(number)

    def stacked(self, tensor: Tensor) -> Tensor:
        """Return the tensors of all members, which are of one shape, as a stack; nobody differentiates it."""
        found = [unpacked(sent)[0] for sent in self.exchange(packed([to_host(tensor)]))]
        return from_host(np.stack(found), device=tensor.device)

    def take_over(self, tensors: Sequence[Tensor], place: int = 0) -> None:
        """Replace tensors by those of a member, the first if no other place is given."""
        given = packed(list(map(to_host, tensors))) if self._rank == place else None
        sent = self.asked(given, [place])()
        if given is None:
            for tensor, array in zip(tensors, unpacked(sent[0]), strict=True):
                written(tensor, array)

    def average(self, parameters: Sequence[Tensor], count: int | None = None) -> None:
        """Put the mean in the place of each gradient that any member has; where one has none it counts as zeros.

        count: what the sums are divided by, if it is not the number of members.
        """
        own = {i: to_host(p.grad) for i, p in enumerate(parameters) if p.grad is not None}
        sent = self.exchange(packed([np.array([*own], np.int64), *own.values()]))
        found = [dict(zip(places.tolist(), arrays, strict=True)) for places, *arrays in map(unpacked, sent)]
        for i, parameter in enumerate(parameters):
            if given := [each[i] for each in found if i in each]:
                if parameter.grad is None:
                    parameter.grad = zeros_like(parameter)
                written(parameter.grad, reduced(None, given) / np.asarray(count or self.size(), given[0].dtype))

    def send(self, given: bytes, place: int, tag: int = 0) -> None:
        """Leave a message for one member."""
        assert self.store is not None, "a group of one has nobody to send to"
        self.store.set(self._message(self._rank, place, tag, self._sent), given)

    def receive(self, place: int | None, tag: int = 0) -> tuple[bytes, int]:
        """Return the next message of one member, or of any (None), and whose it is."""
        assert self.store is not None, "a group of one has nobody to receive from"
        if place is None:
            place = self._whoever_sent(tag)
        key = self._message(place, self._rank, tag, self._received)
        found = self.store.get(key)
        self.store.delete_key(key)
        return found, place

    def _whoever_sent(self, tag: int) -> int:
        assert self.store is not None
        others = [i for i in range(self.size()) if i != self._rank]
        while True:
            for i in others:
                if self.store.check([self._key(i, self._rank, tag, self._received[i, self._rank, tag])]):
                    return i
            time.sleep(_AGAIN)

    def _message(self, start: int, end: int, tag: int, counts: Counter[Any]) -> str:
        number = counts[start, end, tag]
        counts[start, end, tag] += 1
        return self._key(start, end, tag, number)

    def _key(self, start: int, end: int, tag: int, number: int) -> str:
        return f"{self.group_name}/{start}>{end}/{tag}/{number}"

    def part(self, ranks: Sequence[int]) -> ProcessGroup | int:
        """Return the group of some of these processes, or the mark of no group where this one is not among them."""
        name, own = f"{self.group_name}.{next(self._made)}", self.ranks[self._rank]
        if own not in ranks:
            return GroupMember.NON_GROUP_MEMBER
        return ProcessGroup(self.store if len(ranks) > 1 else None, ranks, own, name)


def _of_all() -> ProcessGroup | None:
    return world().group


class _World(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802 - torch's own spelling
        """The group of all processes; None where none was made."""
        return world().group


class GroupMember(metaclass=_World):
    """The group of all processes, and the mark of no group."""

    NON_GROUP_MEMBER = -100


class group(metaclass=_World):  # noqa: N801 - torch's own spelling
    """The group of all processes."""


def members(group: Any = None) -> ProcessGroup:
    """Return a group, that of all processes if None is given. ValueError: none was made, or this is no member."""
    need()
    found = world().group if group is None else group
    if not isinstance(found, ProcessGroup):
        raise ValueError("Invalid process group specified")
    return found


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
    return world().backend is not None


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
    world_size: int = -1, rank: int = -1, store: Store | None = None, group_name: str = "", pg_options: Any = None,
    device_id: Any = None,
) -> None:  # fmt: skip
    """Make the process group: of this process alone, or of as many as `world_size` or torchrun says.

    Processes are those of torchrun (`python -m funcgrad -m torch.distributed.run`), or of `multiprocessing`, which are
    threads. They meet at MASTER_ADDR and MASTER_PORT, at "tcp://host:port", or by a store. ValueError: there is a group
    already, or what is said of it is not enough; RuntimeError for other URLs; DistNetworkError: nobody is there.
    """
    here = world()
    if here.backend is not None:
        raise ValueError("trying to initialize the default process group twice!")
    url = urlsplit(init_method or "env://")
    if url.scheme not in ("env", "tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {url.scheme}://")
    told = parse_qs(url.query)
    size = world_size if world_size > 0 else int(told.get("world_size", [os.environ.get("WORLD_SIZE", "1")])[0])
    own = rank if rank >= 0 else int(told.get("rank", [os.environ.get("RANK", "-1" if size > 1 else "0")])[0])
    if own < 0:
        raise ValueError(_LACKS.format("RANK"))
    if own >= size:
        raise ValueError(
            f"init_process_group(): there is no rank {own} in a world of {size} process{'es' * (size > 1)}"
        )
    if size > 1:
        store = PrefixStore("default", store or _meeting(url, own, size, timeout or timedelta(minutes=5)))
        store.set_timeout(timeout or default_pg_timeout)
    made = ProcessGroup(store if size > 1 else None, range(size), own)
    make((backend or "gloo").lower(), made, own, size)


_LACKS = "Error initializing torch.distributed using env:// rendezvous: environment variable {} expected, but not set"


def _meeting(url: SplitResult, rank: int, size: int, timeout: timedelta) -> Store:
    """Return the store of a world of several processes."""
    if url.scheme == "file":
        return FileStore(url.path, size)
    host, port = url.hostname or os.environ.get("MASTER_ADDR"), url.port or os.environ.get("MASTER_PORT")
    for name, found in (("MASTER_ADDR", host), ("MASTER_PORT", port)):
        if not found:
            raise ValueError(_LACKS.format(name))
    return TCPStore(str(host), int(port or 0), size, rank == 0, timeout)


def destroy_process_group(group: Any = None) -> None:
    """Forget the process group (or leave it, where only a smaller one is destroyed). AssertionError: there is none."""
    if group is None or group is world().group:
        if world().backend is None:
            raise AssertionError("Process group cannot be None")
        forget()


def get_rank(group: Any = None) -> int:
    """Return this process's rank in a group, -1 where it is no member; ValueError before `init_process_group`."""
    return -1 if _is_no_member(group) else members(group).rank()


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
    """Return how many are in a group, -1 where this process is not; ValueError before `init_process_group`."""
    return -1 if _is_no_member(group) else members(group).size()


def _is_no_member(group: Any) -> bool:
    need()
    return isinstance(group, int) and group == GroupMember.NON_GROUP_MEMBER


def get_backend(group: Any = None) -> str:
    """Return the backend's name that the script chose; ValueError before `init_process_group`."""
    need()
    return Backend(world().backend)


def get_default_backend_for_device(device: Any) -> str:
    """Return what torch would use for a device."""
    return "nccl" if str(device).startswith("cuda") else "gloo"


def new_group(ranks: Sequence[int] | None = None, *_: Any, **__: Any) -> Any:
    """Return the group of some ranks (all), or the mark of no group to those that are not members.

    All processes call it. ValueError for ranks that there are not.
    """
    everyone = members()
    size = everyone.size()
    for rank in ranks or ():
        if not 0 <= rank < size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    return everyone.part(everyone.ranks if ranks is None else sorted(ranks))


def _rank_not_in_group(group: Any) -> bool:
    """Tell whether a group is the mark of no group: this process is in all others."""
    return _is_no_member(group)


def new_subgroups(
    group_size: int | None = None, group: Any = None, *_: Any, **__: Any
) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Return the group of this process and all groups, of `group_size` (all) consecutive ranks each.

    ValueError for a size that the number of processes is no multiple of.
    """
    size = members(group).size()
    each = size if group_size is None else group_size
    if each > size:
        raise ValueError(f"The arg 'group_size' ({each}) must not exceed the world size ({size})")
    if size % each:
        raise ValueError("The world size must be divisible by 'group_size'")
    made = [new_group(range(start, start + each)) for start in range(0, size, each)]
    return next(each for each in made if isinstance(each, ProcessGroup)), made


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]], *_: Any, **__: Any
) -> tuple[ProcessGroup | None, list[Any]]:
    """Return the group of this process (None: it is in none) and all groups, of these ranks each.

    ValueError for no groups, and for a rank in two of them.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen: dict[int, Sequence[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
    made = [new_group(ranks) for ranks in ranks_per_subgroup_list]
    return next((each for each in made if isinstance(each, ProcessGroup)), None), made


def get_process_group_ranks(group: Any = None) -> list[int]:
    """Return the ranks of a group's members."""
    return list(members(group).ranks)


def get_global_rank(group: Any, group_rank: int) -> int:
    """Return the rank among all of a member of a group. ValueError: there is none."""
    ranks = members(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: Any, global_rank: int) -> int:
    """Return the place in a group of a rank among all. ValueError: it is no member."""
    return members(group).place_of(global_rank)
