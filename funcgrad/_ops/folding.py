"""Rows: cutting an image into the patches that a kernel sees, and adding patches up to an image."""

from __future__ import annotations

import itertools
import math

import jax.numpy as jnp
from jax import lax

from funcgrad._ops.checks import spread
from funcgrad._ops.correlation import shifted
from funcgrad._ops.table import Array, Dims, op


@op(grad="Im2ColBackward0", names="nn.functional.unfold")
def im2col(input: Array, kernel_size: Dims, dilation: Dims = (1,), padding: Dims = (0,), stride: Dims = (1,)) -> Array:
    """Each patch as a column. Shape: input (N, C, H, W) or (C, H, W), result (N, C * KH * KW, L) for L patches."""
    if input.ndim not in (3, 4):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    images = input if input.ndim == 4 else input[None]
    kernel, gaps, pads, steps = _spread(kernel_size, dilation, padding, stride)
    counts = _counts(images.shape[2:], kernel, gaps, pads, steps)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {images.shape[2:]}, kernel_size={kernel}, dilation={gaps}, padding={pads}, "
            f"calculated shape of the array of sliding blocks as {counts}, but its components must be at least one."
        )
    padded = jnp.pad(images, ((0, 0), (0, 0), *((p, p) for p in pads)))
    parts = [shifted(padded, tap, kernel, steps, gaps) for tap in itertools.product(*map(range, kernel))]
    columns = jnp.stack(parts, 2).reshape(images.shape[0], images.shape[1] * math.prod(kernel), math.prod(counts))
    return columns if images is input else columns[0]


@op(grad="Col2ImBackward0", names="nn.functional.fold")
def fold(
    input: Array,
    output_size: Dims,
    kernel_size: Dims,
    dilation: Dims = (1,),
    padding: Dims = (0,),
    stride: Dims = (1,),
) -> Array:
    """Add the columns up where their patches lie.

    Shape: input (N, C * KH * KW, L) or without N, result (N, C, *output_size).
    RuntimeError where the columns are not those of an image of this size.
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(input.shape)}"
        )
    columns = input if input.ndim == 3 else input[None]
    kernel, gaps, pads, steps = _spread(kernel_size, dilation, padding, stride)
    sizes = spread(output_size, 2, "output_size")
    counts = _counts(sizes, kernel, gaps, pads, steps)
    _check_columns(columns, sizes, counts, (kernel, gaps, pads, steps))
    taps = list(itertools.product(*map(range, kernel)))
    parts = columns.reshape(columns.shape[0], columns.shape[1] // len(taps), len(taps), *counts)
    zero, image = jnp.zeros((), input.dtype), None
    for tap, part in zip(taps, jnp.split(parts, len(taps), 2), strict=True):
        spans = zip(tap, sizes, counts, gaps, pads, steps, strict=True)
        edges = [(t * g - p, n + p - t * g - (c - 1) * s - 1, s - 1) for t, n, c, g, p, s in spans]
        placed = lax.pad(part[:, :, 0], zero, [(0, 0, 0), (0, 0, 0), *edges])
        image = placed if image is None else image + placed
    assert image is not None
    return image if columns is input else image[0]


def _check_columns(columns: Array, sizes: Dims, counts: Dims, given: tuple[Dims, Dims, Dims, Dims]) -> None:
    kernel, gaps, pads, steps = given
    if columns.shape[1] % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={columns.shape[1]} and kernel_size={kernel}."
        )
    if min(counts) < 1 or columns.shape[2] != math.prod(counts):
        raise RuntimeError(
            f"Given output_size={sizes}, kernel_size={kernel}, dilation={gaps}, padding={pads}, stride={steps}, "
            f"expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{counts[0]} * {counts[1]} = {math.prod(counts)}, but got input.size(2)={columns.shape[2]}."
        )


def _spread(kernel_size: Dims, dilation: Dims, padding: Dims, stride: Dims) -> tuple[Dims, Dims, Dims, Dims]:
    kernel, gaps = spread(kernel_size, 2, "kernel_size"), spread(dilation, 2, "dilation")
    pads, steps = spread(padding, 2, "padding"), spread(stride, 2, "stride")
    if min(kernel) < 1 or min(gaps) < 1 or min(steps) < 1:
        raise RuntimeError(
            "kernel size, dilation and stride should be greater than zero, "
            f"but got {list(kernel)}, {list(gaps)} and {list(steps)}"
        )
    if min(pads) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {list(pads)}")
    return kernel, gaps, pads, steps


def _counts(sizes: Dims, kernel: Dims, gaps: Dims, pads: Dims, steps: Dims) -> Dims:
    spans = zip(sizes, kernel, gaps, pads, steps, strict=True)
    return tuple((n + 2 * p - g * (k - 1) - 1) // s + 1 for n, k, g, p, s in spans)
