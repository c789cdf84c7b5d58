"""Observers say torch's scales and zero points; fake quantisation rounds by them, and a step stays one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import explain, nn
from funcgrad.ao import quantization
from funcgrad.ao.quantization import observer
from tests.ao.watching import outcomes

RECORDED = json.loads((Path(__file__).parent / "recorded" / "watching.json").read_text())


def test_scales_and_rounded_numbers_are_torchs() -> None:
    found = json.loads(json.dumps(outcomes(torch)))
    assert list(found) == list(RECORDED)
    for name, expected in RECORDED.items():
        assert_near(found[name], expected, name)


def assert_near(found: Any, expected: Any, name: str) -> None:
    if isinstance(expected, list) and expected and all(type(x) in (int, float) for x in expected):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=name)
    elif isinstance(expected, list):
        assert len(found) == len(expected), name
        for one, other in zip(found, expected, strict=True):
            assert_near(one, other, name)
    else:
        assert found == expected, name


def test_makers_take_arguments_and_functions_of_them() -> None:
    maker = observer.MinMaxObserver.with_args(quant_min=0, quant_max=127).with_args(dtype=torch.qint8)
    assert (maker().dtype, maker().quant_max, maker() is maker()) == (torch.qint8, 127, False)
    assert observer.RecordingObserver.with_callable_args(dtype=lambda: torch.qint8)().dtype is torch.qint8
    assert isinstance(quantization.default_qat_qconfig.weight(), quantization.FakeQuantize)


def test_an_extreme_that_was_written_by_hand_is_looked_at() -> None:
    watching = observer.MinMaxObserver()
    watching(torch.ones(3))
    watching.min_val.fill_(3)
    with pytest.raises(AssertionError, match=r"min 3\.0 should be less than max 1\.0"):
        watching.calculate_qparams()
    watching.reset_min_max_vals()
    with pytest.warns(UserWarning, match="must run observer before"):
        assert watching.calculate_qparams()[0].tolist() == [1.0]


def test_what_does_not_watch_refuses_to_say_a_scale() -> None:
    for name in ("PlaceholderObserver", "NoopObserver", "RecordingObserver", "ReuseInputObserver"):
        watching = getattr(observer, name)()
        with pytest.raises(Exception, match=f"calculate_qparams should not be called for {name}"):
            watching.calculate_qparams()
    with pytest.raises(TypeError, match="abstract"):
        getattr(observer, "ObserverBase")(torch.qint8)  # noqa: B009 - which no checker of types lets pass


@pytest.mark.filterwarnings("ignore:Please use quant_min and quant_max")
def test_a_step_of_training_with_rounded_numbers_is_one_run() -> None:
    class Rounding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(64, 64)
            self.weights, self.results = quantization.default_weight_fake_quant(), quantization.default_fake_quant()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.results(nn.functional.linear(x, self.weights(self.layer.weight), self.layer.bias).relu())

    model, x = nn.Sequential(Rounding(), Rounding()), torch.randn(32, 64)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step() -> None:
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        optimizer.step()

    for _ in range(4):
        step()
    with explain.counted() as seen:
        for _ in range(10):
            step()
    assert (seen.runs, seen.compiles) == (10, 0)


def test_the_limits_of_quantised_dtypes_are_those_of_their_integers() -> None:
    assert (torch.iinfo(torch.quint8).max, torch.iinfo(torch.qint8).min, torch.iinfo(torch.qint32).bits) == (
        255,
        -128,
        32,
    )


def test_one_scale_for_all_may_be_a_tensor_of_one_element() -> None:
    scale, zero = torch.tensor([0.5]), torch.tensor([1], dtype=torch.int32)
    assert torch.fake_quantize_per_tensor_affine(torch.tensor(1.3), scale, zero, 0, 15).tolist() == 1.5
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        torch.fake_quantize_per_tensor_affine(torch.ones(3), torch.ones(2), torch.zeros(2, dtype=torch.int32), 0, 15)
