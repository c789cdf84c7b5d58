"""Every optimizer goes where torch's goes, for the options of torch's own tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from tests.optim import cases
from tests.optim.running import as_given, assert_close, parameter, recorded, trajectory

TRAJECTORIES = recorded("trajectories")
EVERY = [(name, case) for name, all_cases in TRAJECTORIES.items() for case in all_cases]
FIRST = [(name, all_cases[0]["options"]) for name, all_cases in TRAJECTORIES.items()]


@pytest.mark.parametrize(("name", "case"), EVERY, ids=[f"{name} {case['options']}" for name, case in EVERY])
def test_parameters_and_state_equal_torch(name: str, case: dict[str, Any]) -> None:
    rows, params, optimizer = trajectory(name, case["options"])
    for step, wanted in zip((1, cases.STEPS), case["after"], strict=True):
        for found, expected in zip(rows[step - 1], wanted, strict=True):
            assert_close(found.ravel() if found.ndim else found, expected)
    for param, wanted in zip(params, case["state"], strict=True):
        state = optimizer.state.get(param, {})
        assert set(state) == set(wanted)
        for key, expected in wanted.items():
            found = np.asarray(state[key])  # SparseAdam counts its steps in Python
            # a running mean of a few random numbers may nearly cancel, so it is held to what went into it
            np.testing.assert_allclose(found.ravel() if found.ndim else found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "options"), FIRST, ids=[name for name, _ in FIRST])
def test_half_precision_computes_in_float32(name: str, options: dict[str, Any]) -> None:
    start, _ = cases.problem(name)
    kind = torch.bfloat16
    param = torch.tensor(start[0]).to(kind).requires_grad_()
    optimizer = getattr(torch.optim, name)([param], lr=0.01)
    for _ in range(3):
        param.grad = as_given(name, torch.tensor(start[0]).to(kind))
        optimizer.step()
    assert param.dtype is kind
    whole = parameter(torch.tensor(start[0]).to(kind).float().numpy())
    reference = getattr(torch.optim, name)([whole], lr=0.01)
    for _ in range(3):
        whole.grad = as_given(name, torch.tensor(start[0]).to(kind).float())
        reference.step()
    np.testing.assert_allclose(param.detach().float().numpy(), whole.detach().numpy(), rtol=0.02, atol=0.02)
