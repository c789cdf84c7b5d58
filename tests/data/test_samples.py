"""How samples are made: at once, whatever each draws, so that a batch is no program that never comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import funcgrad as torch
import funcgrad.nn.functional as F
from funcgrad import explain
from funcgrad._base.config import settings
from funcgrad.utils.data import DataLoader, Dataset, IterableDataset


class Made(Dataset):
    """Samples that a function makes of their numbers."""

    def __init__(self, make: Callable[[int], Any], size: int = 24) -> None:
        self.make, self.size = make, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> Any:
        return self.make(i)


def batches(make: Callable[[int], Any], **options: Any) -> list[Any]:
    return list(DataLoader(Made(make), batch_size=8, **options))


def augmented(images: torch.Tensor) -> Callable[[int], torch.Tensor]:
    """Turned round or not, cut out here or there: torch's own words for it."""

    def make(i: int) -> torch.Tensor:
        image = images[i].float() / 255
        if torch.rand(1).item() < 0.5:
            image = image.flip(-1)
        image = F.pad(image, (2, 2, 2, 2))
        top, left = torch.randint(0, 5, (1,)).item(), torch.randint(0, 5, (1,)).item()
        return (image[:, top : top + 8, left : left + 8] - 0.5) / 0.25

    return make


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_that_draw_what_is_done_to_them_plan_nothing(workers: int) -> None:
    images = torch.randint(0, 256, (24, 3, 8, 8), dtype=torch.uint8)
    batches(augmented(images), num_workers=workers)
    with explain.counted() as cost:
        seen = batches(augmented(images), num_workers=workers)
    assert [tuple(batch.shape) for batch in seen] == [(8, 3, 8, 8)] * 3
    assert cost.compiles == cost.misses == cost.runs == 0


def test_they_are_what_eager_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    images = torch.randint(0, 256, (24, 3, 8, 8), dtype=torch.uint8)
    torch.manual_seed(1)
    seen = batches(augmented(images))
    monkeypatch.setattr(settings, "eager", True)
    torch.manual_seed(1)
    for one, other in zip(seen, batches(augmented(images)), strict=True):
        torch.testing.assert_close(one, other)


def test_numbers_recorded_of_pytorch() -> None:
    torch.manual_seed(0)
    images = torch.randint(0, 256, (24, 3, 8, 8), dtype=torch.uint8)
    sums = [batch.sum().item() for batch in batches(augmented(images), shuffle=True)]
    assert sums == pytest.approx([-877.082397, -1054.227295, -917.960693], rel=1e-5)


def test_numbers_that_differ_from_sample_to_sample_are_traced_once() -> None:
    x = torch.arange(6.0)
    batches(lambda i: (x * (0.1 + i)) ** 2 + i)
    with explain.counted() as cost:
        seen = batches(lambda i: (x * (0.7 + i)) ** 2 + 3 * i)
    assert cost.inferences == 0
    expected = torch.stack([(x * (0.7 + i)) ** 2 + 3 * i for i in range(8)])
    torch.testing.assert_close(seen[0], expected)


def test_samples_of_many_lengths_are_padded_without_a_program() -> None:
    def make(i: int) -> torch.Tensor:
        words = torch.tensor([7 * i % 11] * (1 + 5 * i % 7))
        return F.pad(words, (0, 8 - len(words)), value=-1)

    batches(make)
    with explain.counted() as cost:
        seen = batches(make)
    assert seen[0][2].tolist() == [3, 3, 3, 3, -1, -1, -1, -1]
    assert cost.runs == cost.misses == 0


def test_what_numpy_has_no_rule_for_is_recorded_as_ever() -> None:
    waves = torch.sin(torch.arange(32.0))

    def make(i: int) -> torch.Tensor:
        return torch.fft.rfft(waves[i % 4 : i % 4 + 16]).abs() + i

    expected = torch.stack([make(i) for i in range(8)])
    torch.testing.assert_close(batches(make)[0], expected)


def test_samples_may_be_split() -> None:
    halves = batches(lambda i: torch.stack(torch.split(torch.arange(4.0) + i, 2)))[0]
    assert halves[3].tolist() == [[3, 4], [5, 6]]


def test_samples_may_be_written_to_and_seen_by_views() -> None:
    source = torch.zeros(4, 3)

    def make(i: int) -> torch.Tensor:
        sample = source.clone()
        row = sample[i % 4]
        row += i
        sample[:, 0] = 9
        sample.view(-1)[-1] *= 2
        return sample

    seen = batches(make)[0]
    assert seen[2].tolist() == [[9, 0, 0], [9, 0, 0], [9, 2, 2], [9, 0, 0]]
    assert seen[3].tolist() == [[9, 0, 0], [9, 0, 0], [9, 0, 0], [9, 3, 6]]
    assert source.sum().item() == 0


def test_a_sample_is_no_part_of_what_it_was_made_of() -> None:
    data = torch.arange(8.0)
    (batch,) = DataLoader(Made(lambda i: data[i : i + 2], 4), batch_size=4)
    data.zero_()
    assert batch.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_what_is_recorded_meanwhile_goes_on_afterwards() -> None:
    weight = torch.ones(3, requires_grad=True)
    loss = (weight * 2).sum()
    for batch in DataLoader(Made(lambda i: torch.full((3,), float(i)), 4), batch_size=2):
        loss = loss + (weight * batch).sum()
    loss.backward()
    assert weight.grad is not None and weight.grad.tolist() == [8, 8, 8]
    assert loss.item() == 24


def test_a_sample_may_read_what_is_still_to_be_computed() -> None:
    scale = torch.ones(2) * 3
    (batch,) = DataLoader(Made(lambda i: torch.tensor([1.0, 2.0]) * scale + i, 2), batch_size=2)
    assert batch.tolist() == [[3, 6], [4, 7]]
    assert (scale + 1).tolist() == [4, 4]


def test_a_sample_may_take_gradients() -> None:
    def make(i: int) -> Any:
        x = torch.full((2,), float(i), requires_grad=True)
        (x**3).sum().backward()
        return x.grad

    assert batches(make)[0][:, 0].tolist() == [3 * i**2 for i in range(8)]


def test_an_error_in_a_sample_leaves_nothing_behind() -> None:
    def make(i: int) -> torch.Tensor:
        return torch.zeros(2) + torch.zeros(3 if i == 5 else 2)

    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        batches(make)
    with explain.counted() as cost:
        assert (torch.ones(2) + 1).tolist() == [2, 2]
    assert cost.runs == 1


def test_streams_make_theirs_so_too() -> None:
    class Stream(IterableDataset):
        def __iter__(self) -> Iterator[torch.Tensor]:
            for i in range(16):
                sample = torch.arange(4.0) * i
                yield sample.flip(0) if i % 3 else sample

    list(DataLoader(Stream(), batch_size=8))
    with explain.counted() as cost:
        seen = list(DataLoader(Stream(), batch_size=8))
    assert seen[0][3].tolist() == [0, 3, 6, 9] and seen[0][4].tolist() == [12, 8, 4, 0]
    assert cost.runs == cost.misses == 0


def test_what_follows_from_shapes_alone_belongs_to_each_sample() -> None:
    whole = torch.arange(3)

    def make(i: int) -> torch.Tensor:
        known = torch.isnan(whole)
        known.numpy()[i % 3] = True
        return known

    assert batches(make)[0][:3].tolist() == torch.eye(3).bool().tolist()
