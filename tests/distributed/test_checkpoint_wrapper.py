"""Modules under checkpoint: their numbers and names are those of the modules within."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.distributed.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
    offload_wrapper,
)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.dropout = nn.Linear(3, 3), nn.Dropout(0.5)
        self.calls = 0

    def forward(self, x: Any, scale: Any = 1) -> Any:
        self.calls += 1
        return self.dropout(self.linear(x)) * scale


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), Block(), Block(), nn.Linear(3, 1))


def gradient(model: nn.Module) -> list[list[float]]:
    torch.manual_seed(1)
    model(torch.ones(4, 2)).sum().backward()
    return next(model.parameters()).grad.tolist()  # type: ignore[union-attr]  # backward has been


@pytest.mark.parametrize("way", CheckpointImpl)
def test_wrapped_blocks_have_the_gradients_and_the_names_of_plain_ones(way: CheckpointImpl) -> None:
    plain, wrapped = network(), network()
    wrap = partial(checkpoint_wrapper, checkpoint_impl=way)
    apply_activation_checkpointing(wrapped, wrap, check_fn=lambda module: isinstance(module, Block))
    assert gradient(wrapped) == [pytest.approx(row) for row in gradient(plain)]
    assert wrapped[1].calls == 2
    assert [name for name, _ in wrapped[1].named_parameters()] == list(plain[1].state_dict())
    assert sorted(wrapped.state_dict()) == sorted(plain.state_dict())
    assert str(plain.load_state_dict(wrapped.state_dict())) == "<All keys matched successfully>"
    assert str(wrapped.load_state_dict(plain.state_dict())) == "<All keys matched successfully>"
    assert str(wrapped[1]).splitlines()[:2] == ["CheckpointWrapper(", "  (_checkpoint_wrapped_module): Block("]


def test_arguments_by_keyword_have_gradients_under_the_reentrant_way() -> None:
    scale, x = torch.ones(1, requires_grad=True), torch.ones(2, 3, requires_grad=True)
    checkpoint_wrapper(Block(), CheckpointImpl.REENTRANT)(x, scale=scale).sum().backward()
    assert scale.grad is not None


def test_everything_is_wrapped_innermost_first_unless_something_is_said() -> None:
    model = network()
    apply_activation_checkpointing(model)
    inner = model[1]._checkpoint_wrapped_module
    assert type(inner).__name__ == "Block"
    assert type(inner.linear).__name__ == "CheckpointWrapper"
    chosen = network()
    apply_activation_checkpointing(chosen, auto_wrap_policy=lambda module, recurse, nonwrapped_numel: not recurse)
    assert str(chosen) == str(model)


def test_an_offloaded_module_computes_what_it_did() -> None:
    linear = nn.Linear(3, 1)
    offloaded = offload_wrapper(linear)
    offloaded(torch.ones(2, 3)).sum().backward()
    assert linear.weight.grad is not None and linear.weight.grad.tolist() == [[2, 2, 2]]
    assert list(offloaded.state_dict()) == ["weight", "bias"] and offloaded.in_features == 3
