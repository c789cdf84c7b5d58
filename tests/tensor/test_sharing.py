"""share_memory_ marks a storage: all names of it answer, copies do not, and a step leaves the mark."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn


def test_all_names_of_a_storage_are_shared() -> None:
    base = torch.ones(4)
    assert not base.is_shared()
    assert base[1:].share_memory_().is_shared()
    assert (base.is_shared(), base.detach().is_shared(), base.data.is_shared()) == (True, True, True)
    assert (base.clone().is_shared(), (base + 1).is_shared()) == (False, False)


def test_a_modules_parameters_stay_shared_over_a_step() -> None:
    layers = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).share_memory()
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
    layers(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    assert all(x.is_shared() for x in (*layers.parameters(), *layers.buffers()))


def test_what_has_no_shape_cannot_be_shared() -> None:
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter or buffer"):
        nn.LazyLinear(2).share_memory()
