"""Which calls are JAX's own: those with JAX arrays and no Tensor among the arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from funcgrad._tensor.interop import to_jax
from funcgrad._tensor.pytree import leaves_of, map_leaves
from funcgrad._tensor.tensor import Tensor


def is_plain(arguments: Any) -> bool:
    """Tell whether arguments hold JAX arrays and no Tensor, so that JAX's transformation is what is meant."""
    leaves = leaves_of(arguments)
    return any(isinstance(x, jax.Array) for x in leaves) and not any(isinstance(x, Tensor) for x in leaves)


def plain(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return `func` with arrays for the Tensors among its results, which come from Tensors that it reads."""

    @functools.wraps(func)
    def in_arrays(*args: Any, **kwargs: Any) -> Any:
        return map_leaves(lambda x: to_jax(x) if isinstance(x, Tensor) else x, func(*args, **kwargs))

    return in_arrays
