"""Generators: seeds, states, copies, the default ones, and fork_rng."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from funcgrad import cuda, mps, random, xpu
from funcgrad._base import dtypes
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import to_host
from funcgrad.linalg.low_rank import lobpcg
from funcgrad.random import Generator, functions
from funcgrad.random import generator as generators
from funcgrad.random.generator import generator_of
from tests.random.keys import holding_key


def numbers(generator: Generator | None = None) -> list[float]:
    return to_host(functions.randn(3, generator=generator)).tolist()


@pytest.fixture(params=["stream", "key"])
def generator(request: pytest.FixtureRequest) -> Generator:
    return (holding_key() if request.param == "key" else Generator()).manual_seed(11)


def test_the_same_seed_gives_the_same_numbers(generator: Generator) -> None:
    first, second = numbers(generator), numbers(generator)
    assert first != second
    assert [numbers(generator.manual_seed(11)), numbers(generator)] == [first, second]
    assert numbers(generator.manual_seed(12)) != first


def test_state_goes_round(generator: Generator) -> None:
    numbers(generator)
    state = generator.get_state()
    assert state.dtype is dtypes.uint8
    first = numbers(generator)
    assert numbers(generator.set_state(state)) == first
    assert generator.initial_seed() == 11


def test_copies_go_on_alike_and_apart(generator: Generator) -> None:
    numbers(generator)
    copies = [generator.clone(), generator.clone_state(), copy.deepcopy(generator)]
    copies.append(pickle.loads(pickle.dumps(generator)))
    first, second = numbers(generator), numbers(generator)
    assert all([numbers(each), numbers(each)] == [first, second] for each in copies)


def test_seed_is_new_each_time(generator: Generator) -> None:
    seeds = {generator.seed() for _ in range(3)}
    assert len(seeds) == 3
    assert generator.initial_seed() in seeds


def test_seeds_have_64_bits_with_or_without_sign() -> None:
    assert Generator().manual_seed(-1).initial_seed() == 2**64 - 1
    assert Generator().manual_seed(2**64 - 1).initial_seed() == 2**64 - 1
    assert Generator().initial_seed() == 67280421310721
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow"):
            Generator().manual_seed(seed)


def test_only_a_state_of_its_kind_is_taken(generator: Generator) -> None:
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        generator.set_state(fg.zeros(5056))
    with pytest.raises(RuntimeError, match=r"RNG state (is wrong size|size to be 5$)"):
        generator.set_state(fg.zeros(5, dtype=dtypes.uint8))


def test_manual_seed_starts_all_defaults_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    other = holding_key()
    monkeypatch.setitem(generators._defaults, generators.Device("cuda", 0), other)
    assert random.manual_seed(3) is random.default_generator
    first = numbers(), numbers(generator_of("cuda"))
    numbers()
    random.manual_seed(3)
    assert (numbers(), numbers(other)) == first
    assert random.initial_seed() == other.initial_seed() == 3


def test_fork_rng_puts_everything_back() -> None:
    random.manual_seed(4)
    with random.fork_rng():
        inside = numbers()
        random.manual_seed(5)
    assert numbers() == inside
    with random.fork_rng(enabled=False):
        random.manual_seed(6)
    assert random.initial_seed() == 6


def test_fork_rng_puts_everything_back_after_an_error() -> None:
    random.manual_seed(4)
    with pytest.raises(ZeroDivisionError), random.fork_rng(devices=[]):
        random.manual_seed(5)
        raise ZeroDivisionError
    assert random.initial_seed() == 4


def test_rng_state_of_the_module_is_the_cpus() -> None:
    random.manual_seed(4)
    state = random.get_rng_state()
    first = numbers()
    random.set_rng_state(state)
    assert numbers() == first
    assert random.seed() == random.initial_seed()


def test_a_generator_given_leaves_the_default_alone() -> None:
    random.manual_seed(4)
    first = numbers()
    random.manual_seed(4)
    numbers(Generator())
    assert numbers() == first


def test_seed_zero_gives_the_numbers_everybody_knows() -> None:
    random.manual_seed(0)
    np.testing.assert_array_equal(to_host(functions.rand(2)), np.float32([0.4962565898895264, 0.7682217955589294]))


@pytest.mark.parametrize(
    ("shape", "k", "n", "follows"), [((9, 9), 2, None, 0.1507), ((9, 9), 1, 3, 0.0332), ((2, 9, 9), 1, 3, 0.4177)]
)
def test_lobpcg_draws_the_vectors_that_torch_begins_with(
    shape: tuple[int, ...], k: int, n: int | None, follows: float
) -> None:
    random.manual_seed(0)
    lobpcg(fg.eye(9).expand(shape), k, n=n)
    assert float(to_host(functions.rand(1))[0]) == pytest.approx(follows, abs=6e-5)


@pytest.mark.parametrize("seed_gpus", [cuda.manual_seed, cuda.manual_seed_all, mps.manual_seed, xpu.manual_seed_all])
def test_the_seed_of_gpus_is_not_that_of_the_cpu(seed_gpus: Callable[[int], None]) -> None:
    random.manual_seed(3)
    expected = numbers(), numbers()
    random.manual_seed(3)
    first = numbers()
    seed_gpus(3)
    assert (first, numbers()) == expected
    cuda.seed()
    assert random.initial_seed() == 3


def test_a_gpu_is_seeded_alone_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    other = holding_key()
    monkeypatch.setitem(generators._defaults, generators.Device("cuda", 0), other)
    monkeypatch.setattr(cuda.random, "available", lambda kind: (kind,))
    random.manual_seed(3)
    cuda.manual_seed(5)
    assert (random.initial_seed(), other.initial_seed()) == (3, 5)
    cuda.seed()
    assert random.initial_seed() == 3 and other.initial_seed() != 5
