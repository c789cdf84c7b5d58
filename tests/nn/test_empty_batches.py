"""A batch of no samples goes through every layer, as in torch: a filter may leave nothing of the last batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F

Tensor = torch.Tensor


def _zeros(*shape: int) -> Tensor:
    return torch.zeros(shape, requires_grad=True)


LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[int, ...]]] = {
    "Linear": (lambda: nn.Linear(3, 2), (0, 3), (0, 2)),
    "Conv2d": (lambda: nn.Conv2d(2, 4, 3, padding=1), (0, 2, 8, 8), (0, 4, 8, 8)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(2, 4, 2, stride=2), (0, 2, 8, 8), (0, 4, 16, 16)),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), (0, 2, 8, 8), (0, 2, 4, 4)),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d(2), (0, 2, 8, 8), (0, 2, 2, 2)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(2).eval(), (0, 2, 8, 8), (0, 2, 8, 8)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (0, 4, 5), (0, 4, 5)),
    "LayerNorm": (lambda: nn.LayerNorm(4), (0, 4), (0, 4)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (0, 2, 4, 4), (0, 2, 8, 8)),
    "Flatten": (lambda: nn.Flatten(), (0, 2, 4), (0, 8)),
    "Dropout": (lambda: nn.Dropout(), (0, 4), (0, 4)),
    "Softmax": (lambda: nn.Softmax(-1), (0, 4), (0, 4)),
    "GELU": (lambda: nn.GELU(), (0, 4), (0, 4)),
    "LSTM": (lambda: nn.LSTM(3, 4, 2, bidirectional=True), (5, 0, 3), (5, 0, 8)),
    "GRU": (lambda: nn.GRU(3, 4, batch_first=True), (0, 5, 3), (0, 5, 4)),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (0, 5, 8), (0, 5, 8)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_an_empty_batch_goes_through_a_layer_and_back(name: str) -> None:
    make, shape, wanted = LAYERS[name]
    layer, x = make(), _zeros(*shape)
    found: Any = layer(x)
    found = found[0] if isinstance(found, tuple) else found
    assert found.shape == wanted
    found.sum().backward()
    assert x.grad is not None and x.grad.shape == shape
    assert all(p.grad is not None and not p.grad.any() for p in layer.parameters())


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_attention_takes_no_samples_and_no_queries(need_weights: bool, average: bool) -> None:
    layer = nn.MultiheadAttention(8, 2)
    for length, batch in ((3, 0), (0, 2)):
        x = _zeros(length, batch, 8)
        output, weights = layer(x, x, x, need_weights=need_weights, average_attn_weights=average)
        assert output.shape == (length, batch, 8)
        heads = () if average else (2,)
        assert weights is None if not need_weights else weights.shape == (batch, *heads, length, length)


@pytest.mark.parametrize("loss", [nn.MultiMarginLoss, nn.CrossEntropyLoss, nn.NLLLoss])
def test_losses_of_no_samples_sum_to_nothing(loss: Any) -> None:
    scores, classes = _zeros(0, 4), torch.zeros(0, dtype=torch.long)
    assert loss(reduction="sum")(scores, classes).item() == 0
    assert loss(reduction="none")(scores, classes).shape == (0,)
    assert loss()(scores, classes).isnan()


def test_what_is_empty_is_refused_in_torchs_words() -> None:
    with pytest.raises(RuntimeError, match="Can not infer total number of classes from empty tensor"):
        nn.functional.one_hot(torch.zeros(0, dtype=torch.long))
    with pytest.raises(RuntimeError, match="Expected sequence length to be larger than 0 in RNN"):
        nn.LSTM(3, 4)(torch.zeros(0, 2, 3))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        nn.BatchNorm1d(2)(torch.zeros(1, 2))


def test_places_of_largest_are_found_in_no_images_and_put_back() -> None:
    for count, pool in enumerate((F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d), 1):
        result, places = pool(torch.ones(0, 2, *[4] * count), 3, return_indices=True)
        assert result.shape == places.shape == (0, 2, *[3] * count) and places.dtype is torch.int64
    nothing = torch.ones(0, 2, 1, 3)
    assert F.max_unpool2d(nothing, nothing.long(), 3, 2).shape == (0, 2, 3, 7)
    assert F.max_unpool1d(nothing[:, :, 0], nothing[:, :, 0].long(), 2).shape == (0, 2, 6)
