"""Rows: scaled dot product attention.

On a GPU cuDNN's kernel computes it in half precision, which never writes the scores down. Elsewhere these are plain
products around a softmax, whose scores a GPU does not keep for the gradient if they are many: on 2 CPU cores, causal
16 x 6 heads x 256 x 64 forward and backward take 72 ms of CPU time, 8 x 4 x 64 x 32 take 0.5 ms
(`python -m tests.benchmarks.rows --workloads attention attention-small`).
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._ops.arithmetic import is_half
from funcgrad._ops.backends import on_cpu
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.checks import c_name, scalar_name
from funcgrad._ops.cudnn_attention import by_cudnn, is_for_cudnn
from funcgrad._ops.own_vjp import with_own_vjp
from funcgrad._ops.softmax import softmax_of
from funcgrad._ops.table import Array, op

_MANY_SCORES = 2**25  # of one call: a GPU computes so many again for the gradient and keeps none


def _attention_grad(shapes: tuple, statics: tuple) -> tuple:
    same = shapes[0][-1:] == shapes[2][-1:] and shapes[0][:-2] == shapes[2][:-2]
    if len(shapes[0]) == 4 and same and shapes[4] is None:
        return ("ScaledDotProductFlashAttentionForCpuBackward0", "query", "key", "value")
    keys = ("ReshapeAliasBackward0", ("ExpandBackward0", ("MulBackward1", ("TransposeBackward0", "key"))))
    scores = ("UnsafeViewBackward0", ("BmmBackward0", _viewed(("MulBackward1", "query")), keys))
    if shapes[3] is not None:
        scores = ("AddBackward0", scores, "attn_mask")
    shares = ("SafeSoftmaxBackward0", scores)
    if shapes[4] is not None:
        shares = ("MulBackward0", shares)
    return ("UnsafeViewBackward0", ("BmmBackward0", _viewed(shares), _viewed("value")))


def _viewed(inner: tuple | str) -> tuple:
    return ("ViewBackward0", ("ExpandBackward0", inner))


@op(grad=_attention_grad, names="")
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """softmax(query key^T scale + mask) value; a query that may see nothing gives 0.

    Shape: query (*, L, E), key (*, S, E), value (*, S, F), attn_mask (*, L, S) of bool (True: may be seen) or
    added numbers, dropout_mask (*, L, S) multiplies the shares, result (*, L, F). scale is 1 / sqrt(E) unless given.
    With enable_gqa a key's head serves several of the query's. RuntimeError where shapes or dtypes do not fit.
    """
    _check(query, key, value, attn_mask)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale

    def products(query: Array, key: Array, value: Array, attn_mask: Array | None) -> Array:
        if enable_gqa:
            key, value = (jnp.repeat(x, _heads_per(query, x), -3) for x in (key, value))
        return _by_products(query, key, value, attn_mask, dropout_mask, factor, is_causal=is_causal)

    has_heads = enable_gqa or query.shape[:-2] == key.shape[:-2]
    if has_heads and dropout_mask is None and is_for_cudnn(query, key, value, attn_mask, is_causal=is_causal):
        return by_cudnn(products, query, key, value, attn_mask, factor, is_causal=is_causal)
    scores = math.prod(query.shape[:-1]) * key.shape[-2]
    is_long = isinstance(scores, int) and scores >= _MANY_SCORES and not on_cpu()
    return (jax.checkpoint(products) if is_long else products)(query, key, value, attn_mask)


def _by_products(
    query: Array, key: Array, value: Array, attn_mask: Array | None, dropout_mask: Array | None, factor: float,
    *, is_causal: bool,
) -> Array:  # fmt: skip
    broadcast_shape(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    scores = _wide_product("...le,...se->...ls", query, key) * factor
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    if attn_mask is not None:
        broadcast_shape(scores.shape, attn_mask.shape)
        scores = (
            jnp.where(attn_mask, scores, -jnp.inf)
            if attn_mask.dtype == bool
            else scores + attn_mask.astype(scores.dtype)
        )
    shares = softmax_of(scores, -1, attn_mask is not None)
    if dropout_mask is not None:
        shares = shares * dropout_mask.astype(shares.dtype)
    return _wide_product("...ls,...sf->...lf", shares.astype(value.dtype), value).astype(value.dtype)


def _wide_product(equation: str, a: Array, b: Array) -> Array:
    """Return a sum of products: in float32 for factors in half precision, as torch has them inside of attention.

    So are their gradients, of what comes from above in half precision too: a GPU is quick at no others.
    """
    wide = partial(jnp.einsum, equation, preferred_element_type=jnp.promote_types(a.dtype, jnp.float32))
    if not is_half(a) or on_cpu():
        return wide(a, b)
    computed = with_own_vjp()(wide)
    halves = partial(jnp.einsum, equation)
    computed.defvjp(lambda *x: (computed(*x), x), lambda x, g: jax.vjp(halves, *x)[1](g.astype(a.dtype)))
    return computed(a, b)


def _heads_per(query: Array, other: Array) -> int:
    if query.ndim < 3 or query.shape[-3] % other.shape[-3]:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return query.shape[-3] // other.shape[-3]


def _check(query: Array, key: Array, value: Array, attn_mask: Array | None) -> None:
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {c_name(query)} key.dtype: "
            f"{c_name(key)} and value.dtype: {c_name(value)} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if query.dtype == bool or query.dtype.kind in "iu":
        if max(query.ndim, key.ndim) == 2:
            raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: float != {c_name(query)}")
        raise RuntimeError(f"expected scalar type Float but found {scalar_name(query)}")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        batch = math.prod(query.shape[:-2])
        wanted, given = (
            (query.shape[-1], key.shape[-1]) if query.shape[-1] != key.shape[-1] else (key.shape[-2], value.shape[-2])
        )
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {wanted}] but got: "
            f"[{batch}, {given}]."
        )
    if attn_mask is not None and attn_mask.dtype not in (bool, np.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{c_name(attn_mask)} and  query.dtype: {c_name(query)} instead."
        )
