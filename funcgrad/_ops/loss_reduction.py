"""How losses end: the mean, the sum, or no reduction, by torch's new and old arguments."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.reductions import mean_of, refuse_mean
from funcgrad._ops.table import Array


def completed(statics: tuple[Any, ...], *defaults: Any) -> tuple[Any, ...]:
    """Return a call's static arguments with the defaults of those left out at the end."""
    return (*statics, *defaults[len(statics) :])


def reduction_of(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """Return the reduction wanted; the older arguments `size_average` and `reduce` go first where they are given."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not reduce:
            return "none"
        return "mean" if size_average is None or size_average else "sum"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(loss: Array, reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> Array:
    """Reduce the losses of all elements as wanted."""
    kind = reduction_of(reduction, size_average, reduce)
    if kind == "none":
        return loss
    if kind == "sum":
        return jnp.sum(loss, dtype=np.int64 if loss.dtype.kind in "biu" else None)
    refuse_mean(loss)
    return mean_of(loss, tuple(range(loss.ndim)))


def last_node(reduction: str, size_average: bool | None, reduce: bool | None, *inner: object) -> tuple:
    """Return the graph of a loss that torch reduces by a node of its own: `inner` under a mean, a sum, or bare."""
    kind = reduction_of(reduction, size_average, reduce)
    return inner if kind == "none" else ("MeanBackward0" if kind == "mean" else "SumBackward0", inner)
