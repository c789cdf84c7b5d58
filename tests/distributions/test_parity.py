"""The same cases with other parameters, side by side with the installed torch."""

from __future__ import annotations

import pytest

import funcgrad
from tests.distributions import cases
from tests.distributions.asking import Asking
from tests.distributions.comparing import require_same

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.parity
ours, theirs = Asking(funcgrad), Asking(torch)


@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_distributions_agree(name: str) -> None:
    case = cases.DISTRIBUTIONS[name]
    (answers, texts), (expected, expected_texts) = ours.distribution(case, 1), theirs.distribution(case, 1)
    require_same(answers, expected, name)
    assert texts == expected_texts
    if case.draws == "as torch":
        require_same(ours.drawn(case, 1, "float32"), theirs.drawn(case, 1, "float32"), name)


@pytest.mark.parametrize("p", cases.divergences())
def test_divergences_agree(p: str) -> None:
    require_same(ours.divergences(p, 1), theirs.divergences(p, 1), p)


@pytest.mark.parametrize("name", cases.TRANSFORMS)
def test_transforms_agree(name: str) -> None:
    make, given = cases.TRANSFORMS[name]
    (answers, texts), (expected, expected_texts) = ours.transform(make, given, 1), theirs.transform(make, given, 1)
    require_same(answers, expected, name)
    assert texts == expected_texts


def test_every_public_name_is_there() -> None:
    for module in ("distributions", "distributions.constraints", "distributions.transforms", "distributions.utils"):
        one, other = funcgrad, torch
        for word in module.split("."):
            one, other = getattr(one, word), getattr(other, word)
        assert not {name for name in other.__all__ if not hasattr(one, name)}


def test_every_pair_of_torch_has_a_divergence() -> None:
    named = [
        {(p.__name__, q.__name__) for p, q in D.kl._KL_REGISTRY} for D in (funcgrad.distributions, torch.distributions)
    ]
    assert named[1] <= named[0]
