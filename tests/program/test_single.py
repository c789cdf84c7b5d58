"""An instruction has one function, whoever computes it: JAX traces it once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import jax
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad._ops.table import Op
from funcgrad._program.forgetting import forget_compiled
from funcgrad._program.primitives import equations_in


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each row was called, to be traced."""
    counts, call = Counter[str](), Op.call

    def counting(self: Op, inputs: Sequence[Any], statics: Sequence[Any]) -> Any:
        counts[self.name] += 1
        return call(self, inputs, statics)

    monkeypatch.setattr(Op, "call", counting)
    monkeypatch.setattr(settings, "lengths", 0)  # other tests may have made a length of one of these shapes' sizes
    forget_compiled()
    return counts


def test_an_op_is_traced_once_for_its_shape_and_programs_and_once_for_its_pull_back(traced: Counter[str]) -> None:
    net = nn.Sequential(nn.Linear(7, 7), nn.GELU(), nn.Linear(7, 7), nn.GELU())
    for _ in range(2):
        result = net(torch.ones(13, 7)).cosh().mean()
        result.item()
        result.backward()
        net[0].weight.grad.tolist()
    # the first layer's input gets no gradient, so it has another pull-back
    assert [traced[name] for name in ("linear", "gelu", "cosh", "mean")] == [3, 2, 2, 2]


def test_what_is_set_for_products_is_asked_anew(traced: Counter[str]) -> None:
    weight = torch.nn.Parameter(torch.ones(5, 5))
    for precision, times in (("highest", 2), ("high", 3), ("high", 3)):  # its shape, its pull-back; its pull-back anew
        torch.set_float32_matmul_precision(precision)
        (torch.ones(11, 5) @ weight).sum().backward()
        weight.grad.tolist()
        assert traced["matmul"] == times
    torch.set_float32_matmul_precision("highest")


def test_a_pull_back_computes_no_gradient_that_nobody_wants() -> None:
    """A depthwise convolution has one rule for both gradients; where the kernel is fixed nothing is left of its own."""
    image, kernel = torch.ones(2, 3, 8, 8, requires_grad=True), torch.ones(3, 1, 3, 3)

    def equations(result: torch.Tensor) -> int:
        pullback = result._variable.node.pullback
        given = [pullback.signature.arguments[i].struct for i in pullback.used]
        given.append(pullback.signature.avals[0].struct)
        with jax.enable_x64(True):
            return equations_in(jax.make_jaxpr(lambda *arrays: pullback.call(arrays, ()))(*given))

    fixed = nn.functional.conv2d(image, kernel, groups=3)
    learnt = nn.functional.conv2d(torch.ones(2, 3, 9, 9, requires_grad=True), kernel.clone().requires_grad_(), groups=3)
    assert equations(fixed) < equations(learnt) / 2
