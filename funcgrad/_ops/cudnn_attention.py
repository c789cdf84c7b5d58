"""Scaled dot product attention by cuDNN's kernel, which never writes the scores down: on a GPU, in half precision."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.interpreters import ad

from funcgrad._ops.arithmetic import is_half
from funcgrad._ops.table import Array

Attention: TypeAlias = Callable[[Array, Array, Array, Array | None], Array]  # query, key, value, mask -> result

WIDEST = 128  # elements of a head
IMPLEMENTATION: Literal["cudnn", "xla"] = "cudnn"


@functools.cache
def has_cudnn() -> bool:
    """Tell whether programs run on a GPU for which cuDNN has the kernel."""
    if jax.default_backend() != "gpu":
        return False
    small = jax.ShapeDtypeStruct((1, 8, 1, 8), jnp.bfloat16)
    try:
        jax.eval_shape(functools.partial(jax.nn.dot_product_attention, implementation="cudnn"), small, small, small)
    except RuntimeError:
        return False
    return True


def is_for_cudnn(query: Array, key: Array, value: Array, mask: Array | None, *, is_causal: bool) -> bool:
    """Tell whether the kernel takes it."""
    if not is_half(query) or any(x.ndim != 4 for x in (query, key, value)) or not has_cudnn():
        return False
    sizes = *query.shape, *key.shape
    if not all(isinstance(size, int) and size > 0 for size in sizes) or key.shape != value.shape:
        return False
    (batch, heads, length, width), (key_batch, key_heads, keys, _) = query.shape, key.shape
    fits = batch == key_batch and heads % key_heads == 0 and width % 8 == 0 and width <= WIDEST
    if mask is None:
        return fits and (length == keys or not is_causal)
    full = (batch, heads, length, keys)[-mask.ndim :] if 2 <= mask.ndim <= 4 else ()
    spreads = bool(full) and all(size in (1, wanted) for size, wanted in zip(mask.shape, full, strict=True))
    return fits and mask.dtype in (bool, query.dtype) and not is_causal and spreads


def by_cudnn(
    products: Attention, query: Array, key: Array, value: Array, mask: Array | None, factor: float, *, is_causal: bool
) -> Array:
    """Return what the kernel gives where the program runs on a GPU; elsewhere, and in forward mode, that of products.

    products: the same by products of matrices. Shape: query (B, H, L, E), key and value (B, K, S, E), where K divides
    H, mask (*, L, S) of bool or of numbers that are added, result (B, H, L, E).
    """
    if any(isinstance(x, ad.JVPTracer) for x in (query, key, value)):
        return products(query, key, value, mask)
    fused = with_derivatives(products, factor, is_causal=is_causal)
    return lax.platform_dependent(query, key, value, mask, cuda=fused, default=products)


def with_derivatives(products: Attention, factor: float, *, is_causal: bool) -> Attention:
    """Return the kernel with its own gradient.

    That of a mask of numbers, which the kernel has for some of them only, and what is asked of a gradient are derived
    from the products.
    """
    kernel = functools.partial(_kernel, factor=factor, is_causal=is_causal)

    def pulled(
        attention: Attention, mask: Array | None, query: Array, key: Array, value: Array, gradient: Array
    ) -> tuple[Array, ...]:
        return jax.vjp(lambda query, key, value: attention(query, key, value, mask), query, key, value)[1](gradient)

    @jax.custom_vjp
    def fused(query: Array, key: Array, value: Array, mask: Array | None) -> Array:
        return kernel(query, key, value, mask)

    @jax.custom_vjp
    def gradients(mask: Array | None, query: Array, key: Array, value: Array, gradient: Array) -> tuple[Array, ...]:
        return pulled(kernel, mask, query, key, value, gradient)

    def first(saved: tuple, gradient: Array) -> tuple[Array | None, ...]:
        query, key, value, mask = saved
        (of_mask,) = jax.vjp(functools.partial(products, query, key, value), mask)[1](gradient)
        return (*gradients(mask, query, key, value, gradient), of_mask)

    def second(saved: tuple, wanted: tuple) -> tuple[Array | None, ...]:
        return jax.vjp(functools.partial(pulled, products), *saved)[1](wanted)

    fused.defvjp(lambda *given: (fused(*given), given), first)
    gradients.defvjp(lambda *given: (gradients(*given), given), second)
    return fused


def _kernel(query: Array, key: Array, value: Array, mask: Array | None, *, factor: float, is_causal: bool) -> Array:
    """Run the kernel. It has a gradient for even lengths only, so odd ones get a place more, which nobody sees."""
    length, keys, told = query.shape[2], key.shape[2], {}
    if mask is not None:
        told["bias"] = _added(mask, (length, keys), query.dtype)
    elif keys % 2 and not is_causal:  # in a causal text nothing sees what comes last but itself
        told = {
            "query_seq_lengths": jnp.full(query.shape[0], length, np.int32),
            "key_value_seq_lengths": jnp.full(query.shape[0], keys, np.int32),
        }
    rows = [_even(jnp.swapaxes(x, 1, 2), 1) for x in (query, key, value)]
    found = jax.nn.dot_product_attention(
        *rows, **told, scale=factor, is_causal=is_causal, implementation=IMPLEMENTATION
    )
    found = jnp.swapaxes(found[:, :length], 1, 2)
    if mask is None:
        return found
    seen = jnp.any(mask if mask.dtype == bool else mask > -jnp.inf, -1, keepdims=True)
    return jnp.where(seen, found, 0)


def _added(mask: Array, shape: tuple[int, int], dtype: np.dtype) -> Array:
    """Return what the kernel adds to the scores for a mask. Shape: (B, H, L, S), where B and H may be 1."""
    hidden = -(2.0**15 if dtype == jnp.float16 else 2.0**41)  # cuDNN takes differences of what is much less
    added = jnp.where(mask, 0.0, hidden).astype(dtype) if mask.dtype == bool else jnp.maximum(mask, hidden)
    added = jnp.broadcast_to(added, (*added.shape[:-2], *shape))
    return _even(_even(added.reshape(*[1] * (4 - added.ndim), *added.shape), 2), 3, hidden)


def _even(array: Array, axis: int, filler: float = 0.0) -> Array:
    """Return an array with one more along an axis of odd length."""
    more = [(0, array.shape[i] % 2 if i == axis else 0) for i in range(array.ndim)]
    return jnp.pad(array, more, constant_values=filler)
