"""Random numbers are drawn in the order in which elements lie in storage, as torch draws them. Figures from torch."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F

TRANSPOSED = [1.26446, -0.26131, -0.95284, -0.21419]
SLICED = [-0.68592, -1.50514, 0.25498, 1.80425, -0.45024, -0.48303]
LIKE = [-0.02403, -0.00523, 1.35491, 0.64448]
LAYER = [0.33756, -1.41527, -0.02902, -0.78628]


def test_dropout_of_a_transposed_view_drops_what_torch_drops() -> None:
    torch.manual_seed(0)
    dropped = F.dropout(torch.ones(4, 6).t())
    kept = [[0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 1, 0]]
    assert (dropped / 2).int().tolist() == kept


def test_a_transposed_tensor_is_filled_as_torch_fills_it() -> None:
    torch.manual_seed(0)
    assert torch.empty(2, 3).t().uniform_().reshape(-1).tolist() == pytest.approx(
        [0.4963, 0.1320, 0.7682, 0.3074, 0.0885, 0.6341], abs=1e-4
    )
    assert torch.empty(4, 6).t().normal_()[0].tolist() == pytest.approx(TRANSPOSED, abs=1e-4)
    assert torch.empty(4, 12)[:, ::2].normal_()[0].tolist() == pytest.approx(SLICED, abs=1e-4)
    assert torch.randn_like(torch.ones(4, 6).t())[0].tolist() == pytest.approx(LIKE, abs=1e-4)


def test_hooks_of_a_layer_see_the_batch_first() -> None:
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.3, batch_first=True)
    shapes = []
    layer.dropout1.register_forward_hook(lambda module, args, result: shapes.append((args[0].shape, result.shape)))
    torch.manual_seed(7)
    result = layer(torch.linspace(-1, 1, 80).reshape(2, 5, 8).sin())
    assert shapes == [((2, 5, 8), (2, 5, 8))]
    assert result[1, 2, :4].tolist() == pytest.approx(LAYER, abs=1e-4)
