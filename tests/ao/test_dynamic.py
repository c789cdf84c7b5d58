"""quantize_dynamic prints and computes as torch does; quantised tensors keep integers, a scale and a zero point."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.ao import quantization
from tests.ao.models import models, outcome

pytestmark = [
    pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor, torch.quantize_per_channel"),
]
RECORDED = json.loads((Path(__file__).parent / "recorded" / "dynamic.json").read_text())


@pytest.mark.parametrize("name", list(models(torch)))
def test_a_layer_is_torchs(name: str) -> None:
    found, expected = outcome(torch, name), RECORDED[name]
    assert found["prints"] == expected["prints"]
    for ours, theirs in zip(found["gives"], expected["gives"], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore")
def test_the_record_is_what_torch_gives_now() -> None:
    real = pytest.importorskip("torch", minversion="2.13")
    for name in models(real):
        for now, then in zip(outcome(real, name)["gives"], RECORDED[name]["gives"], strict=True):
            np.testing.assert_allclose(now, then, atol=1e-5)


def test_classes_and_names_say_what_is_quantised() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 3), nn.LSTM(3, 2)))
    by_class = torch.quantization.quantize_dynamic(model, {nn.LSTM})
    by_name = torch.quantization.quantize_dynamic(model, {"1.0"})
    around = torch.quantization.quantize_dynamic(model, {"1"})
    quantised = [[repr(part).startswith("Dynamic") for part in (m[0], *m[1])] for m in (by_class, by_name, around)]
    assert quantised == [[False, False, True], [False, True, False], [False, True, True]]


def test_the_model_itself_stays_unless_it_is_changed_in_place() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    assert not torch.ao.quantization.quantize_dynamic(model).training
    assert type(model[0]) is nn.Linear
    assert torch.ao.quantization.quantize_dynamic(model, inplace=True) is model
    assert list(model.parameters()) == []


def test_state_goes_from_one_quantised_model_to_another() -> None:
    def made(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return torch.ao.quantization.quantize_dynamic(nn.ModuleDict({"a": nn.Linear(4, 3), "b": nn.LSTM(3, 2)}))

    first, second, x = made(1), made(2), torch.ones(5, 1, 4)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first["a"](x), second["a"](x))
    assert torch.equal(first["b"](x[..., :3])[0], second["b"](x[..., :3])[0])


def test_a_quantised_tensor_shows_its_numbers_and_how_they_are_kept() -> None:
    t = torch.quantize_per_tensor(torch.tensor([-1.0, 0.04, 1.0, 99.0]), 0.1, 10, torch.quint8)
    assert repr(t) == (
        "tensor([-1.0000,  0.0000,  1.0000, 24.5000], size=(4,), dtype=torch.quint8,\n"
        "       quantization_scheme=torch.per_tensor_affine, scale=0.1, zero_point=10)"
    )
    assert (t.int_repr().tolist(), t.int_repr().dtype) == ([0, 10, 20, 255], torch.uint8)
    assert (t.q_scale(), t.q_zero_point(), t.qscheme(), t.is_quantized) == (0.1, 10, torch.per_tensor_affine, True)
    assert t.view(2, 2)[1].dequantize().tolist() == t.dequantize()[2:].tolist()
    assert torch.dequantize(t).dtype is torch.float32


def test_the_numbers_say_the_scale_of_dynamic_quantisation() -> None:
    t = torch.quantize_per_tensor_dynamic(torch.tensor([-1.0, 0.0, 1.0, 2.0]), torch.qint8, False)
    assert (t.q_scale(), t.q_zero_point(), t.int_repr().tolist()) == (3 / 255, -43, [-128, -43, 42, 127])


def test_what_is_refused_says_what_there_is() -> None:
    t = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    with pytest.raises(NotImplementedError, match=r"'aten::add'.*dequantize"):
        t + t
    with pytest.raises(RuntimeError, match="Quantize only works on Float Tensor, got Long"):
        torch.quantize_per_tensor(torch.tensor([1]), 0.1, 0, torch.qint8)
    with pytest.raises(RuntimeError, match=r"^ScalarType Char is not supported in new_qtensor\.$"):
        torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.int8)
    with pytest.raises(ValueError, match="Don't know how to quantize"):
        torch.ao.quantization.quantize_dynamic(nn.Sequential(), dtype=torch.float16)
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 4), [3, 2])
    with pytest.raises(NotImplementedError, match="not packed ones"):
        torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.GRU(4, 2)))(packed)


@pytest.mark.parametrize("made", [torch.zeros, torch.ones, torch.empty, torch.arange])
def test_integers_without_a_scale_are_no_quantised_tensor(made: Any) -> None:
    with pytest.raises(RuntimeError, match="not supported on quantized tensors"):
        made(2, dtype=torch.quint8)
    with pytest.raises(RuntimeError, match="not supported on quantized tensors"):
        made(2).to(torch.qint8)


def test_marks_of_quantisation_pass_numbers_on() -> None:
    wrapped = quantization.QuantWrapper(nn.Linear(2, 1).eval())
    assert repr(wrapped).splitlines()[1:3] == ["  (quant): QuantStub()", "  (dequant): DeQuantStub()"]
    x = torch.ones(3, 2)
    assert not wrapped.training and torch.equal(wrapped(x), wrapped.module(x))
    assert repr(quantization.QConfig(activation=int, weight=None)) == "QConfig(activation=<class 'int'>, weight=None)"
    with pytest.raises(ValueError, match="QConfig received observer instance, please pass observer class instead"):
        quantization.QConfig(activation=nn.Identity(), weight=None)
