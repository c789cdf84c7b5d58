"""Functions written for Tensors, given JAX arrays instead: they answer with arrays, under JAX's transformations too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax

from funcgrad._tensor.interop import from_jax, to_jax
from funcgrad._tensor.registry import asks_late
from funcgrad._tensor.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def on_arrays(function: F) -> F:
    """Let `function` also take JAX arrays where it takes Tensors. With a Tensor among them nothing changes."""

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if isinstance(x, Tensor):
                return function(*args, **kwargs)
        given = (*args, *kwargs.values())
        if not any(isinstance(x, jax.Array) for x in given) or any(isinstance(x, Tensor) for x in given):
            return (either if asks_late(given) else function)(*args, **kwargs)
        return _array(function(*map(_tensor, args), **{name: _tensor(x) for name, x in kwargs.items()}))

    return either  # type: ignore[return-value]  # it has the signature of the function


def _tensor(x: Any) -> Any:
    return from_jax(x) if isinstance(x, jax.Array) else x


def _array(result: Any) -> Any:
    if isinstance(result, Tensor):
        return to_jax(result)
    return type(result)(map(_array, result)) if type(result) in (tuple, list) else result
