"""swap_tensors: two names change places; and what is said of modules on meta."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn


def test_two_tensors_change_places_with_class_gradient_and_history() -> None:
    layer = nn.Linear(2, 1)
    weight, frozen = layer.weight, nn.Parameter(torch.zeros(1, 2), requires_grad=False)
    layer(torch.ones(1, 2)).sum().backward()
    torch.utils.swap_tensors(weight, frozen)
    assert layer.weight is weight and weight.tolist() == [[0.0, 0.0]] and not weight.requires_grad
    assert frozen.grad.tolist() == [[1.0, 1.0]]
    frozen.sum().backward()
    assert frozen.grad.tolist() == [[2.0, 2.0]]
    plain, counted = torch.arange(2), nn.Parameter(torch.ones(3))
    torch.utils.swap_tensors(plain, counted)
    assert isinstance(plain, nn.Parameter) and type(counted) is torch.Tensor and counted.tolist() == [0, 1]
    torch.__future__.set_swap_module_params_on_conversion(True)
    assert torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(False)


def test_a_module_on_meta_says_what_to_do() -> None:
    with torch.device("meta"):
        layer = nn.Linear(2, 1)
    assert repr(layer.weight).endswith("size=(1, 2), requires_grad=True)")
    assert "grad_fn=<AddmmBackward0>" in repr(layer(torch.ones(3, 2, device="meta")))
    with pytest.warns(UserWarning, match="for weight: copying from a non-meta parameter .* which is a no-op"):
        layer.load_state_dict({"weight": torch.ones(1, 2)}, strict=False)
    with pytest.raises(NotImplementedError, match=r"Please use torch\.nn\.Module\.to_empty\(\)"):
        layer.to("cpu")
    assert layer.to_empty(device="cpu").weight.device.type == "cpu"
    with torch.random.fork_rng():  # the meta device's generator has no numbers to keep
        torch.manual_seed(1)
