"""Lowerings of convolutions that are chosen for speed give what XLA's own convolution gives, gradients included."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from funcgrad._ops.correlation import _convolved, _spread_out, correlate, spread_out


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "multiplier"), [((7, 7), 1, 1, 1), ((5, 4), 2, 1, 2), ((31,), 3, 2, 1)]
)
def test_large_kernels_of_single_channels(kernel: tuple[int, ...], stride: int, dilation: int, multiplier: int) -> None:
    rank, random = len(kernel), np.random.default_rng(0)
    size = 70 if rank == 1 else 15
    x = jnp.asarray(random.standard_normal((2, 3, *(size,) * rank)), jnp.float32)
    w = jnp.asarray(random.standard_normal((3 * multiplier, 1, *kernel)), jnp.float32)
    steps, gaps, pads = (stride,) * rank, (dilation,) * rank, ((3, 2),) * rank

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return correlate(x, w, steps, pads, gaps, 3)

    def plain(x: jax.Array, w: jax.Array) -> jax.Array:
        return lax.conv_general_dilated(x, w, steps, pads, rhs_dilation=gaps, feature_group_count=3)

    _assert_alike(ours, plain, x, w)
    lowered = jax.jit(_slopes(ours)).lower(x, w).as_text()
    assert lowered.count("stablehlo.while") >= 1  # rows in a loop: a sum over all taps at once compiles for seconds


@pytest.mark.parametrize(("stride", "pads", "gaps"), [(1, ((1, 1), (1, 1)), (1, 1)), (2, ((0, 0), (2, 1)), (2, 1))])
@pytest.mark.parametrize(("channels", "features"), [(32, 32), (3, 16), (32, 3)])
def test_images_with_gaps(
    stride: int, pads: tuple[tuple[int, int], ...], gaps: tuple[int, int], channels: int, features: int
) -> None:
    random = np.random.default_rng(0)
    x = jnp.asarray(random.standard_normal((16, channels, 9, 8)), jnp.float32)
    w = jnp.asarray(random.standard_normal((features, channels, 3, 3)), jnp.float32)
    steps = (stride, stride)

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return correlate(x, w, steps, pads, gaps, 1)

    def plain(x: jax.Array, w: jax.Array) -> jax.Array:
        return lax.conv_general_dilated(x, w, steps, pads, rhs_dilation=gaps)

    _assert_alike(ours, plain, x, w)
    assert "lhs_dilate = [1, 2]" in jax.jit(_slopes(ours)).lower(x, w).as_text()


@pytest.mark.parametrize(("count", "groups"), [(1, 4), (2, 16)])
@pytest.mark.parametrize(("stride", "pad", "gap", "extra"), [(1, 1, 1, 0), (2, 1, 1, 1), (2, 0, 2, 1)])
@pytest.mark.parametrize("is_transposed", [False, True])
def test_many_groups_or_those_of_one_image_are_one_product(
    count: int, groups: int, stride: int, pad: int, gap: int, extra: int, is_transposed: bool
) -> None:
    """A convolution for each group takes a compile for each: StyleGAN's modulated kernels took half a minute."""
    random = np.random.default_rng(0)
    x = jnp.asarray(random.standard_normal((count, 3 * groups, 9, 8)), jnp.float32)
    w = jnp.asarray(random.standard_normal((3 * groups, 3, 3, 3)), jnp.float32)
    given = (stride, stride), ((pad, pad), (pad, pad)), (gap, gap), groups
    sizes = tuple((n - 1) * stride - 2 * pad + 2 * gap + extra + 1 for n in x.shape[2:])

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return spread_out(x, w, *given, sizes) if is_transposed else correlate(x, w, *given)

    def plain(x: jax.Array, w: jax.Array) -> jax.Array:
        return _spread_out(x, w, *given, sizes) if is_transposed else _convolved(x, w, *given)

    _assert_alike(ours, plain, x, w)
    lowered = jax.jit(_slopes(ours)).lower(x, w).as_text()
    assert "stablehlo.convolution" not in lowered and lowered.count("stablehlo.dot_general") <= 4


def test_windows_of_a_large_kernel_are_written_axis_by_axis() -> None:
    """A slice for each of 99 taps, with what makes the image in each, took a minute to compile."""
    random = np.random.default_rng(0)
    x = jnp.asarray(random.standard_normal((1, 3, 30, 28)), jnp.float32)
    w = jnp.asarray(random.standard_normal((6, 1, 11, 9)), jnp.float32)
    given = (2, 1), ((3, 2), (0, 1)), (1, 2), 3

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return correlate(x, w, *given)

    _assert_alike(ours, lambda x, w: _convolved(x, w, *given), x, w)
    assert jax.jit(ours).lower(x, w).as_text().count("stablehlo.slice") == 11 + 9


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize(
    ("groups", "channels", "features", "kernels"), [(32, 4, 2, 8), (32, 8, 2, 8), (6, 3, 5, 2), (3, 16, 16, 3)]
)
def test_groups_of_few_channels_share_kernels(
    groups: int, channels: int, features: int, kernels: int, is_transposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 32 groups of a ResNeXt's layer took three times as long, and as many seconds to compile."""
    monkeypatch.setattr("funcgrad._ops.correlation._WRITTEN_OUT", 0)
    random = np.random.default_rng(0)
    x = jnp.asarray(random.standard_normal((2, groups * channels, 5, 6)), jnp.float32)
    shape = (groups * channels, features) if is_transposed else (groups * features, channels)
    w = jnp.asarray(random.standard_normal((*shape, 3, 2)), jnp.float32)
    given = (2, 1), ((1, 1), (0, 0)), (1, 2), groups

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return spread_out(x, w, *given, (10, 8)) if is_transposed else correlate(x, w, *given)

    def plain(x: jax.Array, w: jax.Array) -> jax.Array:
        return _spread_out(x, w, *given, (10, 8)) if is_transposed else _convolved(x, w, *given)

    _assert_alike(ours, plain, x, w)
    assert jax.jit(ours).lower(x, w).as_text().count("stablehlo.convolution") == kernels


def test_single_channels_are_spread_out_as_sums() -> None:
    random = np.random.default_rng(0)
    x = jnp.asarray(random.standard_normal((2, 20, 5, 6)), jnp.float32)
    w = jnp.asarray(random.standard_normal((20, 1, 4, 3)), jnp.float32)
    given = (2, 1), ((1, 1), (0, 0)), (1, 2), 20, (11, 10)

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return spread_out(x, w, *given)

    _assert_alike(ours, lambda x, w: _spread_out(x, w, *given), x, w)
    assert "stablehlo.convolution" not in jax.jit(_slopes(ours)).lower(x, w).as_text()


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("stride", "pad", "gap", "extra"), [(1, 1, 1, 0), (2, 1, 1, 1), (3, 0, 2, 2)])
def test_volumes_are_spread_out_as_images(groups: int, stride: int, pad: int, gap: int, extra: int) -> None:
    """XLA's transpose of three dimensions took 80 times as long as PyTorch's."""
    random = np.random.default_rng(0)
    x = jnp.asarray(random.standard_normal((2, 4, 3, 5, 4)), jnp.float32)
    w = jnp.asarray(random.standard_normal((4, 3, 3, 2, 3)), jnp.float32)
    given = (stride,) * 3, ((pad, pad),) * 3, (gap,) * 3, groups
    sizes = tuple(
        (n - 1) * stride - 2 * pad + gap * (k - 1) + extra + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True)
    )

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return spread_out(x, w, *given, sizes)

    _assert_alike(ours, lambda x, w: _spread_out(x, w, *given, sizes), x, w)
    convolved = re.findall(r"stablehlo.convolution.*-> tensor<(.*)xf32>", jax.jit(_slopes(ours)).lower(x, w).as_text())
    assert convolved and all(shape.count("x") == 3 for shape in convolved)


@pytest.mark.parametrize(
    ("shape", "kernel", "groups"), [((2, 3, 3), (2, 3, 2), 1), ((5, 6), (3, 2), 4), ((5,), (3,), 2)]
)
def test_whole_numbers_are_spread_out(shape: tuple[int, ...], kernel: tuple[int, ...], groups: int) -> None:
    random = np.random.default_rng(0)
    x, w = (jnp.asarray(random.integers(-9, 9, s), jnp.int32) for s in ((1, 4, *shape), (4, 1, *kernel)))
    rank = len(shape)
    given = (2,) * rank, ((1, 1),) * rank, (1,) * rank, groups
    sizes = tuple(2 * (n - 1) - 2 + k for n, k in zip(shape, kernel, strict=True))
    found, wanted = (f(x, w, *given, sizes) for f in (spread_out, _spread_out))
    np.testing.assert_array_equal(found, wanted)


Function = Callable[[jax.Array, jax.Array], jax.Array]


def _slopes(convolve: Function) -> Callable[..., tuple[jax.Array, ...]]:
    return jax.grad(lambda x, w: (convolve(x, w) ** 2).mean(), (0, 1))


def _assert_alike(ours: Function, plain: Function, x: jax.Array, w: jax.Array) -> None:
    """Results, gradients and tangents are the same."""

    @partial(jax.jit, static_argnums=0)
    def found(convolve: Function, x: jax.Array, w: jax.Array) -> tuple[jax.Array, ...]:
        return convolve(x, w), *_slopes(convolve)(x, w)

    wanted = found(plain, x, w)
    for one, other in zip(found(ours, x, w), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    _, along = jax.jit(lambda x, w: jax.jvp(ours, (x, w), (x, w)))(x, w)
    np.testing.assert_allclose(along, 2 * wanted[0], rtol=1e-4, atol=1e-3)
