"""Rows: maximum pooling and its inverse; the gradient of a maximum goes to the first of equal elements, as in torch."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.checks import scalar_name, spread
from funcgrad._ops.conditions import are_unpooled
from funcgrad._ops.extremes import place_of_largest
from funcgrad._ops.own_vjp import with_own_vjp
from funcgrad._ops.table import Array, Demand, Dims, Indices, op
from funcgrad._ops.windows import Windows, batched, unpooled_sizes, windows

_MOST_TAPS = 64


def _max_pool1d_grad(shapes: tuple, statics: tuple) -> tuple:
    return ("SqueezeBackward1", ("MaxPool2DWithIndicesBackward0", ("UnsqueezeBackward0", "input")))


@op(grad=_max_pool1d_grad, names="max_pool1d nn.functional.max_pool1d")
def max_pool1d(
    input: Array,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    dilation: Dims = (1,),
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Array | tuple[Array, Array]:
    """Each window's largest element, and with return_indices its place. Shape: input (N, C, L) or (C, L)."""
    return _max_pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op(grad="MaxPool2DWithIndicesBackward0", names="max_pool2d nn.functional.max_pool2d")
def max_pool2d(
    input: Array,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    dilation: Dims = (1,),
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Array | tuple[Array, Array]:
    """Each window's largest element, and with return_indices its place. Shape: input (N, C, H, W) or (C, H, W)."""
    return _max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op(grad="MaxPool3DWithIndicesBackward0", names="max_pool3d nn.functional.max_pool3d")
def max_pool3d(
    input: Array,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    dilation: Dims = (1,),
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Array | tuple[Array, Array]:
    """Each window's largest element, and with return_indices its place. Shape: input (N, C, D, H, W) or without N."""
    return _max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _adaptive_max_pool1d_grad(shapes: tuple, statics: tuple) -> tuple:
    return ("SqueezeBackward1", ("AdaptiveMaxPool2DBackward0", ("UnsqueezeBackward0", "input")))


@op(grad=_adaptive_max_pool1d_grad, names="nn.functional.adaptive_max_pool1d")
def adaptive_max_pool1d(
    input: Array, output_size: Sequence[int | None] | int, return_indices: bool = False
) -> Array | tuple[Array, Array]:
    """The largest element of each of `output_size` windows. Shape: input (N, C, L) or (C, L)."""
    return _adaptive_max_pool("adaptive_max_pool1d", 1, input, output_size, return_indices)


@op(grad="AdaptiveMaxPool2DBackward0", names="nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(
    input: Array, output_size: Sequence[int | None] | int, return_indices: bool = False
) -> Array | tuple[Array, Array]:
    """The largest element of each of `output_size` windows. Shape: input (N, C, H, W) or (C, H, W)."""
    return _adaptive_max_pool("adaptive_max_pool2d", 2, input, output_size, return_indices)


@op(grad="AdaptiveMaxPool3DBackward0", names="nn.functional.adaptive_max_pool3d")
def adaptive_max_pool3d(
    input: Array, output_size: Sequence[int | None] | int, return_indices: bool = False
) -> Array | tuple[Array, Array]:
    """The largest element of each of `output_size` windows. Shape: input (N, C, D, H, W) or without N."""
    return _adaptive_max_pool("adaptive_max_pool3d", 3, input, output_size, return_indices)


def _unpooled(count: int) -> tuple[Demand, ...]:
    windows = "kernel_size", "stride", "padding", "output_size"
    return (are_unpooled.of("indices", "input", repr(count), *windows),)


@op(
    grad=("SqueezeBackward1", ("MaxUnpool2DBackward0", ("UnsqueezeBackward0", "input"))),
    names="nn.functional.max_unpool1d",
    demands=_unpooled(1),
)
def max_unpool1d(
    input: Array,
    indices: Indices,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    output_size: Dims | None = None,
) -> Array:
    """Put each element back where max_pool1d found it, among zeros. Shape: input, indices (N, C, L) or (C, L)."""
    return _max_unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


@op(grad="MaxUnpool2DBackward0", names="nn.functional.max_unpool2d", demands=_unpooled(2))
def max_unpool2d(
    input: Array,
    indices: Indices,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    output_size: Dims | None = None,
) -> Array:
    """Put each element back where max_pool2d found it, among zeros. Shape: input, indices (N, C, H, W) or (C, H, W)."""
    return _max_unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


@op(grad="MaxUnpool3DBackward0", names="nn.functional.max_unpool3d", demands=_unpooled(3))
def max_unpool3d(
    input: Array,
    indices: Indices,
    kernel_size: Dims,
    stride: Dims | None = None,
    padding: Dims = (0,),
    output_size: Dims | None = None,
) -> Array:
    """Put each element back where max_pool3d found it, among zeros. Shape: both (N, C, D, H, W) or without N."""
    return _max_unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)


def _max_pool(
    name: str, count: int, input: Array, kernel_size: Dims, stride: Dims | None, padding: Dims, dilation: Dims,
    ceil_mode: bool, return_indices: bool,
) -> Array | tuple[Array, Array]:  # fmt: skip
    whole = batched(name, input, count)
    over = windows(
        name if not return_indices else f"{name}_with_indices",
        input,
        count,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
    )
    if over.tile and count == 2 and not return_indices:
        last = _largest_of_tiles(whole.transpose(0, 2, 3, 1), over.kernel)
        result = last.transpose(0, 3, 1, 2)
    else:
        by_taps = _largest_at_each_place if max(over.stride) == 1 else _largest
        largest = _largest_by_xla if math.prod(over.kernel) > _MOST_TAPS and not return_indices else by_taps
        result = largest(whole, over)
    single = whole is not input
    if not return_indices:
        return result[0] if single else result
    places = _places(whole, over)
    return (result[0], places[0]) if single else (result, places)


def _lowest(input: Array) -> float | int:
    return -math.inf if jnp.issubdtype(input.dtype, jnp.floating) else int(jnp.iinfo(input.dtype).min)


def _beats(candidate: Array, best: Array) -> Array:
    """Tell where a later element takes over: where it is larger, or NaN."""
    return (candidate > best) | (candidate != candidate)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _largest(input: Array, over: Windows) -> Array:
    """Take the maximum tap by tap, as slices that XLA fuses, where reduce_window has a slow gradient.

    The tangent finds the places of the maxima once, then uses them for each tap. Both are measured by
    `python -m tests.benchmarks.rows --workloads pool pool-overlapping`.
    """
    padded = over.padded(input, _lowest(input))
    best: Array | None = None
    for tap in over.taps:
        seen = over.seen(padded, tap)
        best = seen if best is None else jnp.where(_beats(seen, best), seen, best)
    assert best is not None
    return best


@_largest.defjvp
def _largest_jvp(over: Windows, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    best, winner = _best_tap(primals[0], over)
    padded_tangent = over.padded(tangents[0], 0)
    tangent = jnp.zeros_like(best)
    for i, tap in enumerate(over.taps):
        seen = over.seen(padded_tangent, tap)
        tangent = tangent + jnp.where(winner == i, seen, jnp.zeros_like(seen))
    return best, tangent


def _best_tap(input: Array, over: Windows) -> tuple[Array, Array]:
    """Return each window's maximum, and the number of its first place."""
    # What the middle tap sees is the input itself: XLA would compute that anew, and all that lies before.
    padded = lax.optimization_barrier(over.padded(input, _lowest(input)))
    best = over.seen(padded, (0,) * len(over.kernel))
    winner = jnp.zeros(best.shape, jnp.int32)
    for i, tap in enumerate(over.taps):
        seen = over.seen(padded, tap)
        wins = _beats(seen, best)
        best, winner = jnp.where(wins, seen, best), jnp.where(wins, jnp.int32(i), winner)
    return best, winner


@with_own_vjp(1)
def _largest_at_each_place(input: Array, over: Windows) -> Array:
    """Take the maximum of windows that begin at each place; backward each place asks the windows that see it.

    What JAX derives pads an image for each tap, and XLA computes all that lies before for each of these anew: ten in a
    row took nine times as long, and five to compile (`python -m tests.benchmarks.rows --workloads pool-in-a-row`).
    """
    return _largest(input, over)


def _largest_at_each_place_backward(over: Windows, winner: Array, gradient: Array) -> tuple[Array]:
    reach = [d * (k - 1) for d, k in zip(over.dilation, over.kernel, strict=True)]
    edges = [(0, 0, 0)] * 2 + [(r, r, 0) for r in reach]
    windows_gradient = lax.optimization_barrier(lax.pad(gradient, jnp.zeros((), gradient.dtype), edges))
    windows_winner = lax.optimization_barrier(lax.pad(winner, jnp.int32(-1), edges))
    total = jnp.zeros((*gradient.shape[:2], *over.sizes), gradient.dtype)
    for i, tap in enumerate(over.taps):
        starts = [0, 0, *[r - t * d + p for r, t, d, p in zip(reach, tap, over.dilation, over.padding, strict=True)]]
        stops = [start + n for start, n in zip(starts, total.shape, strict=True)]
        is_mine = lax.slice(windows_winner, starts, stops) == i
        total = total + jnp.where(is_mine, lax.slice(windows_gradient, starts, stops), jnp.zeros_like(total))
    return (total,)


_largest_at_each_place.defvjp(_best_tap, _largest_at_each_place_backward)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _largest_of_tiles(input: Array, kernel: Dims) -> Array:
    """Take the maximum of tiles that cover an image with its channels last, as convolutions leave it on the CPU.

    `_largest` keeps the channels second: the layout would change on both its sides, in each step of
    `python -m tests.benchmarks.steps --workloads conv`.
    """
    return _best_of_tiles(input, kernel)[0]


@_largest_of_tiles.defjvp
def _largest_of_tiles_jvp(kernel: Dims, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    best, winner = _best_of_tiles(primals[0], kernel)
    return best, _taken(tangents[0], winner, kernel)


def _taken(tangent: Array, winner: Array, kernel: Dims) -> Array:
    """Return from each tile the element in the winner's place. Its transpose is one loop over the image."""
    count, height, width, channels = winner.shape
    tiled = tangent.reshape(count, height, kernel[0], width, kernel[1], channels)
    places = jnp.arange(math.prod(kernel), dtype=winner.dtype).reshape(1, 1, kernel[0], 1, kernel[1], 1)
    return jnp.where(winner[:, :, None, :, None, :] == places, tiled, jnp.zeros_like(tiled)).sum((2, 4))


def _best_of_tiles(input: Array, kernel: Dims) -> tuple[Array, Array]:
    """Return each tile's maximum, and the number of its first place."""
    first, *others = _taps_of_tiles(input, kernel)
    number = jnp.int8 if math.prod(kernel) < 128 else jnp.int32
    best, winner = first, jnp.zeros(first.shape, number)
    for i, tap in enumerate(others, 1):
        wins = _beats(tap, best)
        best, winner = jnp.where(wins, tap, best), jnp.where(wins, number(i), winner)
    return best, winner


def _taps_of_tiles(input: Array, kernel: Dims) -> list[Array]:
    """Return what each place of the tiles holds, row by row. Shape: input (N, H, W, C), results (N, H', W', C)."""
    count, height, width, channels = input.shape
    tiled = input.reshape(count, height // kernel[0], kernel[0], width // kernel[1], kernel[1], channels)
    return [tiled[:, :, row, :, column] for row in range(kernel[0]) for column in range(kernel[1])]


def _largest_by_xla(input: Array, over: Windows) -> Array:
    padded = over.padded(input, _lowest(input))
    lowest = np.asarray(_lowest(input), input.dtype)
    return lax.reduce_window(
        padded,
        lowest,
        lax.max,
        (1, 1, *over.kernel),
        (1, 1, *over.stride),
        "VALID",
        window_dilation=(1, 1, *over.dilation),
    )


def _places(input: Array, over: Windows) -> Array:
    """Return the index of each window's maximum in the flattened input."""
    padded = over.padded(lax.stop_gradient(input), _lowest(input))
    first = (0,) * len(over.kernel)
    best = over.seen(padded, first)
    place = jnp.broadcast_to(jnp.asarray(over.position(first)), best.shape)
    for tap in over.taps:
        seen = over.seen(padded, tap)
        wins = _beats(seen, best)
        best, place = jnp.where(wins, seen, best), jnp.where(wins, jnp.asarray(over.position(tap)), place)
    return place


def _adaptive_max_pool(
    name: str, count: int, input: Array, output_size: Sequence[int | None] | int, return_indices: bool
) -> Array | tuple[Array, Array]:
    whole = adaptive_batched(name, input, count, output_size)
    refuse_empty(name, input.shape, range(1, input.ndim))
    sizes = whole.shape[2:]
    wanted = adaptive_sizes(name, input.shape, count, output_size)
    if 0 in (*whole.shape, *wanted):
        none = jnp.zeros((*(whole if whole is input else whole[0]).shape[: -len(wanted)], *wanted), input.dtype)
        return (none, none.astype(np.int64)) if return_indices else none
    if set(wanted) == {1}:
        rows = whole.reshape(*whole.shape[:2], -1)
        place = place_of_largest(rows, -1)
        shape = (*input.shape[:-count], *wanted)
        result = jnp.take_along_axis(rows, place, -1).reshape(shape)
        return (result, place.astype(np.int64).reshape(shape)) if return_indices else result
    if all(n % o == 0 for n, o in zip(sizes, wanted, strict=True)):
        kernel = tuple(n // o for n, o in zip(sizes, wanted, strict=True))
        return _max_pool(name, count, input, kernel, None, (0,), (1,), False, return_indices)
    rows, (members, inside) = whole.reshape(*whole.shape[:2], -1), map(jnp.asarray, _over_windows(sizes, wanted))
    seen = jnp.where(inside, lax.stop_gradient(rows)[..., members], jnp.asarray(_lowest(input), input.dtype))
    place = jnp.take_along_axis(jnp.broadcast_to(members, seen.shape), place_of_largest(seen, -1), -1)[..., 0]
    result = jnp.take_along_axis(rows, place.reshape(*rows.shape[:2], -1), -1).reshape(place.shape)
    results = (result, place) if whole is input else (result[0], place[0])
    return results if return_indices else results[0]


def adaptive_batched(name: str, input: Array, count: int, output_size: Sequence[int | None] | int) -> Array:
    """Return (N, C, *) from that or from (C, *). Raises what torch does for other numbers of dimensions."""
    if count > 1 and input.ndim <= count and not isinstance(output_size, int):
        raise ValueError(f"Input dimension should be at least {count + 1}")
    return batched(name, input, count)


def refuse_empty(name: str, shape: Dims, places: Iterable[int]) -> None:
    """Raise RuntimeError where one of these dimensions has length 0: there is nothing in any window."""
    for place in places:
        if shape[place] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(shape)} with dimension {place} being empty"
            )


def adaptive_sizes(name: str, shape: Dims, count: int, output_size: Sequence[int | None] | int) -> Dims:
    """Return the number of windows in each of the last `count` dimensions; None keeps the input's size."""
    outer, sizes = shape[:-count], shape[-count:]
    if not isinstance(output_size, int) and len(output_size) != count and (count > 1 or len(output_size) != 1):
        if count == 1:
            raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(output_size)})")
        inside = "(): internal error: output_size.size()" if "max" in name else ": output_size"
        raise RuntimeError(f"{name}{inside} must be {count}")
    listed = spread(output_size, count, "output_size")
    if any(o is not None and o < 0 for o in listed):
        if "max" in name:
            least = next(o for o in listed if o is not None and o < 0)
            raise RuntimeError(f"Trying to create tensor with negative dimension {least}: {[*outer, *listed]}")
        shown = ", ".join(map(str, listed))
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{shown}}}"
        )
    return tuple(n if o is None else o for o, n in zip(listed, sizes, strict=True))


def adaptive_bounds(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each of `count` windows over `size` elements starts and stops."""
    i = np.arange(count)
    return i * size // count, -(-(i + 1) * size // count)


def _over_windows(sizes: Dims, wanted: Dims) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat index of each element of each window, (*wanted, M), and whether it is one: some are shorter."""
    flat, inside = np.zeros((1,) * (2 * len(sizes)), np.int64), np.ones((1,) * (2 * len(sizes)), bool)
    for d, (n, o) in enumerate(zip(sizes, wanted, strict=True)):
        starts, stops = adaptive_bounds(n, o)
        steps = np.arange(int((stops - starts).max()))
        shape = [1] * (2 * len(sizes))
        shape[d], shape[len(sizes) + d] = o, len(steps)
        places = (starts[:, None] + steps).reshape(shape)
        flat = flat * n + np.minimum(places, n - 1)
        inside = inside & (places < stops.reshape([o if i == d else 1 for i in range(2 * len(sizes))]))
    return flat.reshape(*wanted, -1), inside.reshape(*wanted, -1)


def _max_unpool(
    name: str, count: int, input: Array, indices: Array, kernel_size: Dims, stride: Dims | None, padding: Dims,
    output_size: Dims | None,
) -> Array:  # fmt: skip
    if indices.dtype != np.int64:
        got = f" but got: {scalar_name(indices)}" * (count < 3)
        raise RuntimeError(f"elements in indices should be type int64{got}")
    if indices.shape != input.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) "
            f"but got indices tensor with shape: {list(indices.shape)}"
        )
    whole = batched(name, input, count)
    sizes = unpooled_sizes(whole.shape, count, kernel_size, stride, padding, output_size)
    rows = whole.reshape(math.prod(whole.shape[:2]), math.prod(whole.shape[2:]))
    result = _filled(rows, indices.reshape(rows.shape), math.prod(sizes)).reshape(*whole.shape[:2], *sizes)
    return result if whole is input else result[0]


@with_own_vjp(2)
def _filled(rows: Array, places: Array, length: int) -> Array:
    """Put numbers in their places among zeros; backward each gets its place's gradient, also where another won it."""
    zeros = jnp.zeros((rows.shape[0], length), rows.dtype)
    return zeros.at[jnp.arange(rows.shape[0])[:, None], places].set(rows, mode="drop")


def _filled_forward(rows: Array, places: Array, length: int) -> tuple[Array, Array]:
    return _filled(rows, places, length), places


def _filled_backward(length: int, places: Array, gradient: Array) -> tuple[Array, None]:
    return jnp.take_along_axis(gradient, places, -1, mode="fill", fill_value=0), None


_filled.defvjp(_filled_forward, _filled_backward)
