"""What XLA is asked for arrays of many dimensions and depthwise convolutions, and what it may not contract."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import funcgrad as torch
from funcgrad._program import plan
from funcgrad._program.compiling import options_for

SCRIPT = """
import numpy as np
import funcgrad as torch

x, y = torch.rand(2, 12, 11, 10, 2, 2, 2), torch.rand(2, 12, 11, 10, 2)
(x * y[..., None, None]).sum(4).mean().item()
found = (x * y[..., None, None]).sum(4).numpy()
print(np.allclose(found, (x.numpy() * y.numpy()[..., None, None]).sum(4)))
"""


def test_sums_of_many_dimensions_do_not_end_the_process() -> None:
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (found.stdout, found.returncode) == ("True\n", 0), found.stderr


@pytest.mark.parametrize(("groups", "asks"), [(1, False), (2, False), (4, True)])
def test_only_nets_with_depthwise_convolutions_leave_their_sums_to_xla(
    groups: int, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []

    def noted(line: Any) -> dict[str, Any]:
        given.append(options_for(line))
        return given[-1]

    monkeypatch.setattr(plan, "options_for", noted)
    convolution = torch.nn.Conv2d(4, 4, 3, groups=groups)
    convolution(torch.ones(1, 4, 5, 5)).tanh().sum().backward()
    convolution.weight.grad.sum().item()
    assert any(given) is asks


OF_EQUAL_PRODUCTS = """
import funcgrad as torch

torch.manual_seed(0)
for dtype in (torch.float32, torch.float64):
    one = torch.nn.Parameter(torch.ones((), dtype=dtype))
    for turns in (1, 1, 40, 40):
        state, left = torch.rand(100, 1000, dtype=dtype) * 20 * one, []
        for _ in range(turns):
            same = state + 0.0 * state
            left.append((same**2 - state * state).sqrt().isnan().sum())
            state = (state * 0.9).sin() + 0.1
        print(max(torch.stack(left).tolist()))
"""


def test_of_equal_products_nothing_remains() -> None:
    environment = {name: word for name, word in os.environ.items() if name != "XLA_FLAGS"}  # as users' code is compiled
    words = [sys.executable, "-c", OF_EQUAL_PRODUCTS]
    found = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert found.stdout == "0\n" * 8, found.stderr
