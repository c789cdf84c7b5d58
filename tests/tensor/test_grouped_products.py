"""Products in groups: a mixture of experts is one program, however many rows each expert is given."""

from __future__ import annotations

from collections.abc import Iterable

import funcgrad as torch
from funcgrad import explain, nn

Sizes = tuple[int, ...]


def _by_hand(rows: torch.Tensor, experts: torch.Tensor, sizes: Sizes) -> torch.Tensor:
    return torch.cat([part @ expert for part, expert in zip(rows.split(sizes), experts, strict=True)])


def _ends(sizes: Sizes) -> torch.Tensor:
    return torch.tensor(sizes).cumsum(0).to(torch.int32)


def _steps(groups: Iterable[Sizes]) -> None:
    """Take a step for each, whose rows come out of merged sentences, and compare its gradients with those of slices."""
    experts, width = nn.Parameter(torch.randn(3, 64, 64) / 8), nn.Parameter(torch.ones(64))
    for sizes in groups:
        sentences = torch.randn(2, sum(sizes) // 2, 64)
        found = []
        for product in (lambda x: nn.functional.grouped_mm(x, experts, offs=_ends(sizes)),  # noqa: B023
                        lambda x: _by_hand(x, experts, sizes)):  # noqa: B023  # fmt: skip
            loss = product((sentences * width).flatten(0, 1)).tanh().square().mean()
            found.append([loss, *torch.autograd.grad(loss, [experts, width])])
            loss.item()
        for one, other in zip(*found, strict=True):
            assert torch.allclose(one, other, atol=1e-6)


def test_a_step_is_compiled_once_however_many_rows_a_group_has() -> None:
    experts = nn.Parameter(torch.randn(3, 64, 64))
    rows = torch.randn(40, 64)
    ends = [_ends(sizes) for sizes in ((10, 10, 20), (0, 40, 0), (31, 2, 7), (20, 20, 0))]
    with explain.counted() as seen:
        for each in ends:
            nn.functional.grouped_mm(rows, experts, offs=each).square().mean().backward()
            assert experts.grad is not None and experts.grad.isfinite().all()
    assert seen.compiles <= 2


def test_what_lies_beyond_the_last_group_is_zero_and_gets_no_gradient() -> None:
    rows = torch.randn(6, 4, requires_grad=True)
    result = nn.functional.grouped_mm(rows, torch.randn(2, 4, 4), offs=_ends((1, 3)))
    result.sum().backward()
    assert rows.grad is not None
    assert (result[4:] == 0).all() and (rows.grad[4:] == 0).all() and (rows.grad[:4] != 0).any(1).all()


def test_groups_of_sentences_that_vary_in_length_give_the_gradients_of_each_group() -> None:
    _steps(((10, 10, 20), (5, 9, 20), (30, 4, 24), (1, 0, 19), (2, 40, 20), (0, 0, 44), (16, 16, 16)))


def test_a_step_of_groups_is_not_compiled_for_each_length() -> None:
    experts = nn.Parameter(torch.randn(3, 64, 64) / 8)
    with explain.counted() as seen:
        for sizes in ((10, 10, 20), (5, 9, 19), (30, 3, 24), (1, 0, 19), (1, 40, 20), (0, 0, 44), (16, 16, 17)):
            rows = torch.randn(sum(sizes), 64) * 2
            loss = nn.functional.grouped_mm(rows, experts, offs=_ends(sizes)).tanh().square().mean()
            torch.autograd.grad(loss, [experts])[0].sum().item()
    assert seen.compiles <= 4
