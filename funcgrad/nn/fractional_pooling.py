"""Fractional max pooling: windows whose places are drawn at random, so that the size shrinks by any ratio.

Source: Graham 2014, https://arxiv.org/abs/1412.6071.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.sizes import ntuple
from funcgrad.random.functions import rand

Host = np.ndarray[Any, Any]


def _pooling(dimensions: int, always_with_indices: bool) -> Callable[..., Any]:
    spread = ntuple(dimensions)

    def pooled(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        """Return the largest value of each window, and the places of these. Shape: input (N, C, *) or (C, *)."""
        if input.dim() not in (dimensions + 1, dimensions + 2):
            raise RuntimeError(f"fractional_max_pool{dimensions}d: got input of size {list(input.shape)}")
        if output_size is None:
            if output_ratio is None:
                raise ValueError(
                    f"fractional_max_pool{dimensions}d requires specifying either an output_size or an output_ratio"
                )
            sizes = input.shape[-dimensions:]
            output_size = [int(size * ratio) for size, ratio in zip(sizes, spread(output_ratio), strict=True)]
        batch = input if input.dim() == dimensions + 2 else input.unsqueeze(0)
        if _random_samples is None:
            _random_samples = rand(*batch.shape[:2], dimensions, dtype=input.dtype, device=input.device)
        values, indices = _pooled(batch, spread(kernel_size), spread(output_size), to_host(_random_samples))
        if input.dim() == dimensions + 1:
            values, indices = values.squeeze(0), indices.squeeze(0)
        return (values, indices) if return_indices or always_with_indices else values

    pooled.__name__ = f"fractional_max_pool{dimensions}d" + "_with_indices" * always_with_indices
    return pooled


fractional_max_pool2d, fractional_max_pool3d = _pooling(2, False), _pooling(3, False)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = _pooling(2, True), _pooling(3, True)


def _pooled(input: Tensor, kernel: Sequence[int], output: Sequence[int], samples: Host) -> tuple[Tensor, Tensor]:
    sizes = tuple(input.shape[2:])
    name = "fractional_max_pool2d()" if len(sizes) == 2 else "fractional_max_pool3d_out()"
    axes = ("time", "height", "width")[-len(sizes) :]
    for axis, size, window, count in zip(axes, sizes, kernel, output, strict=True):
        if count + window - 1 > size - (len(sizes) == 3):  # torch refuses the last place that fits in three dimensions
            raise RuntimeError(f"{name}: pool {axis} {window} too large relative to input {axis} {size}")
    samples = samples[: len(input)]  # torch reads as many as it needs
    if len(sizes) == 2:
        samples = samples[..., ::-1]  # in two dimensions torch takes the width's sample first
    places: Any = 0
    for dim, (size, window, count) in enumerate(zip(sizes, kernel, output, strict=True)):
        rows = _starts(samples[..., dim], size, count, window)[..., None] + np.arange(window)
        axes = [1] * (2 * len(sizes))
        axes[dim], axes[len(sizes) + dim] = count, window
        places = places * size + rows.reshape(*rows.shape[:2], *axes)
    lead, count, width = tuple(input.shape[:2]), math.prod(output), math.prod(kernel)
    found = from_host(places.reshape(*lead, count * width).astype(np.int64), device=input.device)
    windows = input.flatten(2).gather(-1, found).view(*lead, count, width)
    values, chosen = windows.max(-1)
    indices = found.view(windows.shape).gather(-1, chosen.unsqueeze(-1))
    return values.view(*lead, *output), indices.view(*lead, *output)


def _starts(samples: Host, size: int, count: int, window: int) -> Host:
    """Return where the windows start. Shape: samples (N, C), result (N, C, count)."""
    kind = samples.dtype.type
    step = kind(size - window) / kind(count - 1) if count > 1 else kind(0)
    sample = samples[..., None]
    ends = ((np.arange(count, dtype=samples.dtype) + sample) * step).astype(np.int64)
    starts = ends - (sample * step).astype(np.int64)
    starts[..., -1] = size - window
    return starts
