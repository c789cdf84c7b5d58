"""LAPACK's routines for batches run one after another, so that none waits for a thread that another holds."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jax
import pytest

import funcgrad as torch
from funcgrad._program import plan


def routines_before(compute: Callable[[], torch.Tensor], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return for each of LAPACK's factorisations in a program how many others lead to what it reads."""
    programs: list[tuple[Any, Any]] = []

    def noted(execute: Any, line: Any, avals: Any, *inputs: Any) -> None:
        programs.append((execute, inputs))

    monkeypatch.setattr(plan, "on_host", noted)
    compute().item()
    ((execute, inputs),) = programs
    with jax.enable_x64(True):
        text = execute.lower(*inputs).compile().as_text()
    found: list[int] = []
    leads: dict[str, set[str]] = {}
    for line in text[text.index("ENTRY") :].splitlines():
        if " = " not in line:
            continue
        (name,), reads = re.findall(r"%[\w.-]+", line.split(" = ")[0]), re.findall(r"%[\w.-]+", line.split(" = ", 1)[1])
        before = set[str]().union(*[leads.get(read, set()) for read in reads])
        if re.search(r"lapack_.(getrf|geqrf|gesdd|potrf|syevd)", line):
            found.append(len(before))
            before = before | {name}
        leads[name] = before
    return found


ROUTINES = ("matrix_exp", "linalg.inv_ex", "linalg.lu_factor_ex", "linalg.qr", "linalg.cholesky_ex")


@pytest.mark.parametrize("name", ROUTINES)
def test_a_batch_waits_for_the_one_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    routine: Any = torch
    for word in name.split("."):
        routine = getattr(routine, word)

    def summed(x: torch.Tensor) -> torch.Tensor:
        found = routine(x)
        return (found if isinstance(found, torch.Tensor) else found[0]).sum()

    batches = [torch.eye(3).expand(5, 3, 3) * (i + 1.0) for i in range(3)]
    assert routines_before(lambda: sum(map(summed, batches)), monkeypatch) == [0, 1, 2]
    # a single matrix waits for no thread
    assert routines_before(lambda: sum(summed(x[0]) for x in batches), monkeypatch) == [0, 0, 0]


WAITING = """
import funcgrad as torch

a, x = torch.rand(24, 12, 24, 1, 1), torch.randn(5, 5)
for _ in range(20):
    (torch.matrix_exp(a * x) @ torch.matrix_exp(a.flip(0) * x.T) @ torch.matrix_exp(a.flip(1) * x)).sum().item()
print("done")
"""


def test_routines_that_share_xlas_threads_end() -> None:
    found = subprocess.run([sys.executable, "-c", WAITING], capture_output=True, text=True, check=False, timeout=240)
    assert (found.stdout, found.returncode) == ("done\n", 0), found.stderr


def test_derivatives_wait_for_each_other_and_are_what_they_are() -> None:
    a, b = (torch.randn(4, 3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    (torch.matrix_exp(a).sum() + torch.matrix_exp(b).prod()).backward()
    together = a.grad, b.grad
    a.grad = b.grad = None
    torch.matrix_exp(a).sum().backward()
    torch.matrix_exp(b).prod().backward()
    for one, other in zip(together, (a.grad, b.grad), strict=True):
        torch.testing.assert_close(one, other)


def test_what_is_not_a_number_stays_in_its_batch() -> None:
    spoilt, fine = torch.full((2, 3, 3), torch.nan), torch.eye(3).expand(2, 3, 3)
    both = torch.matrix_exp(spoilt), torch.matrix_exp(fine)
    torch.testing.assert_close(both[1], torch.e * torch.eye(3).expand(2, 3, 3))
    assert both[0].isnan().all()
