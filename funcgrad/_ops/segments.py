"""Rows that fold runs of one dimension to one element each: torch.segment_reduce."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from funcgrad._ops.checks import no_kernel
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, Indices, Scalar, op

_FOLDS = {
    "sum": (jax.ops.segment_sum, 0), "mean": (jax.ops.segment_sum, 0), "prod": (None, 1),
    "max": (jax.ops.segment_max, -np.inf), "min": (jax.ops.segment_min, np.inf),
    "amax": (jax.ops.segment_max, -np.inf), "amin": (jax.ops.segment_min, np.inf),
}  # fmt: skip


@op(grad="SegmentReduceBackward0", names="segment_reduce _segment_reduce .segment_reduce")
def segment_reduce(
    data: Array, reduce: str, *, lengths: Indices | None = None, indices: Indices | None = None,
    offsets: Indices | None = None, axis: int = 0, unsafe: bool = False, initial: Scalar | None = None,
) -> Array:  # fmt: skip
    """The sum, mean, product, largest or smallest of each run of `axis`, which are given by lengths or by offsets.

    initial: takes part in each run. Shape: data (*batch, n, *), lengths (*batch, runs), result (*batch, runs, *).
    """
    if reduce not in _FOLDS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    axis = dim_of(data.ndim, axis)
    runs = jnp.diff(offsets, axis=-1) if lengths is None and offsets is not None else lengths
    assert runs is not None
    if runs.ndim - 1 != axis:
        given = "offsets" if lengths is None else "lengths"
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {given} but got {axis}.")
    if runs.dtype.kind not in "iu":
        raise no_kernel(f"_segment_reduce_{'offsets' if lengths is None else 'lengths'}_cpu_kernel1", runs)
    if data.shape[axis] == 0 and initial is None and runs.shape[-1] == 0:
        return jnp.zeros((*data.shape[:axis], 0, *data.shape[axis + 1 :]), data.dtype)
    fold, start = _FOLDS[reduce]

    def folded(values: Array, runs: Array) -> Array:
        ends, first = jnp.cumsum(runs), jnp.asarray(start if initial is None else initial, values.dtype)
        owner = jnp.searchsorted(ends, np.arange(len(values)), side="right")
        count = runs.reshape(-1, *(1,) * (values.ndim - 1))
        if reduce == "prod":  # a scatter of products has no gradient
            mine = (owner == np.arange(len(runs))[:, None]).reshape(len(runs), len(values), *(1,) * (values.ndim - 1))
            return jnp.prod(jnp.where(mine, values, 1), 1) * first
        assert fold is not None
        found = fold(values, owner, len(runs), indices_are_sorted=True)
        if reduce in ("sum", "mean"):
            found = found + first
            return jnp.where((count == 0) & (initial is not None), first, found / count) if reduce == "mean" else found
        found = jnp.where(count == 0, first, found)
        return jnp.maximum(found, first) if reduce.endswith("max") else jnp.minimum(found, first)

    for _ in range(axis):
        folded = jax.vmap(folded)
    return folded(data, runs)
