"""Numbers that the host has: an element of them, or a batch put together of samples, is had without a run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base.config import settings
from funcgrad.utils.data import DataLoader, Dataset


def test_a_loop_over_data_runs_and_records_nothing() -> None:
    labels, table = torch.randint(0, 9, (20,)), torch.randn(3, 4)
    with torch.explain.counted() as seen:
        assert [int(label) for label in labels] == labels.tolist()
        assert [labels[-i].item() for i in range(1, 21)] == labels.tolist()[::-1]
        assert [[x.item() for x in row] for row in table] == table.tolist()
        assert table[1][2].item() == table[1, 2].item() == table.tolist()[1][2]
    assert (seen.runs, seen.misses) == (0, 0)


def test_an_element_that_a_program_reads_is_an_instruction_of_it() -> None:
    table = torch.randn(3, 4)
    row = table[1]
    with torch.explain.counted() as seen:
        assert (row * 2).sum().item() == pytest.approx(2 * sum(table.tolist()[1]), abs=1e-5)
    assert seen.runs == 1


def test_an_element_sees_what_is_written_to_the_whole_and_the_other_way_round() -> None:
    table = torch.arange(6.0).reshape(2, 3)
    table.tolist()
    row = table[1]
    table[1, 0] = 7.0
    assert row.tolist() == [7.0, 4.0, 5.0]
    row[2] = 9.0
    row.mul_(2)
    assert table.tolist() == [[0.0, 1.0, 2.0], [14.0, 8.0, 18.0]]


def test_an_element_can_become_a_leaf_and_keeps_its_history_apart() -> None:
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    row = table[0].requires_grad_()
    (row * row).sum().backward()
    assert row.grad.tolist() == [2.0, 4.0]
    assert not table.requires_grad
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    assert weight[1].grad_fn is not None


def test_samples_that_are_rows_are_stacked_on_the_host() -> None:
    class Rows(Dataset):
        x, y = torch.randn(12, 3), torch.tensor(range(12))

        def __len__(self) -> int:
            return 12

        def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
            return self.x[index], self.y[index]

    with torch.explain.counted() as seen:
        batches = list(DataLoader(Rows(), batch_size=4))
    assert seen.runs == 0
    assert torch.cat([x for x, _ in batches]).equal(Rows.x)
    assert torch.cat([y for _, y in batches]).tolist() == list(range(12))


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("are_computed", [False, True])
def test_many_samples_are_joined_on_the_host_along_any_dimension(dim: int, are_computed: bool) -> None:
    table = np.arange(60.0, dtype=np.float32).reshape(10, 2, 3)
    samples = [torch.from_numpy(part) for part in table]
    if are_computed:
        samples = [-part for part in samples]
        torch.explain.flush()
        table = -table
    with torch.explain.counted() as seen:
        stacked, joined = torch.stack(samples, dim), torch.cat(samples, min(dim, 1))
        assert stacked.tolist() == np.stack(list(table), dim).tolist()
        assert joined.tolist() == np.concatenate(list(table), min(dim, 1)).tolist()
    assert seen.runs == 0


@pytest.mark.parametrize("before", range(8))
def test_a_constant_may_come_where_the_program_has_no_room_left(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "length", 6)
    torch.explain.flush()
    table = torch.tensor([[1.0, 2.0, 3.0]] * (before + 2))  # a shape, and so a path of instructions, of its own
    y = table
    for _ in range(before):
        y = y + table
    y = y * torch.full_like(table, 2.0) + table[0]
    assert y.tolist()[0] == [(before + 1) * 2 * x + x for x in (1.0, 2.0, 3.0)]


def pieces() -> list[torch.Tensor]:
    return [torch.tensor([[float(i), 2.0, 3.0]]) for i in range(4)]


def test_a_batch_put_together_of_samples_is_one_input_whichever_they_are() -> None:
    weight, samples = torch.randn(3, 2), [torch.tensor([i, 2.0, 3.0]).unsqueeze(0) for i in range(4)]
    for chosen in ([0, 1, 2], [1, 1, 3], [2, 2, 2]):
        with torch.explain.counted() as seen:
            (torch.cat([samples[i] for i in chosen]) @ weight).sum().item()
        assert seen.compiles == (chosen == [0, 1, 2])


@pytest.mark.usefixtures("each_look_is_a_program")
def test_a_batch_of_memories_is_one_input_whatever_was_computed_or_read_before() -> None:
    weight = torch.randn(3, 2)
    samples = [torch.zeros(1, 3), *[torch.tensor([[i, 2.0, 3.0]]) for i in range(6)]]
    samples += [(x + 1).detach() for x in samples]  # what a model computed
    torch.explain.flush()
    for x in samples:
        for _ in range(2):
            (x @ weight).sum().item()  # programs read it, more than once
    for seed in range(4):
        chosen = torch.randint(0, len(samples), (10,), generator=torch.Generator().manual_seed(seed)).tolist()
        with torch.explain.counted() as seen:
            total = (torch.cat([samples[i] for i in chosen]) @ weight).sum()
            assert total.item() == pytest.approx(sum((samples[i] @ weight).sum().item() for i in chosen), abs=1e-4)
        assert seen.compiles == (seed == 0)


def test_pieces_with_a_history_are_one_program_whichever_they_are() -> None:
    leaf = torch.ones(3, requires_grad=True)
    pieces = [(leaf * i).view(1, 3) for i in range(20)]
    torch.explain.flush()
    chosen, both = [0], leaf
    for seed in range(4):
        chosen = torch.randint(0, 20, (10,), generator=torch.Generator().manual_seed(seed)).tolist()
        with torch.explain.counted() as seen:
            both = torch.cat([pieces[i] for i in chosen]) * torch.stack([pieces[19 - i] for i in chosen]).squeeze(1)
            assert both.sum().item() == 3 * sum(i * (19 - i) for i in chosen)
        assert seen.compiles == (seed == 0)
    both.sum().backward()
    assert leaf.grad.tolist() == [2.0 * sum(i * (19 - i) for i in chosen)] * 3  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "move",
    [
        lambda x: torch.cat(x), lambda x: torch.cat(x, dim=-1), lambda x: torch.stack(x), lambda x: torch.stack(x, -1),
        lambda x: torch.cat([x[0], x[1].long(), torch.tensor([])]), lambda x: torch.stack([x[0], x[1].double()]),
        lambda x: x[1].unsqueeze(-1), lambda x: x[1].squeeze(), lambda x: x[1].view(3, -1), lambda x: x[1].reshape(-1),
        lambda x: x[2].flatten(), lambda x: x[1].long(), lambda x: x[1].bool(), lambda x: x[1].half().double(),
        lambda x: x[1].to(torch.bfloat16), lambda x: x[1].long().to(torch.uint8).float(),
    ],
)  # fmt: skip
def test_numpy_moves_small_numbers_as_the_program_would(move: Callable[[list[torch.Tensor]], torch.Tensor]) -> None:
    with torch.explain.counted() as seen:
        near = move(pieces())
    recorded = move([x * 1.0 for x in pieces()])
    assert (near.dtype, near.shape) == (recorded.dtype, recorded.shape)
    assert near.tolist() == recorded.tolist()
    assert seen.runs == 0


def test_what_numpy_moved_is_still_a_view_where_torch_makes_one() -> None:
    x = torch.tensor([[1.0, 2.0]])
    y, z = x.view(2), x.unsqueeze(0)
    y[0] = 5.0
    assert (x.tolist(), z.tolist(), y._base is x) == ([[5.0, 2.0]], [[[5.0, 2.0]]], True)
    with torch.no_grad():
        z.zero_()
    assert x.tolist() == [[0.0, 0.0]]
    assert not torch.stack([x, x])._base


def test_errors_are_those_of_the_row() -> None:
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        torch.stack([torch.tensor([1.0]), torch.tensor([1.0, 2.0])])
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        torch.tensor([1.0, 2.0]).view(3)


def test_whole_numbers_are_added_on_the_host() -> None:
    edges, table = torch.tensor([[0, 1, 2], [2, 0, 1]]), torch.tensor([[7, 8, 9], [1, 2, 3]])
    row = table[0]
    with torch.explain.counted() as seen:
        assert (edges + 3).tolist() == [[3, 4, 5], [5, 3, 4]]
        assert (edges * table - edges).tolist() == [[0, 7, 16], [0, 0, 2]]
        assert torch.cat([edges + 3 * i for i in range(2)], 1).tolist() == [[0, 1, 2, 3, 4, 5], [2, 0, 1, 5, 3, 4]]
    assert (seen.runs, seen.misses) == (0, 0)
    table[0, 0] = 5
    assert (row - 1).tolist() == [4, 7, 8]
    widest = torch.tensor([2**63 - 1, -(2**63)])
    assert (widest + 1).tolist() == [-(2**63), -(2**63) + 1]


def test_other_numbers_are_left_to_programs() -> None:
    whole = torch.tensor([1, 2])
    assert (whole + 0.5).dtype is torch.float32
    assert (whole + torch.tensor([True, False])).tolist() == [2, 2]
    assert torch.add(whole, 3, alpha=2).tolist() == [7, 8]
    assert (whole + torch.tensor([[1], [2]])).tolist() == [[2, 3], [3, 4]]
    assert (whole + torch.tensor(1, dtype=torch.int32)).dtype is torch.int64
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        whole + torch.tensor([1, 2, 3])
    with torch.no_grad():
        assert (whole.requires_grad, (whole + 1).requires_grad) == (False, False)
