"""The stream: what numpy gives is put together as torch does it, and its state is torch's 5056 bytes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from funcgrad.random import box_muller, counting, normal, sampling
from funcgrad.random.mersenne import STATE_BYTES, MersenneTwister

RECORDED = Path(__file__).parent / "recorded"
FLOAT32, INT64 = np.dtype(np.float32), np.dtype(np.int64)


def test_state_is_torchs_state_in_every_byte() -> None:
    stream = MersenneTwister(5)
    for count, expected in zip((0, 1, 623, 1, 700), np.load(RECORDED / "states.npz")["states"], strict=True):
        sampling.uniform(stream, count, FLOAT32)
        sampling.normals(stream, 1, FLOAT32)
        assert stream.state_bytes() == expected.tobytes()


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625, 1248])
def test_a_stream_goes_on_from_a_state(drawn: int) -> None:
    stream, other = MersenneTwister(7), MersenneTwister(8)
    stream.words32(drawn)
    normal.normal_pairs(stream, 1)
    other.set_state_bytes(stream.state_bytes())
    assert other.state_bytes() == stream.state_bytes()
    np.testing.assert_array_equal(normal.normal_pairs(other, 4), normal.normal_pairs(stream, 4))
    np.testing.assert_array_equal(other.words32(700), stream.words32(700))


@pytest.mark.parametrize("state", [b"", bytes(STATE_BYTES), b"\xff" * STATE_BYTES])
def test_what_is_no_state_is_refused(state: bytes) -> None:
    with pytest.raises(RuntimeError, match=r"RNG state (is invalid|size to be 0)"):
        MersenneTwister().set_state_bytes(state)


def test_a_64_bit_word_is_two_of_32_the_high_one_first() -> None:
    halves = MersenneTwister(3).words32(10).astype(np.uint64)
    np.testing.assert_array_equal(MersenneTwister(3).words64(5), halves[::2] << np.uint64(32) | halves[1::2])


@pytest.mark.parametrize("probability", [0.0, 1e-300, 0.1, 0.5, 1 / 3, 1 - 2**-53, 1.0])
def test_below_compares_exactly(probability: float) -> None:
    doubles = MersenneTwister(3).doubles(1000)
    np.testing.assert_array_equal(MersenneTwister(3).below(1000, probability), doubles < probability)


@pytest.mark.parametrize("count", [2, 3, 10, 257, 5000])
def test_a_permutation_made_at_once_is_that_made_in_order(count: int) -> None:
    for seed in range(5):
        left = np.arange(count, 1, -1)
        partners = (MersenneTwister(seed).words32(count - 1) % left + np.arange(count - 1)).astype(np.int64)
        at_once = sampling._shuffled_at_once(partners)
        np.testing.assert_array_equal(at_once, sampling._shuffled_in_order(partners))


def test_words_drawn_ahead_are_given_back() -> None:
    rates, kind = np.full(50, 3.0), FLOAT32
    stream = MersenneTwister(1)
    together = counting.poisson(stream, rates, kind)
    following = stream.words32(3)
    stream.reseed(1)
    one_by_one = [counting.poisson(stream, rates[:1], kind)[0] for _ in rates]
    np.testing.assert_array_equal(together, one_by_one)
    np.testing.assert_array_equal(following, stream.words32(3))


@pytest.mark.parametrize("count", [16, 17, 31, 1000, 1024, 1025, 16384, 16385, 5 * 16384 + 40])
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (0.3, 2.0)])
def test_normals_by_a_compiled_kernel_are_those_by_numpy(
    count: int, mean: float, std: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for seconds in (math.inf, 0.0):
        monkeypatch.setattr(box_muller.Compiled, "seconds", seconds)
        monkeypatch.setattr(normal, "COMPILED", box_muller.Compiled())
        stream = MersenneTwister(1)
        made.append((normal.normal_float32(stream, count, mean, std), stream.words32(2)))
        assert (len(normal.COMPILED._kernels) > 0) == (seconds == 0.0)
    (by_numpy, following), (compiled, also_following) = made
    np.testing.assert_array_equal(by_numpy.view(np.int32), compiled.view(np.int32))
    np.testing.assert_array_equal(following, also_following)


def test_a_kernel_is_compiled_once_numpy_took_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_muller.Compiled, "seconds", 1e-3)
    kernels = box_muller.Compiled()
    words = MersenneTwister(1).words32(1024)
    for _ in range(6):
        assert not kernels._kernels
        kernels.normals(words)
    kernels.normals(words)
    assert list(kernels._kernels) == [1024]


@pytest.mark.optimised
def test_the_kernel_has_numpys_bits_for_all_uniform_numbers() -> None:
    kernel = box_muller._compiled(box_muller.MOST)
    half = box_muller.MOST // 2
    for start in range(0, 1 << 24, half):
        uniform = np.arange(start, start + half, dtype=np.uint32).reshape(-1, 8)
        words = np.stack([uniform, uniform[::-1]], 1).reshape(-1)
        found = np.asarray(kernel(words)).view(np.int32)
        np.testing.assert_array_equal(found, box_muller._normals(np, words).view(np.int32))


def test_uniform_float64_is_rounded_once() -> None:
    low, high = -0.37, 0.91
    made = sampling.uniform(MersenneTwister(2), 2000, np.dtype(np.float64), low, high)
    doubles = MersenneTwister(2).doubles(2000)
    exact = doubles.astype(np.longdouble) * np.longdouble(high - low) + np.longdouble(low)
    assert np.max(np.abs(made - exact)) <= 2.0**-54 * (1 + 2**-8)


def test_uniform_never_reaches_what_it_excludes() -> None:
    for kind in (np.float16, np.float32):
        assert sampling.uniform(MersenneTwister(0), 20000, np.dtype(kind), 0.0, 1.0).max() < 1
        assert sampling.uniform(MersenneTwister(0), 20000, np.dtype(kind), 1.0, 1.001).max() < kind(1.001)
