"""For a seed, data are visited in PyTorch's order, and the numbers drawn afterwards are PyTorch's too."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import funcgrad as torch
from tests.data.orders import ORDERS

RECORDED = json.loads((Path(__file__).parent / "recorded" / "orders.json").read_text())["orders"]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.__name__)
def test_the_order_is_torchs(order) -> None:
    assert json.loads(json.dumps(order(torch))) == RECORDED[order.__name__]


@pytest.mark.parametrize("length", [1, 5, 12])
def test_batches_have_every_index_once(length) -> None:
    data = torch.utils.data
    for batch_size in (1, 4, 7):
        batches = list(data.BatchSampler(data.RandomSampler(range(length)), batch_size, drop_last=False))
        assert sorted(itertools.chain(*batches)) == list(range(length))
        assert len(batches) == len(data.BatchSampler(range(length), batch_size, drop_last=False))
        kept = list(data.BatchSampler(range(length), batch_size, drop_last=True))
        assert all(len(batch) == batch_size for batch in kept)
        assert len(kept) == length // batch_size


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda data: data.RandomSampler([]), ValueError),
        (lambda data: data.RandomSampler([1], replacement=1), TypeError),
        (lambda data: data.RandomSampler([1], num_samples=0), ValueError),
        (lambda data: data.WeightedRandomSampler([1.0], 0), ValueError),
        (lambda data: data.WeightedRandomSampler([1.0], 1, replacement=None), ValueError),
        (lambda data: data.WeightedRandomSampler([[1.0]], 1), ValueError),
        (lambda data: data.BatchSampler([1], 0, False), ValueError),
        (lambda data: data.BatchSampler([1], 1, None), ValueError),
        (lambda data: data.DistributedSampler([1]), ValueError),
        (lambda data: data.DistributedSampler([1], 2, 2), ValueError),
        (lambda data: data.random_split([1, 2, 3], [1, 1]), ValueError),
        (lambda data: iter(data.Sampler()), NotImplementedError),
    ],
)
def test_wrong_arguments_are_refused_when_they_are_given(make, error) -> None:
    with pytest.raises(error):
        make(torch.utils.data)


def test_a_split_of_no_samples_warns() -> None:
    with pytest.warns(UserWarning, match="Length of split at index 2 is 0"):
        parts = torch.utils.data.random_split([1, 2], [0.4, 0.4, 0.2])
    assert list(map(len, parts)) == [1, 1, 0]
