"""Gradients in float16 and bfloat16 are rounded where torch rounds them."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jax
import numpy as np
import pytest

import funcgrad as torch
from tests.amp import gradients

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())["gradients"]
SHORT = ("bfloat16", "float16")
F = torch.nn.functional


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("name", gradients.CALLS)
def test_gradients_are_torchs_to_the_last_bit(name: str, dtype: str) -> None:
    found = np.concatenate(gradients.pulled(torch, name, dtype))
    wanted = gradients.read(RECORDED[f"{name}, {dtype}"], dtype)
    if dtype == "float16" and not _rounds_products():
        np.testing.assert_allclose(found, wanted, rtol=2.0**-10, atol=2.0**-10 * np.abs(wanted).max())
        return
    # float32's exponentials and roots differ among libraries: what lies between two numbers may go to the other
    assert (found != wanted).mean() < 0.05
    np.testing.assert_allclose(found, wanted, rtol=2.0**-7 if dtype == "bfloat16" else 2.0**-10)


@functools.cache
def _rounds_products() -> bool:
    """Tell whether the machine rounds a product to float16 before it adds to it.

    Where a CPU computes in float16 itself, LLVM makes one instruction of both, whatever XLA is asked for.
    """
    x = np.float16(1 + 2.0**-10)
    return bool(jax.jit(lambda x, square: x * x - square)(x, x * x) == 0)


def test_rows_are_summed_in_float32() -> None:
    table = torch.zeros(2, 3, dtype=torch.bfloat16, requires_grad=True)
    torch.index_select(table, 0, torch.zeros(1000, dtype=torch.int64)).sum().backward()
    assert table.grad.tolist() == [[1000.0] * 3, [0.0] * 3]


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize(
    "source",
    [
        "torch.rsqrt(x.abs() + 1)",
        "torch.softmax(x, -1)",
        "x / (x.abs() + 1)",
        "x.std(-1)",
        "x.norm(dim=-1)",
        "F.cross_entropy(x, torch.arange(6))",
        "F.scaled_dot_product_attention(x.view(1, 1, 6, 8), x.view(1, 1, 6, 8), x.view(1, 1, 6, 8))",
    ],
)
def test_second_derivatives_and_tangents_are_near_those_of_float32(source: str, dtype: str) -> None:
    given = torch.tensor(np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32))

    def call(x: torch.Tensor) -> torch.Tensor:
        return eval(source, {"torch": torch, "F": F, "x": x})

    def derived(kind: torch.dtype) -> list[np.ndarray]:
        x = given.to(kind).requires_grad_()
        (slope,) = torch.autograd.grad(call(x).square().sum(), x, create_graph=True)
        (bend,) = torch.autograd.grad(slope.square().sum(), x)
        moved = torch.func.jvp(call, (x.detach(),), (given.to(kind).flip(0),))[1]
        batched = torch.func.vmap(torch.func.grad(lambda x: call(x).square().sum()))(x.detach()[None])
        return [y.detach().float().numpy() for y in (slope, bend, moved, batched)]

    for found, wanted in zip(derived(getattr(torch, dtype)), derived(torch.float32), strict=True):
        np.testing.assert_allclose(found, wanted, atol=0.04 * float(np.abs(wanted).max()), rtol=0)
