"""torch.utils.hooks: backward hooks around what is no call of a module, and warnings of hooks that are lost."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.utils import hooks


def test_hooks_go_around_what_is_no_call_of_a_module() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 2)
    nn.init.ones_(layer.weight)
    hook = hooks.BackwardHook(
        layer, [lambda *told: seen.append(told)], [lambda module, grads: tuple(grad * 2 for grad in grads)]
    )
    x = torch.ones(1, 2, requires_grad=True)
    hook.setup_output_hook(layer(*hook.setup_input_hook((x, 3))[:1])).sum().backward()
    ((module, grad_inputs, grad_outputs),) = seen
    assert module is layer and grad_inputs[1] is None
    assert (grad_inputs[0].tolist(), grad_outputs[0].tolist()) == ([[4.0, 4.0]], [[2.0, 2.0]])
    assert x.grad.tolist() == [[4.0, 4.0]]


def test_hooks_of_a_tensor_that_is_saved_are_warned_of() -> None:
    x = torch.ones(1, requires_grad=True)
    x.register_hook(hooks.unserializable_hook(lambda grad: None))
    hooks.warn_if_has_hooks(x)
    x.register_hook(lambda grad: None)
    with pytest.warns(UserWarning, match=r"backward hook .* on tensor will not be serialized"):
        hooks.warn_if_has_hooks(x)
