"""Entries of a batch made and undone by hand, as libraries with containers of tensors do; numbers are torch's."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad.func import batching, grad, vmap, wrapped


def test_a_tensor_tells_at_which_level_it_is() -> None:
    seen: list[Any] = []

    def look(x: Any) -> Any:
        seen.append((wrapped.is_batchedtensor(x), wrapped.is_gradtrackingtensor(x), wrapped.maybe_get_level(x)))
        return x.sum()

    vmap(look)(torch.ones(2, 3))
    grad(look)(torch.ones(3))
    vmap(grad(look))(torch.ones(2, 3))
    assert seen == [(True, False, 1), (False, True, 1), (False, True, 2)]
    assert (wrapped.is_functorch_wrapped_tensor(torch.ones(2)), wrapped.maybe_get_level(torch.ones(2))) == (False, -1)
    with pytest.raises(RuntimeError, match="at no level"):
        wrapped.get_unwrapped(torch.ones(2))


def test_what_an_entry_stands_for_has_the_batch_first() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append((wrapped.maybe_get_bdim(x), wrapped.get_unwrapped(x).shape)) or x, 1)(torch.ones(2, 3))
    assert kept == [(0, (3, 2))]
    assert wrapped.maybe_get_bdim(torch.ones(2)) == -1


def test_an_entry_that_left_its_function_is_still_one() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append(x) or x)(torch.ones(2, 3))
    assert wrapped.is_batchedtensor(kept[0])
    assert wrapped.maybe_get_level(kept[0]) == -2


def test_a_container_takes_part_by_adding_and_removing_the_batch_itself() -> None:
    weights = torch.arange(6.0).reshape(2, 3)
    made = vmap(lambda x: wrapped._remove_batch_dim(wrapped._add_batch_dim(weights, 1, 1) * x, 1, 3, 1))
    rows = vmap(lambda x: wrapped._add_batch_dim(weights, 1, 1) * x, out_dims=1)(torch.arange(3.0))
    assert rows.tolist() == [[0, 1, 4], [0, 4, 10]]
    with pytest.raises(RuntimeError, match="level at which vmap runs"):
        wrapped._add_batch_dim(weights, 0, 1)
    with pytest.raises(IndexError, match="Dimension out of range"):
        vmap(lambda x: wrapped._remove_batch_dim(x, 1, 3, 5))(torch.arange(3.0))
    assert made(torch.arange(3.0)).shape == (3, 2, 3)


def test_an_entry_that_is_kept_is_of_what_the_tensor_is_by_then() -> None:
    kept: list[Any] = []
    weights = torch.ones(2, requires_grad=True)

    def scaled(x: Any) -> Any:
        if not kept:
            kept.append(wrapped._add_batch_dim(weights, 0, 1))
        return kept[0] * x

    vmap(scaled)(torch.ones(2))
    with torch.no_grad():
        weights.mul_(torch.tensor([2.0, 3.0]))
    found = vmap(scaled)(torch.tensor([10.0, 100.0]))
    assert found.tolist() == [20.0, 300.0]
    found.sum().backward()
    assert weights.grad.tolist() == [10.0, 100.0]
    with pytest.raises(RuntimeError, match="left the function"):
        vmap(scaled)(torch.ones(3))


def test_what_is_written_to_a_kept_entry_reaches_the_tensor() -> None:
    kept: list[Any] = []
    counts = torch.zeros(2)

    def counted(x: Any) -> Any:
        if not kept:
            kept.append(wrapped._add_batch_dim(counts, 0, 1))
        return kept[0].add_(x).clone()

    vmap(counted)(torch.tensor([1.0, 2.0]))
    assert counts.tolist() == [1.0, 2.0]


def test_the_steps_of_vmap_can_be_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    unwrapped = batching._unwrap_batched
    monkeypatch.setattr(batching, "_unwrap_batched", lambda *given: ("ours", unwrapped(*given)))
    name, found = vmap(lambda x: x * 2)(torch.arange(2.0))
    assert (name, found.tolist()) == ("ours", [0.0, 2.0])
