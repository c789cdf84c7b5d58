"""How each process of several takes its own share of a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

from funcgrad._base.world import need, world
from funcgrad.utils.data import draws
from funcgrad.utils.data.sampler import Sampler


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index, starting at `rank`, of an order that all processes share.

    The order depends on `seed` and on the epoch given to `set_epoch`. The data is padded with its own beginning to a
    multiple of `num_replicas`, or cut down to one with `drop_last`.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            need()
        num_replicas = world().size if num_replicas is None else num_replicas
        rank = world().rank if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        share = len(dataset) / num_replicas
        self.num_samples = math.floor(share) if drop_last else math.ceil(share)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = draws.permutation(count, draws.seeded(self.seed + self.epoch)) if self.shuffle else list(range(count))
        if len(order) < self.total_size:
            order = (order * math.ceil(self.total_size / len(order)))[: self.total_size]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of this epoch; without it every epoch has the same one."""
        self.epoch = epoch
