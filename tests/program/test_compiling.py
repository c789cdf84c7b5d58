"""What XLA is asked for arrays of many dimensions."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import funcgrad as torch

x = torch.rand(2, 12, 11, 10, 2, 2, 2, requires_grad=True)
y = torch.rand(2, 12, 11, 10, 2)
result = (x * y[..., None, None]).sum(4)
result.sum().backward()
assert torch.allclose(x.grad, y[..., None, None].expand_as(x))
w = torch.rand(12, 1, 10, 1, 1, 1, requires_grad=True)
(x.detach() * w).sum().backward()
assert torch.allclose(w.grad, x.detach().sum((0, 2, 4, 5, 6))[:, None, :, None, None, None])
print("done")
"""


@pytest.mark.parametrize("eager", ["0", "1"])
def test_sums_of_many_dimensions_do_not_end_the_process(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_EAGER", eager)
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (found.stdout, found.returncode) == ("done\n", 0), found.stderr
