"""Datasets hand out the samples that they were made of, one at a time and a batch at a time."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
)


class Squares(Dataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        if not 0 <= index < self.count:
            raise IndexError(index)
        return index * index


class Count(IterableDataset):
    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop

    def __iter__(self):
        return iter(range(self.start, self.stop))

    def __len__(self) -> int:
        return self.stop - self.start


def test_a_dataset_must_say_how_to_get_a_sample() -> None:
    with pytest.raises(NotImplementedError, match=r"^Subclasses of Dataset should implement __getitem__\.$"):
        Dataset()[0]


def test_datasets_add_up_end_to_end() -> None:
    joined = Squares(3) + Squares(2)
    assert isinstance(joined, ConcatDataset)
    assert [joined[i] for i in range(-5, 5)] == [0, 1, 4, 0, 1] * 2
    assert joined.cumulative_sizes == [3, 5]
    with pytest.raises(ValueError, match="absolute value of index"):
        joined[-6]


def test_streams_add_up_end_to_end() -> None:
    chained = Count(0, 2) + Count(5, 7)
    assert isinstance(chained, ChainDataset)
    assert list(chained) == [0, 1, 5, 6]
    assert len(chained) == 4


def test_streams_and_maps_do_not_mix() -> None:
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Squares(2), Count(0, 2)])
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ChainDataset([Count(0, 2), Squares(2)]))
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        ConcatDataset([])


def test_a_tensor_datasets_sample_is_a_row_of_every_tensor() -> None:
    dataset = TensorDataset(torch.arange(6).view(3, 2), torch.tensor([7, 8, 9]))
    row, label = dataset[1]
    assert (row.tolist(), label.item(), len(dataset)) == ([2, 3], 8, 3)
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(torch.zeros(3), torch.zeros(4))


def test_a_batch_of_a_tensor_dataset_is_gathered_at_once_and_reads_like_a_list() -> None:
    dataset = TensorDataset(torch.arange(6).view(3, 2), torch.tensor([7, 8, 9]))
    samples = dataset.__getitems__([2, 0])
    assert [(row.tolist(), label.item()) for row, label in samples] == [([4, 5], 9), ([0, 1], 7)]
    rows, labels = next(iter(DataLoader(Subset(dataset, [2, 1, 0]), batch_size=2)))
    assert (rows.tolist(), labels.tolist()) == ([[4, 5], [2, 3]], [9, 8])


def test_rows_of_a_tensor_dataset_may_be_named_by_tensors_and_slices() -> None:
    dataset = TensorDataset(torch.arange(6).view(3, 2), torch.tensor([7, 8, 9]))
    for chosen in (torch.tensor([2, 1]), np.array([2, 1])):
        rows, labels = next(iter(DataLoader(Subset(dataset, chosen), batch_size=2)))
        assert (rows.tolist(), labels.tolist()) == ([[4, 5], [2, 3]], [9, 8])
    ((rows, labels),) = DataLoader(dataset, batch_sampler=[[torch.tensor(2), torch.tensor(1)]])
    assert (rows.tolist(), labels.tolist()) == ([[4, 5], [2, 3]], [9, 8])
    ((rows, labels),) = DataLoader(dataset, batch_sampler=[[slice(0, 2)]])
    assert (rows.tolist(), labels.tolist()) == ([[[0, 1], [2, 3]]], [[7, 8]])


def test_a_collate_function_of_ones_own_gets_a_list_of_samples() -> None:
    dataset = TensorDataset(torch.arange(4))
    seen = []
    list(DataLoader(dataset, batch_size=2, collate_fn=seen.append))
    assert [type(batch) for batch in seen] == [list, list]
    assert [[x.item() for (x,) in batch] for batch in seen] == [[0, 1], [2, 3]]


def test_a_tensor_dataset_that_changes_its_samples_is_asked_for_each() -> None:
    class Negated(TensorDataset):
        def __getitem__(self, index):
            return tuple(-x for x in super().__getitem__(index))

    (batch,) = next(iter(DataLoader(Negated(torch.arange(3)), batch_size=3)))
    assert batch.tolist() == [0, -1, -2]


def test_a_subset_that_changes_its_samples_is_asked_for_each() -> None:
    class Negated(Subset):
        def __getitem__(self, index):
            return -super().__getitem__(index)

    assert next(iter(DataLoader(Negated(Squares(5), [4, 3]), batch_size=2))).tolist() == [-16, -9]


def test_stacked_datasets_give_tuples_or_dicts() -> None:
    as_tuples, as_dicts = StackDataset(Squares(3), Squares(3)), StackDataset(a=Squares(3), b=Squares(3))
    assert as_tuples[2] == (4, 4)
    assert as_dicts[2] == {"a": 4, "b": 4}
    assert as_tuples.__getitems__([0, 2]) == [(0, 0), (4, 4)]
    assert as_dicts.__getitems__([0, 2]) == [{"a": 0, "b": 0}, {"a": 4, "b": 4}]
    assert len(as_dicts) == 3


@pytest.mark.parametrize(
    ("positional", "named", "message"),
    [
        ((), {}, "At least one dataset"),
        ((Squares(2), Squares(3)), {}, "^Size mismatch between datasets$"),
        ((Squares(2),), {"a": Squares(2)}, "but both types are given"),
    ],
)
def test_datasets_that_cannot_be_stacked_are_refused(positional, named, message) -> None:
    with pytest.raises(ValueError, match=message):
        StackDataset(*positional, **named)


def test_a_nested_dataset_must_return_as_many_samples_as_it_was_asked_for() -> None:
    class Short(Squares):
        def __getitems__(self, indices):
            return [0]

    with pytest.raises(ValueError, match="output size mismatch"):
        StackDataset(Short(3)).__getitems__([0, 1])
