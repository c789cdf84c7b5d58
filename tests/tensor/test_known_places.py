"""Places and classes that do not exist are refused where the host knows them, in torch's words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import funcgrad as torch
from funcgrad.nn import functional as F

REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "cross_entropy": (
        lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5])), IndexError, "Target 5 is out of bounds."
    ),
    "nll_loss": (lambda: F.nll_loss(torch.ones(2, 3), torch.tensor([0, -1])), IndexError, "Target -1 is out of bounds"),
    "embedding": (lambda: torch.nn.Embedding(3, 2)(torch.tensor([[1, 3]])), IndexError, "index out of range in self"),
    "index_select": (lambda: torch.ones(3, 2).index_select(1, torch.tensor([2])), IndexError, "index out of range"),
    "index_add_": (
        lambda: torch.zeros(3).index_add_(0, torch.tensor([4]), torch.ones(1)), IndexError, "index out of range in self"
    ),
    "gather": (
        lambda: torch.ones(3, 2).gather(0, torch.tensor([[3]])), RuntimeError,
        "index 3 is out of bounds for dimension 0 with size 3",
    ),
    "one_hot": (lambda: F.one_hot(torch.tensor([4]), 3), RuntimeError, "Class values must be smaller than num_classes"),
    "one_hot, negative": (lambda: F.one_hot(torch.tensor([-1])), RuntimeError, "Class values must be non-negative."),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_exist_is_refused(name: str) -> None:
    refused, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        refused()


def test_ignored_targets_may_be_no_class() -> None:
    logits = torch.arange(6.0).reshape(2, 3)
    one = F.cross_entropy(logits, torch.tensor([2, -100]))
    assert one.item() == pytest.approx(F.cross_entropy(logits[:1], torch.tensor([2])).item())
    assert F.nll_loss(logits, torch.tensor([7, 1]), ignore_index=7).item() == -4


def test_targets_of_pictures_are_checked_against_the_channels() -> None:
    with pytest.raises(IndexError, match="Target 2 is out of bounds"):
        F.cross_entropy(torch.ones(1, 2, 2, 2), torch.tensor([[[0, 1], [2, 1]]]))
    F.cross_entropy(torch.ones(1, 6, 2, 2), torch.tensor([[[0, 5], [1, 2]]]))
