"""Dtypes that torch has no kernel for are refused in its words, though XLA would compute with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._ops.kernels import CHECKS, KERNELS
from funcgrad._ops.table import TABLE

F = nn.functional
IMAGES = torch.ones(1, 2, 4, 4, dtype=torch.int64)

IN = "Unsupported input type encountered for isin(): Bool"
GRID = "meshgrid expects all tensors to have the same dtype"
RUNS = "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
NO_KERNEL: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: F.interpolate(IMAGES, scale_factor=2), "upsample_nearest2d_channels_last", "Long"),
    (lambda: F.interpolate(IMAGES.bool(), size=2, mode="bilinear"), "upsample_bilinear2d_channels_last", "Bool"),
    (lambda: F.interpolate(IMAGES[0].byte(), scale_factor=2, mode="linear"), "compute_indices_weights_linear", "Byte"),
    (lambda: F.interpolate(IMAGES, size=2, mode="bicubic", antialias=True), "compute_index_ranges_weights", "Long"),
    (lambda: F.pad(IMAGES.bool(), (1, 1, 1, 1), mode="reflect"), "reflection_pad2d", "Bool"),
    (lambda: F.avg_pool2d(IMAGES.byte(), 2), "avg_pool2d", "Byte"),
    (lambda: F.adaptive_avg_pool2d(IMAGES, 2), "adaptive_avg_pool2d", "Long"),
    (lambda: F.max_pool2d(IMAGES.bool(), 2), "max_pool2d", "Bool"),
    (lambda: F.conv2d(IMAGES.bool(), IMAGES.bool()), "slow_conv2d_cpu", "Bool"),
    (
        lambda: F.grid_sample(IMAGES, torch.zeros(1, 2, 2, 2), align_corners=False),
        "grid_sampler_2d_cpu_kernel_impl",
        "Long",
    ),
    (lambda: F.layer_norm(torch.ones(2, 2, dtype=torch.complex64), (2,)), "LayerNormKernelImpl", "ComplexFloat"),
    (lambda: torch.tensor([True]).floor(), "floor_vml_cpu", "Bool"),
    (lambda: torch.tensor([True]).round(), "round_vml_cpu", "Bool"),
    (lambda: torch.tensor([1]).round(decimals=1), "round_cpu", "Long"),
    (lambda: torch.igamma(torch.tensor([1]), torch.tensor([2])), "igamma_cpu", "Long"),
    (lambda: torch.ones(2, dtype=torch.complex64).amax(), "max_values_cpu", "ComplexFloat"),
    (lambda: torch.segment_reduce(torch.arange(2), "sum", lengths=torch.tensor([2])), "_segment_reduce_cpu", "Long"),
    (lambda: torch.bincount(torch.tensor([True])), "bincount_cpu", "Bool"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kernel", "dtype"), NO_KERNEL, ids=[f"{k} {d}" for _, k, d in NO_KERNEL])
def test_what_torch_has_no_kernel_for_is_refused(call: Callable[[], Any], kernel: str, dtype: str) -> None:
    with pytest.raises(NotImplementedError) as caught:
        call()
    assert str(caught.value) == f"\"{kernel}\" not implemented for '{dtype}'"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: torch.cdist(IMAGES, IMAGES), "cdist only supports floating-point dtypes, X1 got: Long"),
        (lambda: torch.frexp(torch.tensor([1])), "torch.frexp() only supports floating-point dtypes"),
        (lambda: torch.isin(torch.tensor([True]), torch.tensor([True])), IN),
        (lambda: torch.cartesian_prod(torch.ones(1), torch.tensor([1])), GRID),
        (lambda: torch.histc(torch.ones(2), 0), "torch.histogram(): bins must be > 0, but got 0 for dimension 0"),
        (
            lambda: torch.baddbmm(torch.ones(1, 1, 1), torch.ones(1, 1, 1), torch.ones(1, 1, 1).double()),
            "expected scalar type Float but found Double",
        ),
        (
            lambda: torch.addbmm(torch.ones(1, 1), torch.ones(1, 1, 1), torch.ones(1, 1, 1).double()),
            "self and mat2 must have the same dtype, but got Float and Double",
        ),
        (
            lambda: torch.vdot(torch.ones(1), torch.ones(1).double()),
            "dot : expected both vectors to have same dtype, but found Float and Double",
        ),
        (
            lambda: torch.segment_reduce(torch.ones(3), "sum", lengths=torch.tensor([1, 1])),
            RUNS,
        ),
        (
            lambda: torch.segment_reduce(torch.ones(3), "sum", lengths=torch.tensor([-1, 4])),
            "lengths contains negative value!",
        ),
    ],
)  # fmt: skip
def test_other_refusals_have_torchs_words(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == words


def test_whole_numbers_are_not_divided_by_addcdiv_whatever_they_are_added_to() -> None:
    whole = torch.tensor([2])
    with pytest.raises(RuntimeError, match="Integer division with addcdiv is no longer supported"):
        torch.addcdiv(torch.ones(1), whole, whole)
    assert torch.addcdiv(whole, whole, torch.ones(1)).tolist() == [4]


def test_whole_numbers_are_pooled_by_their_norm_in_single_precision() -> None:
    assert F.lp_pool2d(IMAGES, 2, 2).dtype is torch.float32


def test_bytes_are_scaled_as_images_and_unsafe_runs_may_be_short() -> None:
    assert F.interpolate(IMAGES.byte(), scale_factor=2, mode="bilinear").dtype is torch.uint8
    assert torch.segment_reduce(torch.ones(3), "sum", lengths=torch.tensor([1, 1]), unsafe=True).tolist() == [1, 1]


def test_each_listed_row_takes_single_precision() -> None:
    for line in (KERNELS + CHECKS).split("\n"):
        if line.strip():
            row = TABLE[line.split()[0]]
            assert row.lacks is not None
            row.lacks(row, [np.ones(2, np.float32)] * len(row.inputs))
