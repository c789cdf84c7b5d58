"""Orders that data are visited in: each drawn by one function, for whichever module is given to it as `torch`."""

from __future__ import annotations

import warnings
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


def pipes(torch: Any) -> Any:
    """Streams put together of others: their samples, lengths and texts."""
    torch.manual_seed(3)
    count = torch.utils.data.datapipes.iter.IterableWrapper(range(10))
    rows = torch.utils.data.datapipes.iter.IterableWrapper([(1, 2, 3), (4, 5, 6)])
    short = torch.utils.data.datapipes.iter.IterableWrapper(range(3))
    found = [
        count.map(negative), count.filter(is_even), count.shuffle(), count.shuffle(buffer_size=3).set_seed(7),
        count.shuffle().set_shuffle(False), count.batch(3), count.batch(3, drop_last=True), count.batch(3).batch(2),
        count.batch(3).batch(2).unbatch(-1), count.batch(2).shuffle(unbatch_level=1), short.zip(count),
        short.concat(count), count.map(negative).mux(short), count.groupby(third), rows.map(negative, input_col=1),
        count.groupby(third, group_size=2, keep_key=True), rows.map(added, input_col=[0, 2]),
        count.groupby(third, buffer_size=4, group_size=3, guaranteed_group_size=2),
        count.groupby(third, buffer_size=3, group_size=3, drop_remaining=True),
        rows.map(added, input_col=[0, 2], output_col=-1), rows.filter(is_even, input_col=1),
        *count.demux(2, is_even), torch.utils.data.datapipes.iter.Sampler(count),
    ]  # fmt: skip
    branches = [[list(branch) for branch in count.fork(3)], str(count.fork(2)[0]), str(found[0])]
    lengths = [told_of(lambda pipe=pipe: len(pipe)) for pipe in found]
    return [list(pipe) for pipe in found], branches, lengths, torch.rand(2).tolist()


def pipes_that_are_maps(torch: Any) -> Any:
    torch.manual_seed(3)
    letters = torch.utils.data.datapipes.map.SequenceWrapper("abcde")
    found = [letters.map(str.upper), letters.batch(2), letters.zip(letters.batch(3)), letters.concat(letters)]
    return [[*(pipe[i] for i in range(len(pipe)))] for pipe in found], list(letters.shuffle()), torch.rand(2).tolist()


def loaders_of_pipes(torch: Any) -> Any:
    """Workers share a stream out where `sharding_filter` says so, in one order that is drawn anew for each pass."""
    found = []
    for workers in (0, 2):
        for shuffle in (None, False, True):
            torch.manual_seed(3)
            pipe = torch.utils.data.datapipes.iter.IterableWrapper(range(11)).shuffle().sharding_filter().map(negative)
            loader = torch.utils.data.DataLoader(
                pipe, batch_size=2, shuffle=shuffle, num_workers=workers, persistent_workers=workers > 0
            )
            found.append([flat(loader), flat(loader), str(loader.dataset), len(loader), torch.rand(2).tolist()])
    return found


def refusals_of_pipes(torch: Any) -> Any:
    count = torch.utils.data.datapipes.iter.IterableWrapper(range(10))
    letters = torch.utils.data.datapipes.map.SequenceWrapper("abc")

    def read_two(one: Any, other: Any) -> None:
        first = iter(one)
        next(first)
        next(iter(other))
        next(first)

    def read_two_branches() -> None:
        one, _ = count.fork(2)
        read_two(one, one)

    asked: list[Callable[[], Any]] = [
        lambda: list(count.filter(negative)), lambda: list(count.batch(3).unbatch(5)), lambda: count.zip([1]),
        lambda: [list(branch) for branch in count.demux(2, negative)], lambda: count.fork(0), lambda: count.map(3),
        lambda: [list(branch) for branch in count.fork(2, buffer_size=2)], lambda: count.batch(0), lambda: count.absent,
        lambda: [list(branch) for branch in count.demux(2, is_even, buffer_size=2)], lambda: count.fork(2, copy="x"),
        lambda: list(count.groupby(third, buffer_size=3, group_size=3)), lambda: len(count.filter(is_even)),
        lambda: len(count.filter(is_even).map(negative)), lambda: read_two(count, count), lambda: count.map(added),
        lambda: read_two(*[count.shuffle()] * 2), read_two_branches, lambda: count.map(is_even, input_col=[0, 1]),
        lambda: list(count.map(negative).map(quotient).batch(2)), lambda: count.map(negative, output_col=1),
        lambda: letters.batch(2)[5], lambda: letters.zip(letters)[3], lambda: letters.concat()[3],
        lambda: torch.utils.data.DataLoader(count, sampler=[1]), lambda: letters.concat([1]),
        lambda: len(torch.utils.data.DataLoader(count.filter(is_even))),
        lambda: torch.utils.data.graph_settings.apply_sharding(count.sharding_filter().sharding_filter(), 2, 0),
        lambda: count.sharding_filter().apply_sharding(2, 2), lambda: torch.utils.data.graph.traverse_dps(3),
        lambda: torch.utils.data.functional_datapipe("map")(type(count)),
    ]  # fmt: skip
    return [told_of(ask) for ask in asked]


def told_of(ask: Callable[[], Any]) -> list[str]:
    """What a call warns of, and what it gives or raises."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            outcome = [str(ask())]
        except Exception as error:
            outcome = [type(error).__name__, *map(str, error.args)]
    return [*(str(warning.message) for warning in warned), *outcome]


def negative(x: Any) -> Any:
    return -x


def is_even(x: int) -> bool:
    return x % 2 == 0


def third(x: int) -> int:
    return x % 3


def added(x: int, y: int) -> int:
    return x + y


def quotient(x: int) -> float:
    return 1 / (x + 2)


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
    pipes,
    pipes_that_are_maps,
    loaders_of_pipes,
    refusals_of_pipes,
)
