"""Distributions, divergences and transforms give torch's recorded numbers, texts, shapes and errors."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad
from tests.distributions import cases
from tests.distributions.asking import Asking
from tests.distributions.comparing import require_alike, require_same, require_same_error

RECORDED = Path(__file__).parent / "recorded"
SEED = 7
ours = Asking(funcgrad)


@cache
def numbers() -> dict[str, Any]:
    loaded = np.load(RECORDED / "numbers.npz")
    return {name: loaded[str(i)] for i, name in enumerate(loaded["names"].tolist())}


@cache
def facts() -> dict[str, Any]:
    return json.loads((RECORDED / "facts.json").read_text())


def recorded(*places: str) -> dict[str, Any]:
    start = "\t".join(places) + "\t"
    return {k[len(start) :]: v for k, v in numbers().items() if k.startswith(start) and "\t" not in k[len(start) :]}


@pytest.fixture(autouse=True, scope="module")
def _drop_programs_at_the_end() -> Any:
    yield
    jax.clear_caches()


@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_numbers_of_a_distribution_are_torchs(name: str) -> None:
    answers, texts = ours.distribution(cases.DISTRIBUTIONS[name], SEED)
    require_same(answers, recorded(name), name)
    assert texts == facts()["distributions"][name]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_the_same_seed_draws_torchs_numbers(name: str, dtype: str) -> None:
    case = cases.DISTRIBUTIONS[name]
    drawn, expected = ours.drawn(case, SEED, dtype), recorded(name, dtype)
    if case.draws == "alike":
        require_alike(drawn, expected)
    else:
        require_same(drawn, expected, name)


@pytest.mark.parametrize("p", cases.divergences())
def test_divergences_are_torchs(p: str) -> None:
    require_same(ours.divergences(p, SEED), recorded(f"{p} ||"), p)


@pytest.mark.parametrize("name", cases.TRANSFORMS)
def test_transforms_are_torchs(name: str) -> None:
    answers, texts = ours.transform(*cases.TRANSFORMS[name], SEED)
    require_same(answers, recorded(f"transform {name}"), name)
    assert texts == facts()["transforms"][name]


@pytest.mark.parametrize("expression", cases.ERRORS)
def test_mistakes_raise_what_torch_raises(expression: str) -> None:
    require_same_error(ours.error(expression), tuple(facts()["errors"][expression]))
