"""What loaders and samplers refuse, with workers and without, in torch's words."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad.utils.data import DataLoader, random_split


def _join(samples: list[Any], workers: int) -> None:
    list(DataLoader(samples, batch_size=2, num_workers=workers))  # type: ignore[arg-type]  # a list is a dataset too


def test_a_sample_that_is_none_is_refused_as_torchs_workers_do() -> None:
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 0, but got NoneType"):
        _join([torch.ones(1), None], workers=0)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'numel'"):
        _join([torch.ones(1), None], workers=2)


def test_a_worker_does_not_join_samples_that_want_gradients() -> None:
    samples = [torch.ones(1, requires_grad=True)] * 2
    _join(samples, workers=0)
    with pytest.raises(RuntimeError, match=r"stack\(\): functions with out=... arguments don't support automatic"):
        _join(samples, workers=2)


def test_lengths_of_splits_need_only_add_up() -> None:
    torch.manual_seed(0)
    first, second = random_split([1, 2, 3], [4, -1])  # type: ignore[arg-type]  # a list is a dataset too
    assert (len(first), len(second)) == (3, 0)


def test_prefetching_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^prefetch_factor option should be non-negative$"):
        DataLoader([1], num_workers=1, prefetch_factor=-1)  # type: ignore[arg-type]  # a list is a dataset too
