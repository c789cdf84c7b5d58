"""Rows that count into bins: edges of equal bins, and how many points (or how much weight) lie in each box of bins."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.checks import no_kernel
from funcgrad._ops.table import Array, Arrays, Dims, op


def _limits(column: Array, given: Any) -> tuple[Array, Array]:
    """Return the ends of a range: as given, else those of the numbers; moved apart where they are one."""
    if given is not None:
        low, high = (jnp.asarray(end, column.dtype) for end in given)
    elif column.size:
        low, high = jnp.min(column), jnp.max(column)
    else:
        low, high = jnp.zeros((), column.dtype), jnp.ones((), column.dtype)
    return jnp.where(low == high, low - 0.5, low), jnp.where(low == high, high + 0.5, high)


@op(names="")
def histogram_edges(points: Array, bins: Dims, range: Any = None) -> tuple[Array, ...]:
    """The edges of equal bins over each coordinate. Shape: points (N, D), D bins, result D vectors (bins + 1).

    range: low and high of each coordinate, all in a row; by default those of the points.
    """
    if points.dtype.kind not in "fV" or points.dtype.itemsize < 4:
        raise no_kernel("histogramdd", points)
    ranges = [None] * len(bins) if range is None else [range[2 * d : 2 * d + 2] for d in np.arange(len(bins))]
    limits = [_limits(points[:, d], given) for d, given in enumerate(ranges)]
    return tuple(jnp.linspace(*ends, n + 1, dtype=points.dtype) for ends, n in zip(limits, bins, strict=True))


@op(names="")
def histogram_counts(points: Array, edges: Arrays, weight: Array | None = None, density: bool = False) -> Array:
    """How many points, or how much weight, lie in each box; the last bin has both its edges.

    density: divided by the sum and by the box's volume. Shape: points (N, D), edges (n_d + 1), result (n_1, ..., n_D).
    """
    counts, inside, places = tuple(edge.size - 1 for edge in edges), jnp.ones(len(points), bool), []
    for column, edge in zip(points.T, edges, strict=True):
        inside &= (column >= edge[0]) & (column <= edge[-1])
        places.append(jnp.clip(jnp.searchsorted(edge, column, side="right") - 1, 0, edge.size - 2))
    added = jnp.ones(len(points), points.dtype) if weight is None else weight.reshape(-1).astype(points.dtype)
    result = jnp.zeros(counts, points.dtype).at[tuple(places)].add(jnp.where(inside, added, 0))
    if density:
        result = result / jnp.sum(result)
        for dim, edge in enumerate(edges):
            result = result / jnp.diff(edge).reshape(-1, *(1,) * (len(edges) - 1 - dim))
    return result
