"""torch._vmap_internals: the older `vmap` by the name under which libraries still ask for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.func.batching import vmap

__all__ = ["_vmap", "vmap"]


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """Return what `vmap` does, of functions of positional arguments.

    allow_none_pass_through: the result, or one of a tuple of them, may be None, as `autograd.grad` gives for what is
    not used; it stays None.
    """
    if not allow_none_pass_through:
        return vmap(func, in_dims, out_dims)

    @functools.wraps(func)
    def mapped(*args: Any) -> Any:
        given: list[Any] = []

        def present(*inner: Any) -> tuple[Tensor, ...]:
            given.append(func(*inner))
            return tuple(result for result in _each(given[-1]) if result is not None)

        found = iter(vmap(functools.wraps(func)(present), in_dims, out_dims)(*args))
        results = tuple(None if result is None else next(found) for result in _each(given[-1]))
        return results if isinstance(given[-1], (tuple, list)) else results[0]

    return mapped


def _each(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)
