"""Rows: connectionist temporal classification, the likelihood of labels under all their alignments with a sequence."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.checks import require_floating
from funcgrad._ops.loss_reduction import completed, reduction_of
from funcgrad._ops.table import Array, Indices, op


def _ctc_grad(shapes: tuple, statics: tuple) -> tuple:
    _, reduction, zero_infinity = completed(statics, 0, "mean", False)
    inner = ("CtcLossBackward0", "log_probs")
    if zero_infinity:
        inner = ("WhereBackward0", inner)
    if reduction == "none":
        return inner
    return ("MeanBackward0", ("DivBackward0", inner)) if reduction == "mean" else ("SumBackward0", inner)


@op(grad=_ctc_grad, names="ctc_loss nn.functional.ctc_loss", keep="residuals")
def ctc_loss(
    log_probs: Array,
    targets: Indices,
    input_lengths: Indices,
    target_lengths: Indices,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array:
    """-log of the probability that the sequence spells the target, once blanks and repetitions are dropped.

    reduction "mean" divides each loss by the length of its target.

    Shape: log_probs (T, N, C) or (T, C), targets (N, S) or all targets end to end, lengths (N,), result () or (N,).
    Source: Graves et al. 2006, https://www.cs.toronto.edu/~graves/icml_2006.pdf.
    """
    kind = reduction_of(reduction, None, None)
    targets = targets if targets.dtype.kind in "iu" else targets.astype(np.int64)  # as torch's loss takes floats
    _check(log_probs, targets, input_lengths, target_lengths, blank)
    scores = log_probs if log_probs.ndim == 3 else log_probs[:, None]
    inputs, wanted = input_lengths.reshape(-1), target_lengths.reshape(-1)
    labels = _with_blanks(_padded(targets, wanted, scores.shape[1]), blank)
    loss = -_log_likelihood(scores, labels, inputs, wanted, blank)
    if zero_infinity:
        loss = jnp.where(jnp.isinf(loss), jnp.zeros_like(loss), loss)
    if kind == "none":
        return loss if log_probs.ndim == 3 else loss[0]
    if kind == "sum":
        return loss.sum()
    return (loss / jnp.maximum(wanted, 1).astype(loss.dtype)).mean()


def _log_likelihood(scores: Array, labels: Array, inputs: Array, wanted: Array, blank: int) -> Array:
    """Sum over all alignments, from the first time to the last: for each place in `labels` all ways to get there."""
    said = jnp.take_along_axis(scores, labels[None], 2, mode="clip")
    places = jnp.arange(labels.shape[1])
    before = _moved(labels, 2, blank)
    may_skip = (labels != blank) & (labels != before) & (places > 1)
    nothing = jnp.asarray(-jnp.inf, scores.dtype)

    def step(reached: Array, turn: tuple[Array, Array]) -> tuple[Array, None]:
        time, heard = turn
        one, two = _moved(reached, 1, nothing), _moved(reached, 2, nothing)
        moved = _log_sum(jnp.stack([reached, one, jnp.where(may_skip, two, nothing)])) + heard
        return jnp.where((time < inputs)[:, None], moved, reached), None

    start = jnp.where((places < 2) & (places <= 2 * wanted[:, None]), said[0], nothing)
    rest = lax.slice_in_dim(said, 1, scores.shape[0])  # not said[1:], a gather where the length varies
    reached, _ = lax.scan(step, start, (jnp.arange(1, scores.shape[0]), rest))
    ends = [2 * wanted, jnp.maximum(2 * wanted - 1, 0)]
    last, but_one = (jnp.take_along_axis(reached, end[:, None], 1, mode="clip")[:, 0] for end in ends)
    total = _log_sum(jnp.stack([last, jnp.where(wanted > 0, but_one, nothing)]))
    # torch's gradient takes log_probs for the logarithms of probabilities: it has exp(log_probs) more, which
    # log_softmax takes away again.
    heard = jnp.arange(scores.shape[0])[:, None] < inputs
    more = jnp.where(heard[..., None], jnp.exp(scores), jnp.zeros_like(scores)).sum((0, 2))
    more = jnp.where(jnp.isinf(total), jnp.zeros_like(more), more)
    return total - (more - lax.stop_gradient(more))


def _moved(rows: Array, count: int, filling: Array | int) -> Array:
    """Return rows (N, S) moved to the right by `count` places."""
    return lax.pad(rows, jnp.asarray(filling, rows.dtype), ((0, 0, 0), (count, -count, 0)))


def _log_sum(terms: Array) -> Array:
    """log(sum(exp(terms))) over the first dimension; -inf, without a gradient, where all are."""
    highest = lax.stop_gradient(terms.max(0))
    impossible = jnp.isneginf(highest)
    total = jnp.exp(terms - jnp.where(impossible, jnp.zeros_like(highest), highest)).sum(0)
    finite = jnp.log(jnp.where(impossible, jnp.ones_like(total), total)) + highest
    return jnp.where(impossible, lax.stop_gradient(highest), finite)


def _padded(targets: Array, wanted: Array, count: int) -> Array:
    """Return targets as (N, S); given end to end, each begins where the lengths before it add up to."""
    if targets.ndim == 2:
        return targets
    starts = jnp.cumsum(wanted) - wanted
    places = starts[:, None] + jnp.arange(max(targets.size, 1))
    return jnp.take(targets, places, mode="clip") if targets.size else jnp.zeros((count, 1), targets.dtype)


def _with_blanks(targets: Array, blank: int) -> Array:
    """Put a blank before, between and after the labels: (N, 2S + 1)."""
    spaced = jnp.stack([jnp.full_like(targets, blank), targets], -1).reshape(targets.shape[0], -1)
    return jnp.pad(spaced, ((0, 0), (0, 1)), constant_values=blank)


def _check(scores: Array, targets: Array, inputs: Array, wanted: Array, blank: int) -> None:
    require_floating(scores, "ctc_loss")
    if not scores.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if scores.ndim not in (2, 3):
        raise RuntimeError(f"ctc_loss: expected log_probs (T, N, C) or (T, C), but got {list(scores.shape)}")
    if not 0 <= blank < scores.shape[-1]:
        raise RuntimeError("blank must be in label range")
    count = scores.shape[1] if scores.ndim == 3 else 1
    for name, lengths in (("input_lengths", inputs), ("target_lengths", wanted)):
        if lengths.dtype.kind not in "iu":
            raise RuntimeError(f"{name} must be integral")
        if lengths.size != count:
            raise RuntimeError(f"{name} must be of size batch_size")
    if targets.ndim == 2 and targets.shape[0] != count:
        raise RuntimeError(
            f"Expected tensor to have size {count} at dimension 0, but got size {targets.shape[0]} for argument #2 "
            "'targets' (while checking arguments for ctc_loss_allocate_outputs)"
        )
