"""Every layer has torch's repr, initial weights, results, gradients and buffers, from the same seed."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad import nn
from tests.nn import cases, initial
from tests.nn.running import assert_alike, described, numbers

FOLDER = Path(__file__).parent / "recorded"
REPRS: dict[str, str] = json.loads((FOLDER / "reprs.json").read_text())
LAYERS = np.load(FOLDER / "layers.npz")
INITIAL = np.load(FOLDER / "initial.npz")
BY_NAME = {case.name: case for case in cases.CASES}


def _recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"repr": REPRS[name]}
    start = f"{name}/"
    found.update({key[len(start) :]: LAYERS[key] for key in LAYERS.files if key.startswith(start)})
    return found


def test_every_case_is_recorded() -> None:
    assert sorted(BY_NAME) == sorted(REPRS)
    assert sorted(initial.NAMES) == sorted(INITIAL.files)


@pytest.mark.parametrize("name", BY_NAME)
def test_layer_is_torchs(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # layers may warn as torch's do
        found = described(funcgrad, BY_NAME[name])
    assert_alike(found, _recorded(name))


@pytest.mark.parametrize("name", initial.NAMES)
def test_initial_values_are_torchs(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = numbers(initial.made(funcgrad, name))
    np.testing.assert_allclose(found, INITIAL[name], rtol=1e-5, atol=1e-6)


def test_a_lazy_convolution_may_have_no_bias() -> None:
    for kind in (funcgrad.nn.LazyConv2d, funcgrad.nn.LazyConvTranspose2d):
        layer = kind(4, 3, bias=False)
        assert layer(funcgrad.ones(1, 2, 5, 5)).shape[1] == 4
        assert layer.bias is None and list(layer.state_dict()) == ["weight"]


def test_a_table_with_a_padding_vector_is_made_on_the_meta_device() -> None:
    with funcgrad.device("meta"):
        table = funcgrad.nn.Embedding(5, 3, padding_idx=0)
    assert table.weight.is_meta
    assert table.to_empty(device="cpu").weight.shape == (5, 3)


def test_what_comes_after_the_last_offset_is_in_no_bag() -> None:
    weight, rows, offsets = funcgrad.arange(10.0).view(5, 2), funcgrad.tensor([1, 2, 3]), funcgrad.tensor([0, 2, 2])
    for mode in ("sum", "mean", "max"):
        bags = funcgrad.nn.functional.embedding_bag(rows[:3], weight, offsets, mode=mode, include_last_offset=True)
        assert bags[1].tolist() == [0.0, 0.0]
        assert bags[0].tolist() == {"sum": [6.0, 8.0], "mean": [3.0, 4.0], "max": [4.0, 5.0]}[mode]


def test_bags_show_their_sizes_as_they_were_given() -> None:
    rows = np.array([10, 20])
    bag = funcgrad.nn.EmbeddingBag(rows[0], 4, mode="sum", sparse=True)
    assert str(bag) == "EmbeddingBag(np.int64(10), 4, mode='sum')"
    assert str(funcgrad.nn.Embedding(rows[1], 4)) == "Embedding(20, 4)"


def test_an_encoder_says_why_it_does_not_drop_padded_places() -> None:
    layer = nn.TransformerEncoderLayer
    start = "enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer"
    for given, why in (
        (layer(8, 2, 16), ".self_attn.batch_first was not True\\(use batch_first for better inference performance\\)$"),
        (layer(8, 2, 16, batch_first=True, norm_first=True), ".norm_first was True$"),
        (layer(9, 3, 16, batch_first=True), ".self_attn.num_heads is odd$"),
    ):
        with pytest.warns(UserWarning, match=start + why):
            nn.TransformerEncoder(given, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.TransformerEncoder(layer(8, 2, 16, batch_first=True), 1)
        nn.TransformerEncoder(layer(8, 2, 16), 1, enable_nested_tensor=False)
