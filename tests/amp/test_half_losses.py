"""Logarithms of shares and losses in float16 and bfloat16 are torch's: what its kernels for CPUs round is rounded.

The numbers are those of torch 2.13.
"""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad.nn import functional as F

LOSSES = {  # cross_entropy: mean, of weighted classes, sum; nll_loss of weighted classes
    ("bfloat16", 5): [3.921875, 4.125, 19.625, -0.33203125],
    ("bfloat16", 33): [3.609375, 3.734375, 119.0, -0.01336669921875],
    ("bfloat16", 300): [3.890625, 3.84375, 1168.0, 0.2021484375],
    ("float16", 5): [3.916015625, 4.10546875, 19.578125, -0.330322265625],
    ("float16", 33): [3.60546875, 3.7265625, 119.0, -0.0171966552734375],
    ("float16", 300): [3.919921875, 3.8671875, 1176.0, 0.202392578125],
}
LOGARITHMS = {  # log_softmax, logsumexp of all, and of two rows
    "bfloat16": (
        [-5.8125, -9.6875, -9.3125, -5.125, -0.921875, -0.546875, -4.40625, -8.875], 5.125, [0.416015625, 5.09375]
    ),
    "float16": (
        [-5.8125, -9.65625, -9.3125, -5.10546875, -0.8994140625, -0.5595703125, -4.40234375, -8.890625],
        5.10546875, [0.41845703125, 5.09765625],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "count"), LOSSES)
def test_losses_are_added_up_as_torchs_kernel_does(dtype: str, count: int) -> None:
    kind: Any = getattr(torch, dtype)
    torch.manual_seed(count)
    x, target = torch.randn(count, 10).to(kind) * 2, torch.arange(count) % 10
    weight = torch.linspace(0.1, 2, 10).to(kind)
    found = [
        F.cross_entropy(x, target),
        F.cross_entropy(x, target, weight),
        F.cross_entropy(x, target, reduction="sum"),
        F.nll_loss(x, target, weight),
    ]
    assert [loss.item() for loss in found] == LOSSES[dtype, count]
    assert F.cross_entropy(x[:0], target[:0]).isnan()


@pytest.mark.parametrize("dtype", LOGARITHMS)
def test_logarithms_of_shares_are_rounded_where_torch_rounds_them(dtype: str) -> None:
    x = torch.linspace(-3, 4, 8).to(getattr(torch, dtype)).sin() * 5
    shares, whole, rows = LOGARITHMS[dtype]
    assert x.log_softmax(-1).tolist() == shares
    assert torch.logsumexp(x, 0).item() == whole and torch.logsumexp(x.view(2, 4), 1).tolist() == rows
