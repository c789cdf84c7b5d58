"""What XLA is asked for arrays of many dimensions, and for depthwise convolutions."""

from __future__ import annotations

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
