"""With torch at hand: all of its options, in float64 and complex64 too, and checkpoints that go both ways."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad
from tests.databases import Holds
from tests.optim import cases
from tests.optim.running import assert_close, give_gradients, parameter, recorded, trajectory

pytestmark = pytest.mark.parity
OPTIONS = {name: [case["options"] for case in found] for name, found in recorded("trajectories").items()}
EVERY = [(name, options) for name, all_options in OPTIONS.items() for options in all_options]


@pytest.fixture(scope="module")
def record() -> Any:
    pytest.importorskip("torch", minversion="2.13")
    return pytest.importorskip("tests.optim.record")


def test_recorded_options_are_those_of_torch(record: Any) -> None:
    as_recorded = {
        name: [{k: list(v) if isinstance(v, tuple) else v for k, v in options.items()} for options in all_options]
        for name, all_options in record.options_of_torch().items()
    }
    assert as_recorded == OPTIONS


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize(("name", "options"), EVERY, ids=[f"{name} {options}" for name, options in EVERY])
def test_trajectories_equal_torchs(
    record: Any, name: str, options: dict[str, Any], dtype: str, record_property: Any
) -> None:
    if dtype == "complex64" and name in ("Adafactor", "Muon", "SparseAdam"):
        pytest.skip("torch refuses complex parameters here")
    with Holds(record_property, "optim_db", name, ("trajectories",)) as holds, holds.judging("trajectories"):
        wanted, _, _ = record.trajectory(name, options, dtype)
        found, _, _ = trajectory(name, options, dtype)
        for ours, theirs in zip(found[-1], wanted[-1], strict=True):
            # torch computes with a float32 learning rate in float32; Muon's steps are made in bfloat16
            rounds = name == "Muon" or (dtype == "float64" and isinstance(options.get("lr"), dict))
            assert_close(ours, theirs, "float32" if rounds else dtype)


@pytest.mark.parametrize("options", cases.SEARCHES)
def test_lbfgs_goes_where_torchs_goes(record: Any, options: str, record_property: Any) -> None:
    with Holds(record_property, "optim_db", "LBFGS", ("trajectories",)) as holds, holds.judging("trajectories"):
        made = [
            cases.fit(tensor, _leaf_of(tensor), kind, cases.SEARCHES[options])
            for tensor, kind in ((t.tensor, t.optim.LBFGS) for t in (funcgrad, record.torch))
        ]
        assert made[0][1] == made[1][1]
        assert_close(made[0][0], made[1][0], "float64" if options != "default" else "float32")


@pytest.mark.parametrize("name", list(OPTIONS))
def test_checkpoints_of_torch_go_on_here(record: Any, name: str, record_property: Any) -> None:
    with Holds(record_property, "optim_db", name, ("state_dict",)) as holds, holds.judging("state_dict"):
        _go_on(record, name)


def _go_on(record: Any, name: str) -> None:
    rows, _, theirs = record.trajectory(name, OPTIONS[name][-1])
    start, gradients = cases.problem(name)
    del start
    params = [parameter(array) for array in rows[-1]]
    ours = getattr(funcgrad.optim, name)(params)
    ours.load_state_dict(_as_ours(theirs.state_dict()))
    their_params = [param for group in theirs.param_groups for param in group["params"]]
    for step in gradients[:2]:
        give_gradients(name, params, step)
        ours.step()
        for param, gradient in zip(their_params, step, strict=True):
            param.grad = record.gradient_of(name, gradient)
        theirs.step()
    for our, their in zip(params, their_params, strict=True):
        assert_close(our.detach().numpy(), their.detach().numpy())


def _as_ours(kept: Any) -> Any:
    if isinstance(kept, dict):
        return {key: _as_ours(inner) for key, inner in kept.items()}
    if isinstance(kept, (list, tuple)):
        return type(kept)(_as_ours(inner) for inner in kept)
    return funcgrad.tensor(kept.numpy()) if type(kept).__module__ == "torch" else kept


def _leaf_of(tensor: Any) -> Any:
    return lambda array: tensor(array, requires_grad=True)
