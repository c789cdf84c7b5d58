"""What waits for its shape is refused by functions, answers what needs no shape, and is copied as it is."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn

USES: dict[str, Callable[[Any], Any]] = {
    "sum": lambda w: w.sum(),
    "add": lambda w: w + 1,
    "numel": lambda w: w.numel(),
    "detach": lambda w: w.detach(),
    "backward": lambda w: w.backward(),
    "tolist": lambda w: w.tolist(),
    "torch.sum": lambda w: torch.sum(w),
    "linear": lambda w: nn.functional.linear(torch.ones(2, 2), w),
    "matmul": lambda w: torch.ones(2, 2) @ w,
    "bool": lambda w: bool(w),
    "vector": lambda w: nn.utils.parameters_to_vector([w]),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_an_uninitialized_parameter_is_refused(use: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"Attempted to use an uninitialized parameter in .*UninitializedParameter"):
        use(nn.LazyLinear(3).weight)


def test_an_uninitialized_buffer_is_refused_by_its_own_name() -> None:
    with pytest.raises(ValueError, match="UninitializedBuffer"):
        nn.LazyBatchNorm1d().running_mean.sum()


def test_dtype_and_device_are_known_and_kept() -> None:
    layer = nn.LazyLinear(3).double()
    assert (layer.weight.dtype, layer.weight.device.type, layer.weight.requires_grad) == (torch.float64, "cpu", True)
    assert layer(torch.ones(2, 4, dtype=torch.float64)).dtype is torch.float64
    assert layer.weight.shape == (3, 4)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_a_copy_waits_for_its_shape_too(again: Callable[[Any], Any]) -> None:
    copied = again(nn.LazyLinear(3))
    assert isinstance(copied.weight, nn.UninitializedParameter)
    copied(torch.ones(2, 5)).sum().backward()
    assert copied.weight.grad.shape == (3, 5)


def test_data_is_an_empty_tensor_until_the_shape_is_known() -> None:
    layer = nn.LazyLinear(1)
    assert layer.weight.data.normal_(0, 0.01).shape == (0,)
    assert layer.bias.data.fill_(0).dtype is torch.float32
    nn.Sequential(layer).apply(lambda module: module.weight.data.zero_() if module is layer else None)
    assert layer(torch.ones(2, 3)).shape == (2, 1)
    layer.weight.data = torch.zeros(1, 3)
    layer.weight.data.fill_(2.0)
    assert layer.weight.tolist() == [[2.0, 2.0, 2.0]]
