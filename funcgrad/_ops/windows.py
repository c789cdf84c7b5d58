"""Windows that pooling slides over an input: their sizes, what one tap of them sees, and the checks of both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.checks import spread
from funcgrad._ops.table import Array, Dims


class Windows(NamedTuple):
    """Windows over the last dimensions of (N, C, *): where each starts, how long it is, and how many there are."""

    sizes: Dims
    kernel: Dims
    stride: Dims
    padding: Dims
    dilation: Dims
    counts: Dims

    @property
    def taps(self) -> Iterator[Dims]:
        """Yield the places in a window, row by row."""
        return itertools.product(*map(range, self.kernel))

    @property
    def tile(self) -> bool:
        """Tell whether the windows cover the input without overlap, padding or holes."""
        plain = max(self.padding) == 0 and max(self.dilation) == 1
        return (
            plain
            and self.kernel == self.stride
            and all(n == k * c for n, k, c in zip(self.sizes, self.kernel, self.counts, strict=True))
        )

    def padded(self, input: Array, value: float) -> Array:
        """Return the input with `value` around it, as far as the windows reach."""
        spans = zip(self.sizes, self.kernel, self.stride, self.padding, self.dilation, self.counts, strict=True)
        edges = [(p, (c - 1) * s + d * (k - 1) + 1 - n - p, 0) for n, k, s, p, d, c in spans]
        if not any(map(any, edges)):
            return input
        return lax.pad(input, jnp.asarray(value, input.dtype), [(0, 0, 0)] * 2 + edges)

    def seen(self, padded: Array, tap: Dims) -> Array:
        """Return what this place of every window sees: (N, C, *count)."""
        spans = zip(tap, self.stride, self.dilation, self.counts, strict=True)
        bounds = [(t * d, t * d + (c - 1) * s + 1) for t, s, d, c in spans]
        starts, stops = zip(*bounds, strict=True)
        return lax.slice(padded, (0, 0, *starts), (*padded.shape[:2], *stops), (1, 1, *self.stride))

    def position(self, tap: Dims) -> np.ndarray:
        """Return the index in the flattened input of this place of every window; negative or beyond in the padding."""
        flat = np.zeros((), np.int64)
        for d, (t, n) in enumerate(zip(tap, self.sizes, strict=True)):
            places = np.arange(self.counts[d]) * self.stride[d] - self.padding[d] + t * self.dilation[d]
            flat = flat * n + places.reshape(-1, *(1,) * (len(self.sizes) - 1 - d))
        return flat

    def covered(self, include_padding: bool) -> list[Array]:
        """Return for each dimension how many elements (or also paddings) each window covers."""
        counts = []
        for n, k, s, p, c in zip(self.sizes, self.kernel, self.stride, self.padding, self.counts, strict=True):
            starts = jnp.arange(c) * s - p
            stops = jnp.minimum(starts + k, n + p)
            counts.append(stops - starts if include_padding else jnp.minimum(stops, n) - jnp.maximum(starts, 0))
        return counts


def windows(
    name: str, input: Array, count: int, kernel: int | Dims, stride: int | Dims | None, padding: int | Dims,
    dilation: int | Dims = 1, ceil_mode: bool = False,
) -> Windows:  # fmt: skip
    """Return the windows over the last `count` dimensions of (N, C, *) or (C, *). RuntimeError where they do not fit.

    name: with `_with_indices` at its end where places are wanted.
    """
    sizes = input.shape[-count:]
    kernels = _spread(name, kernel, count, "kernel_size")
    steps = kernels if stride is None or stride == () else _spread(name, stride, count, "stride")
    pads, gaps = _spread(name, padding, count, "padding"), _spread(name, dilation, count, "dilation")
    _check_positive(name, kernels, steps, gaps)
    counts = []
    for n, k, s, p, d in zip(sizes, kernels, steps, pads, gaps, strict=True):
        reach = d * (k - 1) + 1
        _check_pad(name, k, p, d)
        span = n + 2 * p - reach
        c = (math.ceil(span / s) if ceil_mode else span // s) + 1
        counts.append(c - 1 if ceil_mode and (c - 1) * s >= n + p else c)
    _check_not_empty(name, input.shape, count)
    if min(counts) < 1:
        if name == "max_pool1d":
            raise RuntimeError(f"max_pool1d() Invalid computed output size: {counts[0]}")
        flat = (1,) * (count == 1)  # torch knows one dimension as two
        given, made = ("x".join(map(str, (input.shape[-count - 1], *flat, *these))) for these in (sizes, counts))
        raise RuntimeError(f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small")
    return Windows(sizes, kernels, steps, pads, gaps, tuple(counts))


def _spread(name: str, given: int | Dims, count: int, label: str) -> Dims:
    """Return a number for each dimension. RuntimeError, in the function's own words, for too many or too few."""
    if isinstance(given, int) or len(given) in (1, count):
        return spread(given, count, label)
    if name == "max_pool1d":
        omitted, comma = "None, " * (label == "stride"), "," * (label in ("stride", "padding"))
        raise RuntimeError(
            f"max_pool1d() {label} must be {omitted}an int, list of ints{comma} or tuple of ints of size 1 "
            f"but got size {len(given)}"
        )
    name = name.removesuffix("_with_indices")
    if count == 1:
        raise RuntimeError(f"{name}() argument '{label}' should contain one int (got {len(given)})")
    be = "be either" if label == "dilation" else "be" if name == "avg_pool3d" else "either be"
    omitted = "omitted, " * (label == "stride")
    numbers = "two" if count == 2 else "three"
    raise RuntimeError(f"{name}: {label} must {be} {omitted}a single int, or a tuple of {numbers} ints")


def batched(name: str, input: Array, count: int) -> Array:
    """Return (N, C, *) from that or from (C, *). RuntimeError for other numbers of dimensions."""
    if input.ndim not in (count + 1, count + 2):
        if name.startswith("adaptive") and count > 1:
            got = "got:" if "max" in name else "got"
            raise RuntimeError(f"{name}(): Expected {count + 1}D or {count + 2}D tensor, but {got} {list(input.shape)}")
        if count == 1 and not name.startswith("max_pool1d"):
            raise RuntimeError(
                f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' "
                f"(while checking arguments for {name})"
            )
        if count == 1:
            raise RuntimeError(f"max_pool1d: {_expected_dims(1)}{list(input.shape)}")
        raise RuntimeError(f"non-empty {count + 1}D or {count + 2}D (batch mode) tensor expected for input")
    return input if input.ndim == count + 2 else input[None]


def _check_positive(name: str, kernel: Dims, stride: Dims, dilation: Dims) -> None:
    if name == "max_pool1d":
        for label, (size,) in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
            if size < 1:
                raise RuntimeError(f"max_pool1d() {label} must be greater than zero, but got {size}")
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    for label, letter, sizes in (("kernel size", "k", kernel), ("stride", "d", stride)):
        if min(sizes) < 1:
            shown = (1, *sizes) if len(sizes) == 1 else sizes
            got = " ".join(f"{letter}{axis}: {size}" for axis, size in zip("THW"[-len(shown) :], shown, strict=True))
            raise RuntimeError(f"{label} should be greater than zero, but got {got}")
    if min(dilation) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)} ({name})")


def _check_pad(name: str, kernel: int, pad: int, dilation: int) -> None:
    if name == "max_pool1d" and pad < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {pad}")
    if pad < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
    if name == "max_pool1d" and pad > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, "
            f"but got padding={pad} and kernel_size={kernel}"
        )
    if pad > (dilation * (kernel - 1) + 1) // 2:
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, "
            f"but got pad={pad}, kernel_size={kernel} and dilation={dilation}"
        )


def _check_not_empty(name: str, shape: Dims, count: int) -> None:
    """Raise RuntimeError where something else than the batch is empty."""
    inner = shape[-count - 1 :]
    if 0 not in inner:
        return
    if count == 3:
        shown = "max_pool3d_with_indices_out_cpu_template" if name.startswith("max") else name
        raise RuntimeError(
            f"{shown}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(shape)} and non-batch dimension {inner.index(0)} has length zero!"
        )
    if name == "avg_pool1d":
        raise RuntimeError(f"{_expected_dims(2)}{[*shape[:-1], 1, shape[-1]]}")
    label = "max_pool1d: " if count == 1 else ""
    raise RuntimeError(f"{label}{_expected_dims(count)}{list(shape)}")


def _expected_dims(count: int) -> str:
    return (
        f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:"
    )


def unpooled_sizes(
    shape: Dims, count: int, kernel_size: Dims, stride: Dims | None, padding: Dims, output_size: Dims | None
) -> Dims:
    """Return the last `count` sizes of what was pooled by these windows. ValueError for a wrong `output_size`."""
    kernel, pads = spread(kernel_size, count, "kernel_size"), spread(padding, count, "padding")
    steps = kernel if stride is None else spread(stride, count, "stride")
    sizes = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(shape[-count:], steps, pads, kernel, strict=True))
    return sizes if output_size is None else _checked_output_size(output_size, sizes, steps)


def _checked_output_size(output_size: Dims, default: Dims, stride: Dims) -> Dims:
    wanted = output_size[-len(default) :]
    if len(wanted) != len(default):
        raise ValueError(
            f"output_size should be a sequence containing {len(default)} or {len(default) + 2} elements, "
            f"but it has a length of '{len(output_size)}'"
        )
    for w, n, s in zip(wanted, default, stride, strict=True):
        if not n - s < w < n + s:
            raise ValueError(f"invalid output_size {list(wanted)}: each size lies within a stride of {list(default)}")
    return wanted
