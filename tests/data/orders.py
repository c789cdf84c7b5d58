"""Orders that data are visited in: each drawn by one function, for whichever module is given to it as `torch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def flat(batches: Any) -> list[Any]:
    return [batch.tolist() for batch in batches]


def shuffled_loader(torch: Any) -> Any:
    torch.manual_seed(3)
    loader = torch.utils.data.DataLoader(list(range(11)), batch_size=4, shuffle=True)
    return [flat(loader) for _ in range(3)], torch.rand(2).tolist()


def unshuffled_loader(torch: Any) -> Any:
    torch.manual_seed(3)
    loader = torch.utils.data.DataLoader(list(range(5)), batch_size=2, drop_last=True)
    return flat(loader), torch.rand(2).tolist()


def loader_that_is_left_early(torch: Any) -> Any:
    torch.manual_seed(3)
    loader = torch.utils.data.DataLoader(list(range(9)), batch_size=2, shuffle=True)
    return [next(iter(loader)).tolist() for _ in range(3)], torch.rand(2).tolist()


def loader_with_a_generator(torch: Any) -> Any:
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(8)
    loader = torch.utils.data.DataLoader(list(range(11)), batch_size=4, shuffle=True, generator=generator)
    return [flat(loader) for _ in range(2)], torch.rand(2).tolist(), generator.initial_seed()


def loader_with_persistent_workers(torch: Any) -> Any:
    torch.manual_seed(3)
    data = torch.utils.data
    loader = data.DataLoader(list(range(11)), batch_size=2, shuffle=True, num_workers=2, persistent_workers=True)
    return [flat(loader) for _ in range(3)], torch.rand(2).tolist()


def loader_with_workers(torch: Any) -> Any:
    torch.manual_seed(3)
    loader = torch.utils.data.DataLoader(list(range(11)), batch_size=2, shuffle=True, num_workers=2)
    return [flat(loader) for _ in range(2)], torch.rand(2).tolist()


def random_sampler(torch: Any) -> Any:
    torch.manual_seed(3)
    sampler, data = torch.utils.data.RandomSampler, list(range(7))
    orders = [list(sampler(data, replacement=r, num_samples=n)) for r in (False, True) for n in (3, 7, 16, 40)]
    return orders, torch.rand(2).tolist()


def random_sampler_with_a_generator(torch: Any) -> Any:
    generator = torch.Generator().manual_seed(5)
    sampler, data = torch.utils.data.RandomSampler, list(range(7))
    orders = [list(sampler(data, replacement=r, generator=generator)) for r in (False, True)]
    return orders, torch.rand(2, generator=generator).tolist()


def subset_sampler(torch: Any) -> Any:
    torch.manual_seed(3)
    return list(torch.utils.data.SubsetRandomSampler([3, 5, 8, 13])), torch.rand(2).tolist()


def weighted_sampler(torch: Any) -> Any:
    torch.manual_seed(3)
    sampler = torch.utils.data.WeightedRandomSampler
    return [list(sampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5, replacement=r)) for r in (True, False)]


def split_by_lengths(torch: Any) -> Any:
    torch.manual_seed(3)
    parts = torch.utils.data.random_split(list(range(10)), [3, 7])
    return [list(part.indices) for part in parts], torch.rand(2).tolist()


def split_by_fractions(torch: Any) -> Any:
    generator = torch.Generator().manual_seed(42)
    parts = torch.utils.data.random_split(list(range(11)), [0.3, 0.3, 0.4], generator=generator)
    return [list(part.indices) for part in parts]


def distributed_sampler(torch: Any) -> Any:
    orders = []
    for drop_last in (False, True):
        for rank in range(3):
            sampler = torch.utils.data.DistributedSampler(list(range(10)), 3, rank, seed=4, drop_last=drop_last)
            for epoch in range(2):
                sampler.set_epoch(epoch)
                orders.append([*sampler, len(sampler)])
    return orders


def tiny_distributed_sampler(torch: Any) -> Any:
    return [list(torch.utils.data.DistributedSampler(range(2), 5, rank, shuffle=False)) for rank in range(5)]


ORDERS: tuple[Callable[[Any], Any], ...] = (
    shuffled_loader,
    unshuffled_loader,
    loader_that_is_left_early,
    loader_with_a_generator,
    loader_with_persistent_workers,
    loader_with_workers,
    random_sampler,
    random_sampler_with_a_generator,
    subset_sampler,
    weighted_sampler,
    split_by_lengths,
    split_by_fractions,
    distributed_sampler,
    tiny_distributed_sampler,
)
