"""Row: cross entropy of a linear layer's scores, a piece of the batch at a time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from funcgrad._ops.cross_entropy import losses_and_shares, reduced_by_share
from funcgrad._ops.table import Array, op


@op(grad="GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_defaultBackward", names="")
def linear_cross_entropy(
    input: Array,
    linear_weight: Array,
    target: Array,
    linear_bias: Array | None = None,
    weight: Array | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    piece: int = 1,
) -> Array:
    """Cross entropy of input @ linear_weight.T + linear_bias with the scores of `piece` rows in memory at once.

    Shape: input (N, in), linear_weight (C, in), target (N,), linear_bias (C,), weight (C,); result () or, unreduced,
    (N,). Backward computes the scores again.
    """

    def losses(rows: tuple[Array, Array]) -> tuple[Array, Array]:
        features, wanted = rows
        scores = jnp.matmul(features, linear_weight.T)
        scores = scores if linear_bias is None else scores + linear_bias
        return losses_and_shares(scores, wanted, weight, ignore_index, 0.0)

    count = input.shape[0]
    padding = -count % piece
    features = jnp.pad(input, ((0, padding), (0, 0))).reshape(-1, piece, input.shape[1])
    wanted = jnp.pad(target, (0, padding), constant_values=ignore_index).reshape(-1, piece)
    loss, share = lax.map(jax.checkpoint(losses), (features, wanted))
    return reduced_by_share(loss.reshape(-1)[:count], share.reshape(-1)[:count], reduction).astype(input.dtype)
