"""Memory formats: accepted where a tensor can have them, refused in torch's words where it cannot."""

from __future__ import annotations

import pytest

import funcgrad as torch


def test_formats_change_no_numbers() -> None:
    x = torch.arange(120.0).reshape(2, 3, 4, 5)
    for same in (x.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)):
        assert torch.equal(same, x) and same.is_contiguous(memory_format=torch.channels_last)
    assert torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).shape == x.shape


def test_a_format_of_another_rank_is_refused() -> None:
    x = torch.zeros(2, 3, 4)
    for call in (x.to, x.contiguous, x.clone, x.double, lambda **format: torch.zeros_like(x, **format)):
        with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
            call(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="required rank 5 tensor to use channels_last_3d format"):
        torch.empty(2, 3, memory_format=torch.channels_last_3d)
    assert not x.is_contiguous(memory_format=torch.channels_last)


def test_what_is_no_format_is_refused() -> None:
    x = torch.zeros(2, 3, 4, 5)
    for call in (x.to, x.contiguous, x.clone, x.is_contiguous):
        with pytest.raises(TypeError, match=r"argument 'memory_format' must be torch\.memory_format, not str"):
            call(memory_format="channels_last")


def test_a_model_is_given_a_format_whatever_its_ranks() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)).to(memory_format=torch.channels_last)
    assert model(torch.ones(1, 1, 4, 4)).is_contiguous(memory_format=torch.channels_last)


def test_pictures_that_are_stacked_or_joined_stay_channels_last() -> None:
    x = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert [torch.stack([x, x], dim).stride() for dim in range(5)] == [
        (120, 60, 1, 15, 3), (120, 3, 1, 30, 6), (120, 1, 60, 15, 3), (120, 1, 30, 15, 3), (120, 40, 10, 2, 1),
    ]  # fmt: skip
    assert torch.stack([x, x])[0].is_contiguous(memory_format=torch.channels_last)
    assert torch.stack([x, torch.zeros(2, 3, 4, 5)]).stride() == (120, 60, 20, 5, 1)
    joined = [join([x, x]).stride() for join in (torch.hstack, torch.vstack, torch.dstack, torch.column_stack)]
    assert joined == [(120, 1, 30, 6), (60, 1, 15, 3), (120, 1, 15, 3), (120, 1, 30, 6)]
