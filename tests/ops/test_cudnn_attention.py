"""Attention by cuDNN's kernel: what is done around it, with JAX's own attention in its place; no GPU is here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from funcgrad._ops import attention, cudnn_attention
from funcgrad._ops.attention import _by_products
from funcgrad._ops.cudnn_attention import is_for_cudnn, with_derivatives

FACTOR = 0.3


def products(query: Any, key: Any, value: Any, mask: Any, *, is_causal: bool) -> Any:
    key, value = (jnp.repeat(x, query.shape[1] // x.shape[1], 1) for x in (key, value))
    return _by_products(query, key, value, mask, None, FACTOR, is_causal=is_causal)


def kernel(monkeypatch: pytest.MonkeyPatch, *, is_causal: bool) -> Callable[..., Any]:
    """Return the kernel with its derivatives, computed by what XLA has in its place."""
    monkeypatch.setattr(cudnn_attention, "IMPLEMENTATION", "xla")
    return with_derivatives(partial(products, is_causal=is_causal), FACTOR, is_causal=is_causal)


def inputs(length: int, keys: int, heads: int = 2) -> tuple[jax.Array, ...]:
    draw = np.random.default_rng(0).standard_normal
    shapes = (2, 2, length, 8), (2, heads, keys, 8), (2, heads, keys, 8)
    return tuple(jnp.asarray(draw(shape), np.float32) for shape in shapes)


MASKS = {
    "none": None,
    "of each row": np.arange(35).reshape(5, 7) % 3 > 0,
    "of a sample": np.arange(14).reshape(2, 1, 1, 7) % 4 > 0,
    "a row that sees nothing": np.arange(5)[:, None] != 2,
    "of numbers": np.linspace(-2, 2, 70, dtype=np.float32).reshape(2, 5, 7),
    "of numbers, for a sample": np.where(np.arange(14).reshape(2, 1, 1, 7) % 4, 0.5, -np.inf).astype(np.float32),
    "a row of numbers that sees nothing": np.where(np.arange(5)[:, None] != 2, 0, -np.inf).astype(np.float32),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("heads", [1, 2])
def test_results_and_both_derivatives_are_those_of_the_products(
    mask: str, heads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = *inputs(5, 7, heads), MASKS[mask]
    learned = (0, 1, 2, 3) if "numbers" in mask else (0, 1, 2)

    def slope(attention: Callable[..., Any], *x: Any) -> Any:
        return jax.grad(lambda *x: jnp.sum(attention(*x) ** 2), learned)(*x)

    def found(attention: Callable[..., Any], *x: Any) -> Any:
        curvature = jax.grad(lambda *x: sum(jnp.sum(jnp.sin(g)) for g in slope(attention, *x)), learned)(*x)
        return attention(*x), slope(attention, *x), curvature

    fused, plain = kernel(monkeypatch, is_causal=False), partial(products, is_causal=False)
    (result, *slopes), (wanted, *known) = (jax.tree.leaves(jax.jit(partial(found, f))(*given)) for f in (fused, plain))
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    for one, other in zip(slopes, known, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("length", "keys"), [(5, 8), (6, 7), (1, 4), (4, 1)])
def test_either_length_may_be_odd(length: int, keys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = inputs(length, keys)
    fused, plain = kernel(monkeypatch, is_causal=False), partial(products, is_causal=False)
    for of in (lambda f, *x: f(*x, None), jax.grad(lambda f, *x: jnp.sum(f(*x, None) ** 2), 2)):
        found, wanted = (jax.jit(partial(of, f))(*given) for f in (fused, plain))
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [1, 4, 7])
def test_a_causal_text_sees_what_is_before(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = inputs(length, length)
    found = kernel(monkeypatch, is_causal=True)(*given, None)
    np.testing.assert_allclose(found, products(*given, None, is_causal=True), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("query", "keys", "mask", "is_causal", "is_taken"),
    [
        ((2, 4, 6, 64), (2, 4, 6, 64), None, True, True),
        ((2, 4, 6, 64), (2, 2, 9, 64), None, False, True),
        ((2, 4, 6, 64), (2, 4, 9, 64), np.ones((6, 9), bool), False, True),
        ((2, 4, 6, 64), (2, 4, 9, 64), np.ones((2, 1, 1, 9), bool), False, True),
        ((2, 4, 6, 64), (2, 4, 9, 64), np.ones((6, 8), bool), False, False),
        ((2, 4, 6, 64), (2, 4, 9, 64), np.ones((1, 2, 4, 6, 9), bool), False, False),
        ((2, 4, 6, 64), (2, 4, 9, 64), jax.ShapeDtypeStruct((1, 4, 6, 9), jnp.bfloat16), False, True),
        ((2, 4, 6, 64), (2, 4, 9, 64), np.ones((6, 9), np.float32), False, False),
        ((2, 4, 6, 64), (2, 4, 9, 64), None, True, False),
        ((2, 4, 6, 20), (2, 4, 6, 20), None, True, False),
        ((2, 4, 6, 256), (2, 4, 6, 256), None, True, False),
        ((4, 6, 64), (4, 6, 64), None, True, False),
        ((2, 4, 0, 64), (2, 4, 0, 64), None, True, False),
    ],
)
def test_which_the_kernel_takes(
    query: tuple[int, ...], keys: tuple[int, ...], mask: Any, is_causal: bool, is_taken: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(cudnn_attention, "has_cudnn", lambda: True)
    for dtype in (jnp.bfloat16, jnp.float32):
        q, k, v = (jax.ShapeDtypeStruct(shape, dtype) for shape in (query, keys, keys))
        found = is_for_cudnn(q, k, v, mask, is_causal=is_causal)  # type: ignore[arg-type]  # shapes and dtypes will do
        assert found is (is_taken and dtype is not jnp.float32)


def test_on_a_gpu_the_kernel_is_near_what_float64_gives() -> None:
    if not cudnn_attention.has_cudnn():
        pytest.skip("there is no GPU for which cuDNN has the kernel")
    for mask in MASKS.values():
        require_near_float64(mask, jnp.bfloat16)
        require_near_float64(mask, jnp.float16)


def test_what_stands_for_the_kernel_is_near_what_float64_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cudnn_attention, "IMPLEMENTATION", "xla")
    for mask in ("none", "of numbers, for a sample"):
        require_near_float64(MASKS[mask], jnp.bfloat16)


def require_near_float64(mask: Any, dtype: Any) -> None:
    """Assert that results and gradients in half precision are those of products in float64, but for rounding."""
    halves = [x.astype(dtype) for x in inputs(5, 7)]
    shown = mask if mask is None or mask.dtype == bool else jnp.asarray(mask, dtype)
    fused = with_derivatives(partial(products, is_causal=False), FACTOR, is_causal=False)
    with jax.enable_x64(True):
        wide = [x.astype(np.float64) for x in halves]
        seen = shown if shown is None or shown.dtype == bool else shown.astype(np.float64)
        plain = partial(products, is_causal=False)
        expected, pulled = jax.vjp(lambda *x: plain(*x, seen), *wide)
        wanted = [np.asarray(x) for x in (expected, *pulled(jnp.cos(expected)))]
    found, pulled = jax.vjp(lambda *x: fused(*x, shown), *halves)
    for ours, theirs in zip((found, *pulled(jnp.cos(found))), wanted, strict=True):
        off = np.linalg.norm(np.asarray(ours, np.float64) - theirs) / np.linalg.norm(theirs)
        assert off < 0.02


def test_there_is_none_without_a_gpu() -> None:
    assert not cudnn_attention.has_cudnn()


def test_many_scores_are_computed_again_for_a_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    x = jnp.asarray(np.random.default_rng(0).standard_normal((2, 1, 16, 8)), np.float32)

    def kept_and_slope() -> tuple[int, jax.Array]:
        found, pulled = jax.vjp(lambda x: attention.scaled_dot_product_attention(x, x, x), x)
        return sum(kept.shape == (2, 1, 16, 16) for kept in jax.tree.leaves(pulled)), pulled(found)[0]

    monkeypatch.setattr(attention, "on_cpu", lambda: False)
    few, slope = kept_and_slope()
    monkeypatch.setattr(attention, "_MANY_SCORES", 2 * 16 * 16)
    many, same = kept_and_slope()
    assert few > 0 and many == 0
    np.testing.assert_allclose(same, slope, rtol=1e-5, atol=1e-6)
