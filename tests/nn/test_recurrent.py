"""The weights of recurrent layers, as scripts reach for them that drop some or put others in their place."""

from __future__ import annotations

import copy

import funcgrad as torch
from funcgrad import nn


def test_a_layer_computes_with_the_list_of_weights_that_it_is_given() -> None:
    layer, twice = nn.LSTM(4, 5), nn.LSTM(4, 5)
    x = torch.randn(3, 2, 4)
    twice.load_state_dict({name: 2 * value for name, value in layer.state_dict().items()})
    own = layer(x)[0]
    layer._flat_weights = [weight * 2 for weight in layer._flat_weights]
    assert torch.allclose(layer(x)[0], twice(x)[0], atol=1e-6)
    assert torch.allclose(copy.deepcopy(layer.cpu())(x)[0], own, atol=1e-6)  # moving looks the weights up by name again


def test_a_weight_bound_anew_counts_for_more_than_the_list_given_before() -> None:
    layer = nn.GRU(4, 5, bias=False)
    x = torch.randn(3, 2, 4)
    layer._flat_weights = [weight * 2 for weight in layer._flat_weights]
    layer.weight_ih_l0 = nn.Parameter(torch.zeros(15, 4))
    assert torch.equal(layer(x)[0], torch.zeros(3, 2, 5))


def test_what_is_written_to_the_list_of_weights_counts() -> None:
    layer = nn.GRU(4, 5, bias=False)
    layer._flat_weights[0] = torch.zeros(15, 4)
    assert torch.equal(layer(torch.randn(3, 2, 4))[0], torch.zeros(3, 2, 5))


def test_dropout_of_a_recurrent_weight_trains_the_one_behind_it() -> None:
    layer = nn.LSTM(4, 5)
    raw = nn.Parameter(layer._parameters.pop("weight_hh_l0"))
    for _ in range(2):
        layer.weight_hh_l0 = raw * 0.5
        layer._flat_weights = [getattr(layer, name) for name in layer._flat_weights_names]
        layer(torch.randn(3, 2, 4))[0].sum().backward()
    assert raw.grad is not None and (raw.grad != 0).all()
