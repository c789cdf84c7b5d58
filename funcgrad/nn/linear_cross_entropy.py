"""Cross entropy of a linear map's scores, which need not be in memory all at once."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from funcgrad._base.dtypes import dtype
from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call
from funcgrad._tensor.functions import lookup
from funcgrad._tensor.tensor import Tensor

_of_table = lookup("nn.functional")


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How the batch is cut: rows a piece, or the method that finds them ("auto", "aspect_ratio", "aspect_ratio:4").

    The other fields are torch's: sums are always float32 or wider here, and a graph can always be kept.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtype | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown method or policy, or a size that is none."""
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        name, _, factor = (self.chunking_method or "auto").partition(":")
        if name not in ("auto", "aspect_ratio") or not (factor or "1").isdigit() or factor == "0":
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")

    def rows(self, batch: int, in_features: int, classes: int) -> int:
        """Return how many rows make a piece: scores then take about as much memory as the input."""
        size, method = self.batch_chunk_size, self.chunking_method
        if size is not None and method in (None, "auto"):
            return min(size, batch)
        if method is None:
            return batch
        factor = 2 if method == "auto" else int(method.partition(":")[2] or 1)
        share = math.ceil(batch / math.ceil(classes / in_features))
        found = max(1, min((1 << (share - 1).bit_length()) // factor, batch))
        if size is not None and size != found:
            raise ValueError(f"batch_chunk_size (={size}) and chunking_method ('{method}') give different chunk sizes")
        return found


def linear_cross_entropy(
    input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
    weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
    label_smoothing: float = 0.0, options: LinearCrossEntropyOptions | None = None,
) -> Tensor:  # fmt: skip
    """Return cross_entropy(linear(input, linear_weight, linear_bias), target).

    Shape: input (in,) or (N, in), linear_weight (C, *, in), linear_bias (C, *); target () or (N, *) of classes, or (C,)
    or (N, C, *) of probabilities. Result () or, unreduced, (N, *). With `options`, a piece of the batch at a time.
    """
    _check(input, linear_weight, linear_bias)
    classes, *positions = linear_weight.shape[:-1]
    shape = (*input.shape[:-1], classes, *positions)
    if target.shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None:
        if not positions and not label_smoothing and target.dtype.name == "int64":
            rows = input if input.dim() == 2 else input.unsqueeze(0)
            piece = options.rows(rows.shape[0], input.shape[-1], classes)
            inputs = (rows, linear_weight, target.reshape(-1), linear_bias, weight)
            loss = call(TABLE["linear_cross_entropy"], inputs, (reduction, ignored, piece))
            return loss.squeeze(0) if loss.dim() > input.dim() - 1 else loss
        warnings.warn("linear_cross_entropy: `options` ignored; they are for class indices (N,) only", stacklevel=2)
    if positions:
        linear_weight = linear_weight.reshape(-1, input.shape[-1])
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = _of_table("linear")(input, linear_weight, linear_bias).reshape(shape)
    return _of_table("cross_entropy")(
        scores, target, weight=weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


def _check(input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    given, wanted = input.shape[-1], linear_weight.shape[-1]
    if given != wanted:
        message = "expected equal input and linear_weight last dimensions (in_features), got"
        raise RuntimeError(f"{message} {given} and {wanted}, respectively")
    if linear_bias is not None and linear_bias.shape != linear_weight.shape[:-1]:
        expected, found = tuple(linear_weight.shape[:-1]), tuple(linear_bias.shape)
        raise RuntimeError(f"expected linear_bias shape {expected}, got {found}")
    if linear_weight.dim() > 2 and input.dim() < 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {wanted}), got unbatched input with shape {tuple(input.shape)}"
        )
