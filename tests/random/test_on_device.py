"""A generator that holds a key: right distributions, nothing waits, and the numbers hang on the seed alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from funcgrad._base import dtypes
from funcgrad._program.counters import counted
from funcgrad._tensor.interop import to_host
from funcgrad.random import dropout, functions
from funcgrad.random import generator as generators
from tests.random.keys import holding_key
from tests.random.namespace import torch as torch_of

torch = torch_of()
COUNT = 20000
SLACK = 5 / math.sqrt(COUNT)  # five standard errors of a mean, in standard deviations

# fill: (mean, standard deviation)
MOMENTS = {
    "uniform_(-1, 3)": (1, 4 / math.sqrt(12)), "normal_(2, 3)": (2, 3), "exponential_(2)": (0.5, 0.5),
    "geometric_(0.25)": (4, math.sqrt(0.75) / 0.25), "bernoulli_(0.3)": (0.3, math.sqrt(0.21)),
    "random_(10)": (4.5, math.sqrt(99 / 12)), "random_(-7, 4)": (-2, math.sqrt(120 / 12)),
    "log_normal_(0, 0.5)": (math.exp(0.125), math.sqrt((math.exp(0.25) - 1) * math.exp(0.25))),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(generators._defaults, generators.Device("cpu"), holding_key(5))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("fill", MOMENTS)
def test_fills_have_their_mean_and_deviation(fill: str, dtype: str) -> None:
    drawn = to_host(eval(f"torch.zeros({COUNT}, dtype=torch.{dtype}).{fill}")).astype(np.float64)
    mean, std = MOMENTS[fill]
    coarse = 0.004 * (abs(mean) + std) if dtype == "bfloat16" else 0
    assert abs(drawn.mean() - mean) < SLACK * std + coarse
    assert abs(drawn.std() / std - 1) < 0.1


def test_cauchy_has_its_quartiles() -> None:
    drawn = to_host(torch.zeros(COUNT).cauchy_(1, 2))
    np.testing.assert_allclose(np.quantile(drawn, [0.25, 0.5, 0.75]), [-1, 1, 3], atol=0.2)


def test_integers_fill_their_whole_range() -> None:
    assert set(to_host(torch.randint(-2, 3, (500,))).tolist()) == {-2, -1, 0, 1, 2}
    assert set(to_host(torch.zeros(2000, dtype=torch.bool).random_()).tolist()) == {False, True}
    wide = to_host(torch.zeros(500, dtype=torch.int64).random_(-(2**63), None)).astype(np.float64)
    assert wide.min() < -(2**62) and wide.max() > 2**62
    full = to_host(torch.zeros(500, dtype=torch.int64).random_())
    assert full.min() >= 0 and full.max() > 2**62
    assert sorted(to_host(torch.randperm(100)).tolist()) == list(range(100))


def test_each_element_has_its_own_parameter() -> None:
    p = torch.tensor([0.0, 0.2, 1.0])
    np.testing.assert_allclose(to_host(torch.bernoulli(p.expand(COUNT, 3))).mean(0), [0, 0.2, 1], atol=0.02)
    rates = torch.tensor([0.5, 30.0])
    np.testing.assert_allclose(to_host(torch.poisson(rates.expand(COUNT, 2))).mean(0), [0.5, 30], rtol=0.05)
    counts = torch.tensor([4.0, 50.0])
    drawn = torch.binomial(counts.expand(COUNT, 2), torch.tensor(0.25))
    np.testing.assert_allclose(to_host(drawn).mean(0), [1, 12.5], rtol=0.05)
    np.testing.assert_allclose(to_host(torch._standard_gamma(rates.expand(COUNT, 2))).mean(0), [0.5, 30], rtol=0.05)
    weights = to_host(torch._sample_dirichlet(torch.tensor([1.0, 3.0]).expand(COUNT, 2)))
    np.testing.assert_allclose(weights.mean(0), [0.25, 0.75], rtol=0.05)


@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial_draws_by_weight(replacement: bool) -> None:
    weights = torch.tensor([1.0, 0.0, 3.0]).expand(COUNT, 3)
    drawn = to_host(torch.multinomial(weights, 2, replacement))
    np.testing.assert_allclose([(drawn[:, 0] == i).mean() for i in range(3)], [0.25, 0, 0.75], atol=0.02)
    assert replacement or np.all(drawn[:, 0] != drawn[:, 1])


def test_complex_parts_share_the_variance() -> None:
    drawn = to_host(torch.randn(COUNT, dtype=torch.complex64))
    assert abs(drawn.real.var() - 0.5) < 0.05 and abs(drawn.imag.var() - 0.5) < 0.05
    assert to_host(torch.rand(3, dtype=torch.complex128)).dtype == np.complex128


def test_the_numbers_hang_on_the_seed_alone() -> None:
    def draw(wait: bool) -> list[np.ndarray]:
        generator = holding_key(3)
        samples = []
        for _ in range(3):
            samples.append(functions.rand(4, generator=generator))
            if wait:
                to_host(torch.ones(3) * 2 + samples[-1].sum())
        return [to_host(sample) for sample in samples]

    for waited, recorded in zip(draw(True), draw(False), strict=True):
        np.testing.assert_array_equal(waited, recorded)


def test_a_step_draws_in_its_one_program() -> None:
    x = torch.ones(50)

    def step() -> np.ndarray:
        kept = dropout.dropout(x + torch.randn_like(x), 0.5)
        return to_host(dropout.rrelu(kept - torch.rand(50), training=True).sum())

    step(), step()
    with counted() as seen:
        sums = {float(step()) for _ in range(4)}
    assert (seen.runs, seen.compiles) == (4, 0)
    assert len(sums) == 4


def test_leaves_and_dtypes_are_as_on_the_host() -> None:
    assert torch.rand(3, requires_grad=True).is_leaf
    for kind in (dtypes.float16, dtypes.bfloat16, dtypes.float64):
        assert torch.randn(3, dtype=kind).dtype is kind
    assert torch.randint(5, (3,)).dtype is dtypes.int64
