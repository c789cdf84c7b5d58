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


def test_a_view_made_without_history_requires_what_its_base_requires() -> None:
    weight = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        row, detached, copy = weight[0], weight.detach()[0], weight[[0]]
        assert repr(row) == "tensor([1., 1., 1.], requires_grad=True)"
        assert row.t().requires_grad and weight.view(-1).requires_grad and weight.split(1)[0].requires_grad
        assert not (row * 2).requires_grad
    assert row.requires_grad and row.is_leaf and row.grad_fn is None
    assert not detached.requires_grad and not copy.requires_grad
    base = torch.ones(2)
    part = base[:1]
    assert not part.requires_grad
    base.requires_grad_()
    assert part.requires_grad and not part.detach().requires_grad
