"""Rows that put numbers around a tensor: constants, reflections, repeated edges, the other end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.checks import no_kernel
from funcgrad._ops.table import Array, Dims, Scalar, op

_MODES = {"reflect": "ReflectionPad", "replicate": "ReplicationPad", "circular": ""}


def _pad_node(shapes: Sequence[Any], statics: Sequence[Any]) -> str:
    pads, mode = statics[0], statics[1] if len(statics) > 1 else "constant"
    if mode == "constant":
        return "ConstantPadNdBackward0"
    return "CopySlices" if mode == "circular" else f"{_MODES[mode]}{len(pads) // 2}DBackward0"


def _widths(input: Array, pad: Dims) -> list[tuple[int, int]]:
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    from_last = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    widths = [(0, 0)] * (input.ndim - len(from_last)) + from_last[::-1]
    for length, (before, after) in zip(input.shape, widths, strict=True):
        if length + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return widths


def _constant(input: Array, pad: Dims, value: Scalar) -> Array:
    number = np.asarray(value) if isinstance(value, (int, float, complex)) else value
    widths = [(before, after, 0) for before, after in _widths(input, pad)]
    return lax.pad(input, lax.convert_element_type(number, input.dtype), widths)


@op(grad="ConstantPadNdBackward0", names="constant_pad_nd")
def constant_pad_nd(input: Array, pad: Dims, value: Scalar = 0) -> Array:
    """Put `value` around a tensor: pad[0] before and pad[1] behind the last dimension, and so on; negative cuts off."""
    return _constant(input, pad, value)


@op(grad=_pad_node, names="nn.functional.pad")
def pad(input: Array, pad: Dims, mode: str = "constant", value: Scalar | None = None) -> Array:
    """Widen a tensor: pad[0] before and pad[1] behind the last dimension, and so on; negative cuts off.

    mode: "constant" (`value`), "reflect", "replicate" or "circular"; the last three take up to three last dimensions of
    a tensor that has one or two more.
    """
    if mode == "constant":
        return _constant(input, pad, 0 if value is None else value)
    if value is not None and not (isinstance(value, (int, float)) and value == 0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    widths = _widths(input, pad)
    count = len(pad) // 2
    if not (1 <= count <= 3 and input.ndim in (count + 1, count + 2)):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    _check_lengths(input, widths, mode)
    if input.dtype == bool and mode != "circular":
        raise no_kernel(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{count}d", input)
    repeats = mode == "replicate"
    spans = [_kept(n, before, after, repeats) for n, (before, after) in zip(input.shape, widths, strict=True)]
    result = lax.slice(input, *zip(*[span[:2] for span in spans], strict=True))
    for axis, (_, _, before, after) in enumerate(spans):
        if before or after:
            result = _continued(result, axis, before, after, mode)
    return result


def _continued(input: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """Put `before` and `after` elements of a dimension itself on its two sides. Also for a length that varies."""
    length = input.shape[axis]
    if mode == "reflect":
        lead, trail = _part(input, axis, 1, before), _part(input, axis, length - 1 - after, after)
        lead, trail = lax.rev(lead, (axis,)), lax.rev(trail, (axis,))
    elif mode == "circular":
        lead, trail = _part(input, axis, length - before, before), _part(input, axis, 0, after)
    else:
        lead, trail = (
            jnp.broadcast_to(_part(input, axis, place, 1), (*input.shape[:axis], count, *input.shape[axis + 1 :]))
            for place, count in ((0, before), (length - 1, after))
        )
    return lax.concatenate([x for x, count in ((lead, before), (input, 1), (trail, after)) if count], axis)


def _part(input: Array, axis: int, start: int, count: int) -> Array:
    return lax.slice_in_dim(input, start, start + count, axis=axis)


def _kept(length: int, before: int, after: int, at_least_one: bool) -> tuple[int, int, int, int]:
    """Return which part of a dimension stays where it is cut, and how much is put on both sides of that part."""
    start, stop = max(-before, 0), length - max(-after, 0)
    if at_least_one and length:  # an edge that is cut off is still what is repeated
        start = min(start, length - 1)
        stop = max(stop, start + 1)
    lead, trail = before + start, after + length - stop
    return start, stop, max(lead + min(trail, 0), 0), max(trail + min(lead, 0), 0)


def _check_lengths(input: Array, widths: Sequence[tuple[int, int]], mode: str) -> None:
    for d, length in reversed([*enumerate(input.shape)]):
        before, after = widths[d]
        if mode == "reflect" and max(before, after) >= length and max(before, after) > 0:
            raise RuntimeError(
                f"Argument #{2 * (input.ndim - d) + 2}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({before}, {after}) at dimension {d} of input {list(input.shape)}"
            )
        if mode == "circular" and max(before, after) > length:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if mode == "replicate" and length == 0 and max(before, after) > 0:
            raise RuntimeError(f"Expected a non-empty dimension {d}, but got input of size {list(input.shape)}")
