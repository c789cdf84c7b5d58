"""scan, associative_scan and map over Tensors: loops in which a function says one turn (torch._higher_order_ops).

A turn is recorded like any other line; the program finds that the turns repeat, and runs them as one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._tensor.control_flow import cond, while_loop
from funcgrad._tensor.functions import stack
from funcgrad.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]


def scan(
    combine_fn: Callable[..., tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False,
    additional_inputs: Sequence[Any] = (),
) -> tuple[Any, Any]:  # fmt: skip
    """Return the last state, and what combine_fn(state, x) -> (state, y) gave at each place, stacked along `dim`.

    xs: tensors of one length along `dim`, nested as may be. reverse: from the end. RuntimeError for a length of 0.
    """
    length = _length(xs, dim)
    state, results = init, [None] * length
    for place in reversed(range(length)) if reverse else range(length):
        state, results[place] = combine_fn(state, _at(xs, dim, place), *additional_inputs)
    return state, _stacked(results, dim)


def associative_scan(
    combine_fn: Callable[..., Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise",
    additional_inputs: Sequence[Any] = (),
) -> Any:  # fmt: skip
    """Return x0, combine_fn(x0, x1), combine_fn(combine_fn(x0, x1), x2), ... along `dim`; reverse: from the end.

    Both modes ("pointwise", "generic") combine one place after the other. ValueError for another mode.
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    length = _length(xs, dim)
    places = list(reversed(range(length)) if reverse else range(length))
    results: list[Any] = [None] * length
    state = results[places[0]] = _at(xs, dim, places[0])
    for place in places[1:]:
        state = results[place] = combine_fn(state, _at(xs, dim, place), *additional_inputs)
    return _stacked(results, dim)


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """Return f(x, *args) for each x along the first dimension of xs, stacked."""
    return _stacked([f(_at(xs, 0, place), *args) for place in range(_length(xs, 0))], 0)


def _length(xs: Any, dim: int) -> int:
    lengths = {leaf.shape[dim] for leaf in tree_flatten(xs)[0]}
    if len(lengths) != 1:
        raise RuntimeError(f"all tensors must have one length along dim {dim}, but got {sorted(lengths)}")
    (length,) = lengths
    if length == 0:
        raise RuntimeError("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")
    return length


def _at(xs: Any, dim: int, place: int) -> Any:
    return tree_map(lambda leaf: leaf.select(dim, place), xs)


def _stacked(results: Sequence[Any], dim: int) -> Any:
    leaves = [tree_flatten(result)[0] for result in results]
    spec = tree_flatten(results[0])[1]
    return tree_unflatten([stack(same, dim) for same in zip(*leaves, strict=True)], spec)
