"""Every script draws what torch drew: in every bit, except where float64 formulas may round otherwise."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from funcgrad._tensor.interop import to_host
from tests.random import namespace
from tests.random.scripts import SCRIPTS, SEEDS, grid

# where a word appears in a script's name, the results may differ from torch's by so much, relatively
_ROUNDED = {"float64": 1e-14, "complex128": 1e-14, "interleaved": 1e-14, "dirichlet_float32": 2e-7,
            "normal_around": 2e-7, "gumbel": 2e-6, "alpha_dropout": 2e-7, "rrelu": 2e-7}  # fmt: skip


@cache
def recorded(seed: int) -> Any:
    return dict(np.load(Path(__file__).parent / "recorded" / f"seed_{seed}.npz"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SCRIPTS)
def test_draws_what_torch_draws(name: str, seed: int) -> None:
    torch, expected = namespace.torch(), recorded(seed)
    place = list(expected["names"]).index(name)
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = [*eval(SCRIPTS[name], {"torch": torch, "grid": grid}), torch.randint(1 << 27, (1,))]
    assert "; ".join(f"{x.dtype.name} {list(x.shape)}" for x in drawn) == expected["kinds"][place]
    start, stop = expected["offsets"][place : place + 2]
    flat = expected["numbers"][start:stop].tobytes()
    tolerance = max((t for word, t in _ROUNDED.items() if word in name), default=0)
    for ours in map(to_host, drawn):
        theirs = np.frombuffer(flat[: ours.nbytes], ours.dtype).reshape(ours.shape)
        flat = flat[ours.nbytes :]
        if tolerance and ours.dtype.kind in "fcV":
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(ours, theirs)
