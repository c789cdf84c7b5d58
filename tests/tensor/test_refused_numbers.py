"""Places and classes that do not exist are refused where the host knows them, in torch's words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._ops.conditions import Frames, leave_no_gaps
from funcgrad.nn import functional as F

HALF = torch.ones(2, dtype=torch.float16)
REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "cross_entropy": (
        lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5])), IndexError, "Target 5 is out of bounds."
    ),
    "nll_loss": (lambda: F.nll_loss(torch.ones(2, 3), torch.tensor([0, -1])), IndexError, "Target -1 is out of bounds"),
    "embedding": (lambda: torch.nn.Embedding(3, 2)(torch.tensor([[1, 3]])), IndexError, "index out of range in self"),
    "index_select": (lambda: torch.ones(3, 2).index_select(0, torch.tensor([3])), IndexError, "index out of range"),
    "index_select, dimension 1": (
        lambda: torch.ones(3, 2).index_select(-1, torch.tensor([0, 2])), RuntimeError,
        "INDICES element is out of DATA bounds, id=2 axis_dim=2",
    ),
    "index_select, no places": (
        lambda: torch.ones(3, 0).index_select(1, torch.tensor([0])), RuntimeError,
        r"index_select\(\): self indexing axis dim should be positive",
    ),
    "index_select, one number": (
        lambda: torch.tensor(1.0).index_select(0, torch.tensor([1])), IndexError, "index out of range in self",
    ),
    "gather, one number": (
        lambda: torch.tensor(1.0).gather(-1, torch.tensor(3)), RuntimeError,
        "index 3 is out of bounds for dimension 0 with size 1",
    ),
    "scatter, one number": (
        lambda: torch.tensor(1.0).scatter(0, torch.tensor(3), torch.tensor(2.0)), RuntimeError,
        "index 3 is out of bounds for dimension 0 with size 1",
    ),
    "index_add_": (
        lambda: torch.zeros(3).index_add_(0, torch.tensor([4]), torch.ones(1)), IndexError, "index out of range in self"
    ),
    "gather": (
        lambda: torch.ones(3, 2).gather(0, torch.tensor([[3]])), RuntimeError,
        "index 3 is out of bounds for dimension 0 with size 3",
    ),
    "take": (
        lambda: torch.ones(3).take(torch.tensor([-4])), IndexError,
        "out of range: tried to access index -4 on a tensor of 3 elements.",
    ),
    "put_": (lambda: torch.ones(3).put_(torch.tensor([5]), torch.ones(1)), IndexError, "tried to access index 5"),
    "index_copy_": (
        lambda: torch.ones(3).index_copy_(0, torch.tensor([-1]), torch.ones(1)), IndexError,
        "index -1 is out of bounds for dimension 0 with size 3",
    ),
    "index_fill_": (
        lambda: torch.ones(3).index_fill_(0, torch.tensor([3]), 1.0), IndexError, "index 3 is out of bounds",
    ),
    "index_fill, a number beyond": (
        lambda: torch.arange(3).index_fill(0, torch.tensor([0]), float("inf")), RuntimeError,
        "value cannot be converted to type int64_t without overflow",
    ),
    "scatter, a number beyond": (
        lambda: torch.ones(3, dtype=torch.int8).scatter(0, torch.tensor([0]), 300), RuntimeError,
        "value cannot be converted to type int8_t without overflow",
    ),
    "add, a factor beyond": (
        lambda: torch.add(HALF, HALF, alpha=65520), RuntimeError,
        "value cannot be converted to type c10::Half without overflow",
    ),
    "sub_, a factor beyond": (
        lambda: torch.ones(2).sub_(1, alpha=1e39), RuntimeError,
        "value cannot be converted to type float without overflow",
    ),
    "add, a boolean factor": (
        lambda: torch.ones(2).add(1, alpha=True), RuntimeError, "Boolean alpha only supported for Boolean results.",
    ),
    "an element, beyond": (
        lambda: torch.ones(2).__setitem__(0, 1e39), RuntimeError, "value cannot be converted to type float without",
    ),
    "all elements, beyond": (
        lambda: (HALF * 1).float().__setitem__(slice(None), -1e300), RuntimeError,
        "value cannot be converted to type float without overflow",
    ),
    "whole numbers that a mask selects, beyond": (
        lambda: torch.ones(2, dtype=torch.int8).__setitem__(torch.tensor([True, False]), 300), RuntimeError,
        "value cannot be converted to type int8_t without overflow",
    ),
    "where, beyond": (
        lambda: torch.where(torch.tensor([True]), torch.arange(2), 1e300), RuntimeError,
        "value cannot be converted to type float without overflow",
    ),
    "lerp, a weight beyond": (
        lambda: torch.lerp(HALF, HALF, 1e39), RuntimeError, "value cannot be converted to type float without overflow"
    ),
    "clamp of whole numbers, beyond": (
        lambda: torch.arange(2).clamp(max=1e300), RuntimeError, "value cannot be converted to type float without"
    ),
    "full of float8": (
        lambda: torch.full((2,), 1e6, dtype=torch.float8_e4m3fn), RuntimeError,
        "value cannot be converted to type c10::Float8_e4m3fn without overflow",
    ),
    "istft": (
        lambda: torch.istft(torch.ones(9, 9, dtype=torch.cfloat), 16, 16, window=torch.hann_window(16), center=False),
        RuntimeError, r"window=torch.FloatTensor\{\[16\]\}, center=0, .*, return_complex=0\) window overlap add min: 1",
    ),
    "embedding_bag": (
        lambda: F.embedding_bag(torch.tensor([[0, 5]]), torch.ones(3, 2)), RuntimeError,
        r"Index 1 of input takes value 5 which is not in the valid range \[0, 3\)",
    ),
    "embedding_bag, first offset": (
        lambda: F.embedding_bag(torch.tensor([1, 2]), torch.ones(3, 2), torch.tensor([1])), RuntimeError,
        r"offsets\[0\] has to be 0, i.e., .* from position 0. However, got 1",
    ),
    "embedding_bag, last offset": (
        lambda: F.embedding_bag(torch.tensor([1, 2]), torch.ones(3, 2), torch.tensor([0, 3])), RuntimeError,
        r"offsets\[-1\] can not be greater than input's length 2 but got offsets\[-1\] of 3",
    ),
    "multi_margin_loss": (
        lambda: F.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 3])), RuntimeError, "target out of range",
    ),
    "ctc_loss, times": (
        lambda: F.ctc_loss(torch.zeros(5, 1, 3), torch.ones(1, 2).long(), torch.tensor([6]), torch.tensor([2])),
        RuntimeError, "Expected input_lengths to have value at most 5, but got value 6",
    ),
    "ctc_loss, targets": (
        lambda: F.ctc_loss(torch.zeros(5, 1, 3), torch.ones(1, 2).long(), torch.tensor([5]), torch.tensor([3])),
        RuntimeError, "Expected tensor to have size at least 3 at dimension 1, but got size 2",
    ),
    "histc": (
        lambda: torch.histc(torch.tensor([1.0, float("inf")])), RuntimeError, r"range of \[1, inf\] is not finite"
    ),
    "integers by zero": (lambda: torch.tensor([1, 2]) // 0, RuntimeError, "ZeroDivisionError"),
    "integers by a zero": (lambda: 7 % torch.tensor([1, 0]), RuntimeError, "ZeroDivisionError"),
    "integers by False": (lambda: torch.tensor([1, 2]) % False, RuntimeError, "ZeroDivisionError"),
    "integers by a False": (lambda: torch.tensor(1) // torch.tensor([True, False]), RuntimeError, "ZeroDivisionError"),
    "rounded": (
        lambda: torch.div(torch.tensor([1, 2]), 0, rounding_mode="trunc"), RuntimeError, "ZeroDivisionError"
    ),
    "repeat_interleave": (
        lambda: torch.ones(2).repeat_interleave(torch.tensor([1, -1])), RuntimeError, "repeats can not be negative"
    ),
    "~ of floats": (lambda: ~torch.ones(2), TypeError, "only implemented on integer and Boolean-type tensors"),
    "an unbound operator": (lambda: torch.Tensor.__radd__(2, torch.ones(1)), TypeError, "doesn't apply to a 'int'"),
    "one_hot": (lambda: F.one_hot(torch.tensor([4]), 3), RuntimeError, "Class values must be smaller than num_classes"),
    "one_hot, negative": (lambda: F.one_hot(torch.tensor([-1])), RuntimeError, "Class values must be non-negative."),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_exist_is_refused(name: str) -> None:
    refused, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        refused()


def test_a_negative_power_of_integers_is_refused_after_others_too() -> None:
    places = torch.tensor([1, 2])
    assert [(places**exponent).tolist() for exponent in (2, 3, 0)] == [[1, 4], [1, 8], [1, 1]]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        places**-1
    assert ((-1) ** places).tolist() == [-1, 1]  # a negative base is none


def test_zero_divides_what_may_be_divided_by_it() -> None:
    assert (torch.tensor([3.0]) // 0).item() == float("inf")
    assert (0 % torch.tensor([3])).item() == 0
    assert (torch.arange(0) % 0).tolist() == (torch.zeros(0, 1).long() // torch.tensor([1, 0])).tolist() == []
    assert torch.take_along_dim(torch.arange(3), torch.tensor([5, -1]), 0).tolist() == [2, 2]


def test_bits_are_read_as_another_dtype() -> None:
    bits = torch.ones(2).view(torch.int32)
    assert bits.tolist() == [0x3F800000] * 2
    assert torch.equal(bits.view(dtype=torch.float32), torch.ones(2))
    bits.zero_()
    with pytest.raises(RuntimeError, match="must be divisible by 2"):
        torch.ones(3).view(torch.int64)


def test_ignored_targets_may_be_no_class() -> None:
    logits = torch.arange(6.0).reshape(2, 3)
    one = F.cross_entropy(logits, torch.tensor([2, -100]))
    assert one.item() == pytest.approx(F.cross_entropy(logits[:1], torch.tensor([2])).item())
    assert F.nll_loss(logits, torch.tensor([7, 1]), ignore_index=7).item() == -4


def test_targets_of_pictures_are_checked_against_the_channels() -> None:
    with pytest.raises(IndexError, match="Target 2 is out of bounds"):
        F.cross_entropy(torch.ones(1, 2, 2, 2), torch.tensor([[[0, 1], [2, 1]]]))
    F.cross_entropy(torch.ones(1, 6, 2, 2), torch.tensor([[[0, 5], [1, 2]]]))


@pytest.mark.parametrize("hop", [1, 3, 4, 8])
@pytest.mark.parametrize("length", [None, 5, 20, 900])
@pytest.mark.parametrize("frames", [2, 5, 100])
def test_windows_that_overlap_are_found_in_a_few_frames(hop: int, length: int | None, frames: int) -> None:
    window = np.concatenate([np.zeros(2), np.ones(6)])
    total, start = (frames - 1) * hop + 12, 6
    end = total - start if length is None else start + length
    weights = np.zeros(total)
    for frame in range(frames):
        weights[frame * hop + 2 : frame * hop + 10] += window**2
    asked = Frames(frames, 12, hop, 8, start, end)
    assert bool(leave_no_gaps.wrong(window, (8,), asked, "")) == bool(weights[start:end].min() == 0)


def test_what_a_dtype_does_not_hold_is_infinite_and_nobody_is_warned() -> None:  # warnings are errors here
    half = {"dtype": torch.float16}
    made = (
        torch.tensor([1e6], **half), torch.full((1,), 1e6, **half), torch.ones(1, **half).fill_(1e6), HALF[:1] * 1e6,
        HALF[:1] + 1e6, torch.where(HALF[:1] > 1, HALF[:1], 1e6), torch.tensor([1e39]), torch.ones(1) * 1e39,
    )  # fmt: skip
    assert [x.item() for x in made] == [float("inf")] * len(made)


def test_numbers_beyond_16_bits_become_infinite() -> None:
    halves, mask = torch.ones(2, dtype=torch.float16), torch.tensor([True, False])
    halves[0] = 1e300
    assert halves.tolist() == [np.inf, 1]
    assert torch.where(mask, torch.ones_like(halves), 1e39).tolist() == [1, np.inf]


def test_numbers_beyond_what_8_bits_hold_are_torchs() -> None:
    numbers = [1e6, float("-inf"), -1000.0, 0.0, 3.0]
    made = torch.tensor(numbers, dtype=torch.float8_e4m3fn)
    assert made.float().tolist() == [448.0, -448.0, -448.0, 0.0, 3.0]
    assert torch.tensor(numbers).to(torch.float8_e5m2).float().tolist() == [float("inf"), float("-inf"), -1024.0, 0, 3]
    for exponents in (
        torch.tensor(numbers).to(torch.float8_e8m0fnu),
        torch.tensor(numbers, dtype=torch.float8_e8m0fnu),
    ):
        found = exponents.float().tolist()
        assert found[0] == 2.0**20 and found[1] != found[1] and found[2:] == [1024.0, 2.0**-127, 4.0]
