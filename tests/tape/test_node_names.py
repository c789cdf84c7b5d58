"""What torch calls the nodes of what is done in place, recorded from torch 2.13.0."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda y: y.t_(), "TBackward1"),
        (lambda y: y.transpose_(0, 1), "TransposeBackward1"),
        (lambda y: y.unsqueeze_(0), "UnsqueezeBackward1"),
        (lambda y: y.squeeze_(), "SqueezeBackward3"),
        (lambda y: y.squeeze_(0), "SqueezeBackward4"),
        (lambda y: y.as_strided_((2,), (1,)), "AsStridedBackward1"),
        (lambda y: torch.nn.functional.leaky_relu(y, inplace=True), "LeakyReluBackward1"),
        (lambda y: torch.nn.functional.leaky_relu(y), "LeakyReluBackward0"),
        (lambda y: torch.nn.functional.selu(y, inplace=True), "EluBackward1"),
        (lambda y: torch.nn.functional.celu(y, inplace=True), "CeluBackward1"),
        (lambda y: torch.nn.functional.threshold_(y, 0.5, 1.0), "ThresholdBackward1"),
        (lambda y: y.acosh_(), "AcoshBackward1"),
        (lambda y: y.relu_(), "ReluBackward0"),
        (lambda y: y.copy_(torch.ones(2, 3)), "torch::autograd::CopyBackwards"),
        (lambda y: y.masked_select(y > 1), "MaskedSelectBackward0"),
        (lambda y: torch.masked_select(y, torch.tensor(True)), "MaskedSelectBackward0"),
    ],
)
def test_nodes_of_what_is_done_in_place_have_torchs_names(call: Any, name: str) -> None:
    y = torch.full((2, 3), 1.5, requires_grad=True) * 1
    assert call(y).grad_fn.name() == name
