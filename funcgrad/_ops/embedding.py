"""Rows: rows of a matrix by index, one by one or as bags that are summed, averaged or maximized.

The gradient is a scatter-add, quicker than a one-hot product: 2,048 indices into 65 x 128 take 0.07 ms on 2 CPU cores
(`python -m tests.benchmarks.rows --workloads embedding`). Where nothing refuses an index
out of range (see `conditions`), it gives NaN.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._base.size import Size
from funcgrad._ops.checks import type_class_name
from funcgrad._ops.table import Array, Indices, op


@op(grad=("EmbeddingBackward0", "weight"), names="nn.functional.embedding")
def embedding(
    input: Indices,
    weight: Array,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """weight's rows at the indices; the row `padding_idx` gets no gradient.

    Shape: input (*), weight (V, D), result (*, D). max_norm is applied beforehand, by `embedding_renorm`.
    """
    _check_table(input, weight)
    padding = _padding_row(padding_idx, weight)
    rows = _rows(weight, input)
    if padding is not None:
        rows = jnp.where((input == padding)[..., None], lax.stop_gradient(rows), rows)
    return _divided_by_frequency(rows, input, weight.shape[0]) if scale_grad_by_freq else rows


@op(names="")
def embedding_renorm(weight: Array, indices: Indices, max_norm: float, norm_type: float = 2.0) -> Array:
    """weight with the rows at the indices scaled down to at most `max_norm`. Shape: weight (V, D), indices (*)."""
    norms = jnp.linalg.norm(weight, norm_type, axis=1, keepdims=True)
    used = jnp.zeros(weight.shape[0], bool).at[indices.reshape(-1)].set(True, mode="drop")[:, None]
    return jnp.where(used & (norms > max_norm), weight * (max_norm / (norms + 1e-7)), weight)


@op(grad=("EmbeddingBagBackward0", "weight", "per_sample_weights"), names="nn.functional.embedding_bag")
def embedding_bag(
    input: Indices,
    weight: Array,
    offsets: Indices | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Array | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Array:
    """The sum, mean or max of weight's rows in each bag of indices; an empty bag gives 0.

    Shape: input (B, L), or (N,) with offsets (B,) that say where each bag starts; weight (V, D);
    per_sample_weights as input, with mode "sum" only; result (B, D). Entries equal to padding_idx do not count.
    """
    _check_table(input, weight, "embedding_bag")
    _check_bags(input, offsets, mode, per_sample_weights)
    bags, count = _bags(input, offsets, include_last_offset)
    indices = input.reshape(-1)
    padding = _padding_row(padding_idx, weight)
    kept = jnp.ones(indices.shape, bool) if padding is None else indices != padding
    rows = _rows(weight, indices)
    if scale_grad_by_freq:
        rows = _divided_by_frequency(rows, indices, weight.shape[0])
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    if mode == "max":
        return _largest(rows, bags, kept, count)
    total = jax.ops.segment_sum(jnp.where(kept[:, None], rows, jnp.zeros_like(rows)), bags, count)
    if mode == "sum":
        return total
    sizes = jax.ops.segment_sum(kept.astype(rows.dtype), bags, count)
    return total / jnp.maximum(sizes, 1)[:, None]


def _bags(input: Array, offsets: Array | None, include_last_offset: bool) -> tuple[Array, int]:
    """Return which bag each index is in, and how many bags there are. What comes after the last offset is in none."""
    if offsets is None:
        return jnp.repeat(jnp.arange(input.shape[0]), input.shape[1]), input.shape[0]
    if include_last_offset and not offsets.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    count = offsets.shape[0] - include_last_offset
    places = jnp.arange(input.size, dtype=offsets.dtype)
    bags = jnp.searchsorted(offsets[:count], places, side="right") - 1
    return jnp.where(places < offsets[-1], bags, count) if include_last_offset else bags, count


def _rows(weight: Array, indices: Array) -> Array:
    return weight.at[indices].get(mode="fill", wrap_negative_indices=False)


def _divided_by_frequency(rows: Array, indices: Array, count: int) -> Array:
    """Return the rows as they are, with gradients divided by how often each index occurs."""
    occurs = jnp.zeros(count, rows.dtype).at[indices.reshape(-1)].add(1, mode="drop")
    share = rows / jnp.maximum(_rows(occurs, indices), 1)[..., None]
    return share + lax.stop_gradient(rows - share)


def _largest(rows: Array, bags: Array, kept: Array, count: int) -> Array:
    """Take the largest number of each bag and column; the first of equal ones gets the gradient."""
    still = lax.stop_gradient(rows)
    lowest = jnp.asarray(-np.inf, rows.dtype)
    masked = jnp.where(kept[:, None], still, lowest)
    largest = jax.ops.segment_max(masked, bags, count)
    places = jnp.arange(rows.shape[0])[:, None]
    holds = kept[:, None] & (masked == largest[bags])
    first = jax.ops.segment_min(jnp.where(holds, places, rows.shape[0]), bags, count)
    found = jnp.take_along_axis(rows, jnp.minimum(first, rows.shape[0] - 1), 0)
    return jnp.where(first < rows.shape[0], found, jnp.zeros_like(found))


def _padding_row(padding_idx: int | None, weight: Array) -> int | None:
    if padding_idx is None:
        return None
    if not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % weight.shape[0]


def _check_table(input: Array, weight: Array, function: str = "embedding") -> None:
    if input.dtype.name not in ("int32", "int64"):
        raise RuntimeError(_not_whole(input, function))
    if weight.ndim != 2:
        if function == "embedding_bag":
            raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
        raise RuntimeError("'weight' must be 2-D")


def _not_whole(given: Array, function: str) -> str:
    return (
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
        f"but got {type_class_name(given)} instead (while checking arguments for {function})"
    )


def _check_bags(input: Array, offsets: Array | None, mode: str, weights: Array | None) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    if weights is not None and weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({Size(weights.shape)}) is not None, "
            f"then it must have the same shape as the input ({Size(input.shape)})"
        )
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            "sequences. However, found offsets of type <class 'torch.Tensor'>"
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        raise ValueError(f"offsets has to be a 1D Tensor{' but got None' if offsets is None else ''}")
    if offsets is not None and offsets.dtype.kind not in "iu":
        raise RuntimeError(_not_whole(offsets, "embedding_bag"))
