"""Fused, watched and rounded models say what torch's do; a step of training stays one run."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import funcgrad as torch
from funcgrad import explain, nn
from funcgrad.ao import quantization
from tests.ao.preparing import GROUPS, network, outcomes, pictures
from tests.ao.test_watching import assert_near

RECORDED = json.loads((Path(__file__).parent / "recorded" / "preparing.json").read_text())


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
def test_models_are_fused_watched_and_rounded_as_torchs() -> None:
    found = json.loads(json.dumps(outcomes(torch)))
    assert list(found) == list(RECORDED)
    for name, expected in RECORDED.items():
        assert_near(found[name], expected, name)


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated", "ignore:Please use quant_min")
def test_a_step_with_rounded_numbers_is_one_run() -> None:
    model = quantization.fuse_modules_qat(network(torch).train(), GROUPS)
    model.qconfig = quantization.get_default_qat_qconfig()
    model = quantization.prepare_qat(model)
    optimizer, x = torch.optim.SGD(model.parameters(), lr=0.1), pictures(torch)

    def step() -> None:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()

    for _ in range(4):
        step()
    with explain.counted() as seen:
        for _ in range(5):
            step()
    assert seen.runs == 5


def test_hooks_go_along_with_what_is_fused() -> None:
    model, seen = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), []
    model[0].register_forward_pre_hook(lambda *_: seen.append("before"))
    model[1].register_forward_hook(lambda *_: seen.append("after"))
    quantization.fuse_modules(model, ["0", "1"], inplace=True)(torch.ones(1, 2))
    assert seen == ["before", "after"]


@pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated")
def test_what_is_prepared_can_be_taken_back() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    model.qconfig = quantization.default_qconfig
    prepared = quantization.prepare(model)
    assert len(prepared[0]._forward_hooks) == 1
    plain = quantization.convert(prepared, mapping={})
    assert not hasattr(plain[0], "activation_post_process")
    assert not plain[0]._forward_hooks
    with pytest.raises(NotImplementedError, match="no layers of integers with fixed scales"):
        quantization.convert(prepared)


def test_layers_that_nothing_fuses_are_refused() -> None:
    with pytest.raises(AssertionError, match="did not find fuser method for: "):
        quantization.fuse_modules(nn.Sequential(nn.Conv2d(1, 1, 1), nn.Sigmoid()), ["0", "1"])


def test_fused_layers_are_pickled() -> None:
    fused = nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU())
    quantization.fuse_modules(fused, ["0", "1"], inplace=True)
    assert repr(pickle.loads(pickle.dumps(fused))) == repr(fused)
