"""Numbers of 16 bits are rounded where torch rounds them, though a step is one program."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import funcgrad as torch

SHORT = (torch.bfloat16, torch.float16)


_LOST_IN_A_CAST = """
import funcgrad as torch

torch.manual_seed(0)
for dtype in (torch.bfloat16, torch.float16):
    x = torch.randn(300, 300) @ torch.randn(300, 300)
    x.sum().item()
    lost = (x.to(dtype).float() - x).abs().numpy()
    assert lost.max() > 0.01
    assert (x.to(dtype).float() - x).abs().max().item() == lost.max()
    assert abs((x.to(dtype).float() - x).abs().sum().item() / lost.sum() - 1) < 1e-4
"""


def test_what_a_cast_loses_is_lost_in_sums_too() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}  # as users have it
    subprocess.run([sys.executable, "-c", _LOST_IN_A_CAST], env=environment, check=True)


@pytest.mark.parametrize("dtype", SHORT)
def test_products_are_rounded_before_they_are_read_in_float32(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    short = torch.randn(300, 300).to(dtype)
    product = torch.nn.functional.dropout(short, 0.3).float()
    assert torch.equal(product.to(dtype).float(), product)


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("name", ["asin", "acos", "asinh", "acosh", "atanh", "expm1", "logit"])
def test_what_is_computed_of_16_bits_is_rounded_once(name: str, dtype: torch.dtype) -> None:
    numbers = torch.linspace(0.01, 0.99, 400) + (1.0 if name == "acosh" else 0.0)
    short = numbers.to(dtype)
    assert torch.equal(getattr(short, name)(), getattr(short.float(), name)().to(dtype))


@pytest.mark.parametrize("dtype", SHORT)
def test_a_sum_of_logarithms_of_16_bits_is_rounded_once(dtype: torch.dtype) -> None:
    short = torch.linspace(-2.0, 2.0, 400).to(dtype)
    assert torch.equal(short.logaddexp(short.flip(0)), short.float().logaddexp(short.flip(0).float()).to(dtype))
