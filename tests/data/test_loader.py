"""The DataLoader: batches, lengths, streams, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.utils.data import BatchSampler, DataLoader, Dataset, SequentialSampler, dataloader, get_worker_info
from tests.data.test_datasets import Count, Squares


def values(loader: DataLoader) -> list:
    return [batch.tolist() for batch in loader]


def test_samples_come_in_batches_and_the_last_may_be_short() -> None:
    assert values(DataLoader(Squares(5), batch_size=2)) == [[0, 1], [4, 9], [16]]
    assert values(DataLoader(Squares(5), batch_size=2, drop_last=True)) == [[0, 1], [4, 9]]
    assert values(DataLoader(Squares(2))) == [[0], [1]]


def test_the_length_is_the_number_of_batches() -> None:
    assert len(DataLoader(Squares(5), batch_size=2)) == 3
    assert len(DataLoader(Squares(5), batch_size=2, drop_last=True)) == 2
    assert len(DataLoader(Squares(5), batch_size=None)) == 5
    assert len(DataLoader(Count(0, 5), batch_size=2)) == 3
    assert len(iter(DataLoader(Squares(5), batch_size=2))) == 3


def test_without_a_batch_size_samples_come_as_they_are() -> None:
    assert list(DataLoader(Squares(3), batch_size=None)) == [0, 1, 4]
    (sample,) = DataLoader([np.zeros(2)], batch_size=None)
    assert isinstance(sample, torch.Tensor)


def test_streams_are_cut_into_batches() -> None:
    assert values(DataLoader(Count(0, 5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert values(DataLoader(Count(0, 5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Count(0, 3), batch_size=None)) == [0, 1, 2]


def test_a_sampler_or_batch_sampler_of_ones_own_is_followed() -> None:
    assert values(DataLoader(Squares(5), batch_size=2, sampler=[4, 0, 2])) == [[16, 0], [4]]
    assert values(DataLoader(Squares(5), batch_sampler=[[3], [1, 2]])) == [[9], [1, 4]]
    loader = DataLoader(Squares(4), batch_sampler=BatchSampler(SequentialSampler(Squares(4)), 3, False))
    assert loader.batch_size is None
    assert len(loader) == 2


def test_a_dataset_may_fetch_a_whole_batch() -> None:
    class AtOnce(Squares):
        def __getitems__(self, indices):
            return [100 * i for i in indices]

    assert values(DataLoader(AtOnce(4), batch_size=4)) == [[0, 100, 200, 300]]


def test_a_subclass_may_fetch_whole_batches_as_they_are() -> None:
    class Whole(DataLoader):
        @property
        def _auto_collation(self) -> bool:
            return False

        @property
        def _index_sampler(self) -> Any:
            return self.batch_sampler if super()._auto_collation else self.sampler

    rows = np.arange(10).reshape(5, 2)
    assert [batch.tolist() for batch in Whole(rows, batch_size=2)] == [rows[:2].tolist(), rows[2:4].tolist(), [[8, 9]]]  # type: ignore[arg-type]  # an array is a map too


@pytest.mark.parametrize("workers", [0, 2])
def test_the_iterators_take_loaders_that_are_a_librarys_own(workers: int) -> None:
    class Own:
        _IterableDataset_len_called, _auto_collation, drop_last, in_order = None, False, False, True
        generator, prefetch_factor, worker_init_fn, timeout = None, 2, None, 0
        pin_memory, persistent_workers, multiprocessing_context = False, False, None
        _index_sampler, _dataset_kind, num_workers = range(100), dataloader._DatasetKind.Iterable, workers

        def __init__(self) -> None:
            self.dataset = self

        def collate_fn(self, batch: Any) -> Any:
            return batch

        def __iter__(self) -> Any:
            return iter([torch.zeros(2), torch.ones(1)])

    kinds = (dataloader._SingleProcessDataLoaderIter, dataloader._MultiProcessingDataLoaderIter)
    each = max(workers, 1)
    assert [batch.tolist() for batch in kinds[workers > 0](Own())] == [*[[0, 0]] * each, *[[1]] * each]


def test_a_plain_list_is_a_dataset() -> None:
    assert values(DataLoader([1, 2, 3], batch_size=3)) == [[1, 2, 3]]


def test_pinning_is_accepted_and_changes_nothing() -> None:
    with pytest.warns(UserWarning, match="no accelerator is found, then device pinned memory won't be used"):
        assert values(DataLoader([1, 2], batch_size=2, pin_memory=True)) == [[1, 2]]


def test_an_error_in_a_dataset_reaches_the_loop() -> None:
    with pytest.raises(IndexError):
        list(DataLoader(Squares(2), sampler=[5]))


def test_outside_of_workers_there_is_no_worker_info() -> None:
    assert get_worker_info() is None


def test_a_stream_longer_than_it_says_warns() -> None:
    class Long(Count):
        def __len__(self) -> int:
            return 1

    loader = DataLoader(Long(0, 2), batch_size=None)
    assert len(loader) == 1
    with pytest.warns(UserWarning, match="was reported to be 1"):
        list(loader)


def test_two_iterators_of_a_loader_do_not_disturb_each_other() -> None:
    loader = DataLoader(Squares(3))
    assert [(a.item(), b.item()) for a, b in zip(loader, loader, strict=True)] == [(0, 0), (1, 1), (4, 4)]


def test_batches_can_be_trained_on_without_compiling_for_each() -> None:
    net, optimizer = torch.nn.Linear(3, 1), None
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.randn(32, 3)
    loader = DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
    losses = []
    for _ in range(20):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = (net(inputs) - targets).pow(2).mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified"),
        ({"num_workers": 1, "prefetch_factor": -1}, "prefetch_factor option should be non-negative"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"sampler": [0], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
        ({"batch_sampler": [[0]], "shuffle": True}, "batch_sampler option is mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
        ({"batch_size": 0}, "batch_size should be a positive integer"),
        ({"multiprocessing_context": "spawn"}, "multi-process loading"),
        ({"multiprocessing_context": "teleport", "num_workers": 1}, "should specify a valid start method"),
    ],
)
def test_wrong_arguments_are_refused_when_they_are_given(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        DataLoader(Squares(4), **arguments)


@pytest.mark.parametrize("arguments", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}])
def test_a_stream_takes_no_order(arguments) -> None:
    with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified"):
        DataLoader(Count(0, 3), **arguments)


def test_what_decides_the_order_cannot_be_changed_later() -> None:
    loader = DataLoader(Squares(4))
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 3


class Repeating(DataLoader):
    """Draws each batch's places twice, and says by torch's name that it is being changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._DataLoader__initialized = False
        self.batch_sampler = [places for places in self.batch_sampler for _ in range(2)]
        self._DataLoader__initialized = True


def test_a_loader_may_exchange_its_own_sampler() -> None:
    loader = Repeating(Squares(4), batch_size=2)
    assert [batch.tolist() for batch in loader] == [[0, 1], [0, 1], [4, 9], [4, 9]]
    with pytest.raises(ValueError, match="batch_sampler attribute should not be set after Repeating is initialized"):
        loader.batch_sampler = []


def test_loaders_and_datasets_take_a_type_of_sample() -> None:
    dataset: Dataset[int] = Squares(2)
    assert len(DataLoader[int](dataset)) == 2
