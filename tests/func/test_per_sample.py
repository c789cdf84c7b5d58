"""Gradients of each sample by themselves are those of the sample alone; what cannot be one batch is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.func.per_sample import call_for_per_sample_grads
from tests.refusing import assert_refused


def network() -> nn.Module:
    torch.manual_seed(0)
    layers = nn.Conv2d(1, 3, 3), nn.GroupNorm(3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4)
    return nn.Sequential(*layers).double()


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_gradients_of_samples_are_those_of_each_alone(reduction: Any) -> None:
    model, x = network(), torch.randn(5, 1, 6, 6, dtype=torch.float64)
    called = call_for_per_sample_grads(model, loss_reduction=reduction)
    getattr(called(x).square().sum(1), reduction)().backward()
    parameters: list[Any] = list(model.parameters())
    kept = [parameter.grad_sample.numpy() for parameter in parameters]
    assert all(parameter.grad is None for parameter in parameters)
    for place in range(5):
        model(x[place : place + 1]).square().sum().backward()
        for parameter, found in zip(parameters, kept, strict=True):
            assert parameter.grad is not None
            np.testing.assert_allclose(found[place], parameter.grad.numpy(), rtol=1e-10, atol=1e-12)
            parameter.grad = None


def test_a_layer_that_is_used_twice_has_both_gradients_and_a_frozen_one_none() -> None:
    layer: Any = nn.Linear(2, 2)
    layer.bias.requires_grad_(False)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    twice = nn.Sequential(layer, layer)
    call_for_per_sample_grads(twice)(x).sum().backward()
    for sample, found in zip(x, layer.weight.grad_sample, strict=True):
        (expected,) = torch.autograd.grad(twice(sample).sum(), layer.weight)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    assert not hasattr(layer.bias, "grad_sample")


def test_samples_may_lie_along_the_second_dimension() -> None:
    layer: Any = nn.Linear(3, 2)
    x = torch.randn(4, 5, 3)
    assert call_for_per_sample_grads(layer, batch_first=False)(x).shape == (4, 5, 2)
    call_for_per_sample_grads(layer, batch_first=False)(x).sum().backward()
    assert layer.weight.grad_sample.shape == (5, 2, 3)


def test_what_is_no_batch_is_refused() -> None:
    layer, both = nn.Linear(2, 2), nn.Bilinear(2, 2, 1)
    for call, words in (
        (lambda: call_for_per_sample_grads(layer, batch_size=0), "Batch size must be positive, got 0"),
        (
            lambda: call_for_per_sample_grads(layer, loss_reduction="none"),  # pyright: ignore[reportArgumentType]  # is refused
            "Expected loss_reduction argument to be sum or mean, got none",
        ),
        (
            lambda: call_for_per_sample_grads(both)(torch.ones(2, 2), torch.ones(3, 2)),
            "When computing batch size, found at least one input with batch size 2 and one with batch size 3. Please "
            "specify it explicitly using the batch size kwarg in call_for_per_sample_grads",
        ),
    ):
        assert_refused(call, RuntimeError, words)
    call_for_per_sample_grads(layer)(torch.ones(3, 2)).sum().backward()
    with pytest.raises(RuntimeError, match="Please clear out the grad_sample parameter"):
        call_for_per_sample_grads(layer)
