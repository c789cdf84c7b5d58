"""What XLA is asked for arrays of many dimensions."""

from __future__ import annotations

import subprocess
import sys

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
