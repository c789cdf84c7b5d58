"""A backward of a row's own that leaves forward mode alone: under jax.jvp, which jax.custom_vjp refuses, the plain one.

A backward is written by hand where the one that JAX derives is slow; for tangents what JAX derives is right and fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.core import Tracer
from jax.interpreters import ad


class _WithOwnVjp:
    """A function with two derivatives: its own one backward, JAX's forward."""

    def __init__(self, function: Callable[..., Any], static: tuple[int, ...]) -> None:
        self.plain = function
        self.custom = jax.custom_vjp(function, nondiff_argnums=static)
        self.defvjp = self.custom.defvjp
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        forward = any(map(_has_tangent, jax.tree.leaves(arguments)))
        return (self.plain if forward else self.custom)(*arguments)


def _has_tangent(leaf: Any) -> bool:
    """Tell whether jax.jvp passes a tangent along, here or around a jax.vjp or jax.vmap."""
    while isinstance(leaf, Tracer):
        if isinstance(leaf, ad.JVPTracer):
            return True
        leaf = getattr(leaf, "primal", getattr(leaf, "val", None))
    return False


def with_own_vjp(*static: int) -> Callable[[Callable[..., Any]], _WithOwnVjp]:
    """Decorate a function whose `defvjp(forward, backward)` follows, as jax.custom_vjp's. static: nondiff_argnums."""
    return lambda function: _WithOwnVjp(function, static)
