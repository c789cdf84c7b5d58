"""Each script of `examples/scripts/` has a twin in `examples/twins/`, and only rounding keeps the two apart."""

from __future__ import annotations

import re

import pytest

from tests.examples import twins
from tests.examples.scripts import names

QUICK = ["mlp_classifier", "linear_regression", "reinforce"]  # an optimizer, an update by hand, a policy that plays
STEPS = {"wgan_gp": 6, "time_series_lbfgs": 2, "neural_style": 1}
OWN = {  # what the twin's state holds that compare cannot see in the script
    "char_lstm": r"memory/\d", "diffusion": "shadow", "dqn": r"target_net/.*", "neural_style": "search/.*",
    "time_series_lbfgs": "search/.*",
}  # fmt: skip
pytest.importorskip("sklearn")


def test_each_script_has_a_twin() -> None:
    assert twins.twins() == names()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.thorough) for n in twins.twins()]
)
def test_only_rounding_keeps_a_script_and_its_twin_apart(name: str) -> None:
    steps = STEPS.get(name, 4)
    apart = twins.compared(name, steps)
    assert apart.steps == steps
    assert apart.is_rounding, apart
    assert {"loss", "gradients", "parameters"} <= apart.differences.keys()
    assert all(re.fullmatch(OWN.get(name, "none"), path) for path in apart.lonely), apart.lonely


def test_what_compare_prints_is_read() -> None:
    printed = """
                                  stateful        functional
steps compared                           6                 6
time per step                     9.245 ms          0.891 ms
last loss                          4.94912           4.94913

loss: part at step 2 in loss by 1.2e-07; at most 4.8e-07 later
gradients: equal to the last bit in all 6 steps
parameters: part at step 1 in a by 1e-08; at most 0.01 later
optimizer: not compared
only in one of the two: shadow, memory/0"""
    apart = twins.read("some", printed)
    assert apart == twins.Apart(
        "some", (4.94912, 4.94913), {"loss": 4.8e-07, "gradients": 0.0, "parameters": 0.01}, ["shadow", "memory/0"], 6,
        (9.245, 0.891),
    )  # fmt: skip
    assert not apart.is_rounding
