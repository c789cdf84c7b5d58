"""Masked functions against numpy's of the elements that count, row by row; and torch's windows against numpy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as torch

NUMBERS = np.random.RandomState(0).normal(size=(4, 6))
MASK = np.random.RandomState(1).uniform(size=(4, 6)) < 0.6
MASK[:, 2] = True


def _softmax(row: np.ndarray) -> np.ndarray:
    return np.exp(row) / np.exp(row).sum()


REDUCTIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min,
    "std": lambda row: np.std(row, ddof=1), "var": lambda row: np.var(row, ddof=1), "norm": np.linalg.norm,
    "logsumexp": lambda row: np.log(np.exp(row).sum()), "median": lambda row: np.sort(row)[(len(row) - 1) // 2],
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_sees_what_the_mask_counts(name: str) -> None:
    reduce = getattr(torch.masked, name)
    result = reduce(torch.tensor(NUMBERS), dim=1, mask=torch.tensor(MASK))
    expected = [REDUCTIONS[name](row[counted]) for row, counted in zip(NUMBERS, MASK, strict=True)]
    np.testing.assert_allclose(result.numpy(), expected)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "logsumexp", "var"])
def test_no_gradient_reaches_what_the_mask_leaves_out(name: str) -> None:
    x = torch.tensor(NUMBERS, requires_grad=True)
    getattr(torch.masked, name)(x, dim=1, mask=torch.tensor(MASK)).sum().backward()
    assert not x.grad.numpy()[~MASK].any()
    assert x.grad.numpy()[MASK].any()


def test_softmax_shares_out_among_what_counts() -> None:
    result = torch.masked.softmax(torch.tensor(NUMBERS), 1, mask=torch.tensor(MASK)).numpy()
    for shares, row, counted in zip(result, NUMBERS, MASK, strict=True):
        np.testing.assert_allclose(shares[counted], _softmax(row[counted]))
        assert not shares[~counted].any()


def test_where_nothing_counts_the_result_is_the_function_of_no_numbers() -> None:
    x, none = torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.bool)
    assert torch.masked.sum(x, 1, mask=none).tolist() == [0, 0]
    assert torch.masked.prod(x, 1, mask=none).tolist() == [1, 1]
    assert torch.masked.amax(x, 1, mask=none).tolist() == [-float("inf")] * 2
    assert torch.masked.mean(x, 1, mask=none).isnan().all()


WINDOWS: dict[str, Callable[[int], np.ndarray]] = {
    "hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman, "bartlett": np.bartlett,
    "kaiser": lambda count: np.kaiser(count, 12.0),
}  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 9, 16])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_numpys(name: str, count: int) -> None:
    window = getattr(torch.signal.windows, name)
    np.testing.assert_allclose(window(count, dtype=torch.float64).numpy(), WINDOWS[name](count), atol=1e-12)
    if count > 1:
        periodic = window(count, sym=False, dtype=torch.float64).numpy()
        np.testing.assert_allclose(periodic, WINDOWS[name](count + 1)[:-1], atol=1e-12)


@pytest.mark.parametrize("name", ["cosine", "exponential", "gaussian", "nuttall", "general_hamming"])
def test_windows_are_symmetric_and_at_most_one(name: str) -> None:
    values = getattr(torch.signal.windows, name)(11).numpy()
    np.testing.assert_allclose(values, values[::-1], atol=1e-6)
    assert values.argmax() == 5
    assert values.max() == pytest.approx(1)


def test_windows_refuse_what_torch_refuses() -> None:
    with pytest.raises(ValueError, match="requires non-negative window length, got M=-1"):
        torch.signal.windows.hann(-1)
    with pytest.raises(ValueError, match=r"expects float32 or float64 dtypes, got: torch\.int64"):
        torch.signal.windows.hann(3, dtype=torch.int64)
    with pytest.raises(ValueError, match="Standard deviation must be positive"):
        torch.signal.windows.gaussian(3, std=-1)


def test_frequencies_are_numpys() -> None:
    for count in (1, 4, 7):
        np.testing.assert_allclose(torch.fft.fftfreq(count, 0.5).numpy(), np.fft.fftfreq(count, 0.5), rtol=1e-6)
        np.testing.assert_allclose(torch.fft.rfftfreq(count, 0.5).numpy(), np.fft.rfftfreq(count, 0.5), rtol=1e-6)
