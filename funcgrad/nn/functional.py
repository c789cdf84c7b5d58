"""nn.functional: the table's functions of that name, and what is composed of several of them or of random numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad._base.errors import NotATensor
from funcgrad._base.warning import warn
from funcgrad._ops.conditions import are_rows, are_rows_of_bags, begin_at_0, end_inside
from funcgrad._ops.table import TABLE
from funcgrad._tape.levels import is_batched
from funcgrad._tensor import functions as fg
from funcgrad._tensor.call import call
from funcgrad._tensor.functions import lookup, names_under, tensor
from funcgrad._tensor.handing import in_python
from funcgrad._tensor.names import rebind, record
from funcgrad._tensor.on_arrays import on_arrays
from funcgrad._tensor.overriding import all_ask
from funcgrad._tensor.refused_numbers import check_lengths, require
from funcgrad._tensor.retold import retell
from funcgrad._tensor.sparse.lookups import looked_up
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import grad as grad
from funcgrad.nn import reduction_numbers as _Reduction  # noqa: F401 - `F._Reduction`, as loss code asks for it
from funcgrad.nn.attention_forward import multi_head_attention_forward, scaled_dot_product_attention
from funcgrad.nn.attention_parts import (  # noqa: F401 - `F._canonical_mask`, as copies of torch's layers ask for it
    _canonical_mask,
    _in_projection,
    _in_projection_packed,
    _none_or_dtype,
)
from funcgrad.nn.fractional_pooling import (
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
)
from funcgrad.nn.kernels import KERNELS, OF_METHODS, OF_TORCH
from funcgrad.nn.linear_cross_entropy import linear_cross_entropy
from funcgrad.random.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
    gumbel_softmax,
    rrelu,
)

__all__ = [
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d_with_indices",
    "alpha_dropout", "batch_norm", "conv_tbc", "ctc_loss", "dropout", "dropout1d", "dropout2d", "dropout3d",
    "embedding", "embedding_bag", "feature_alpha_dropout", "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices",
    "gumbel_softmax", "instance_norm", "linear_cross_entropy", "log_softmax", "max_pool1d_with_indices",
    "max_pool2d_with_indices", "max_pool3d_with_indices", "multi_head_attention_forward", "rrelu", "rrelu_",
    "scaled_dot_product_attention", "sigmoid", "softmax", "softmin", "triplet_margin_with_distance_loss", "upsample",
    "upsample_bilinear", "upsample_nearest",
]  # fmt: skip

_of_table = functools.cache(lookup("nn.functional"))
_IMPLICIT_DIM = "Implicit dimension choice for {} has been deprecated. Change the call to include dim=X as an argument."
_OLD_UPSAMPLING = "`nn.functional.{}` is deprecated. Use `nn.functional.interpolate` instead."


def __getattr__(name: str) -> Any:
    """Make a function of the table at its first use, and keep it."""
    found = globals()[name] = _of_table(name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *names_under("nn.functional")})


@on_arrays
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)). Shape: input (*), result the same."""
    return input.sigmoid()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(input) / sum(exp(input)) along `dim`, safe for large inputs. Shape: input (*), result the same."""
    if dim is None:
        warn(_IMPLICIT_DIM.format("softmax"))
    return _of_table("softmax")(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-input) along `dim`. Shape: input (*), result the same."""
    if dim is None:
        warn(_IMPLICIT_DIM.format("softmin"))
    return _of_table("softmin")(input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(input)) along `dim`, safe for large inputs. Shape: input (*), result the same."""
    if dim is None:
        warn(_IMPLICIT_DIM.format("log_softmax"))
    return _of_table("log_softmax")(input, dim, dtype)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """weight[input]; the row `padding_idx` gets no gradient. Shape: input (*), weight (V, D), result (*, D).

    With `max_norm` the rows that are looked up are first scaled, in `weight` itself, to that norm at most.
    """
    require(are_rows, input, weight, 0)
    if max_norm is not None:
        _limit_rows(weight, input, max_norm, norm_type)
    if sparse:
        return looked_up(input, weight, padding_idx, scale_grad_by_freq)
    try:
        return call(TABLE["embedding"], (input, weight), (padding_idx, None, norm_type, scale_grad_by_freq, sparse))
    except NotATensor as error:
        retell(error, TABLE["embedding"], "nn.functional.embedding", (input, weight))
        raise


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sum, mean or maximum of rows in each bag. Shape: input (B, L), or (N) with offsets (B); result (B, D)."""
    require(are_rows_of_bags, input, weight, 0)
    if isinstance(offsets, Tensor) and offsets.ndim == 1 and input.ndim == 1:
        require(begin_at_0, offsets, offsets)
        require(end_inside, offsets, input)
    if max_norm is not None:
        _limit_rows(weight, input, max_norm, norm_type)
    if sparse:
        if mode == "max":
            raise ValueError("max mode does not support sparse weights")
        input, weight, padding_idx = _apart(input, weight, padding_idx, scale_grad_by_freq)
    options = (None, norm_type, scale_grad_by_freq and not sparse, mode, sparse, include_last_offset, padding_idx)
    return call(TABLE["embedding_bag"], (input, weight, offsets, per_sample_weights), options)


def _apart(input: Tensor, weight: Tensor, padding_idx: int | None, by_frequency: bool) -> tuple[Tensor, Tensor, Any]:
    """Return indices into a table of the rows alone that are looked up, that table, and where padding stands in it."""
    rows, count = looked_up(input.reshape(-1), weight, padding_idx, by_frequency), input.numel()
    places = fg.arange(count, device=input.device).view(input.shape)
    if padding_idx is None:
        return places, rows, None
    places = places.masked_fill(input == padding_idx % weight.shape[0], count)
    return places, fg.cat((rows, rows.new_zeros(1, rows.shape[1]))), count


def _limit_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    rebind((weight,), record(TABLE["embedding_renorm"], (weight, indices), (float(max_norm), float(norm_type))))


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Tensor = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel: in training by the batch's statistics, to which the running ones move; else by those.

    Shape: input (N, C, *), all others (C,).
    """
    if eps < 0 or (training and not eps):
        wanted = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {wanted}, but got {eps}")
    if training:
        return _normalized("batch_norm_train", input, running_mean, running_var, weight, bias, momentum, eps)
    if running_mean is None or running_var is None:
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    return call(TABLE["batch_norm_eval"], (input, running_mean, running_var, weight, bias), (eps,))


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each sample by its own statistics, towards whose mean the running ones move.

    Without `use_input_stats` by the running ones. Shape: input (N, C, *), all others (C,).
    """
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    return _normalized("instance_norm_train", input, running_mean, running_var, weight, bias, momentum, eps)


def _normalized(
    row: str, input: Tensor, running_mean: Any, running_var: Any, weight: Any, bias: Any, momentum: Any, eps: float
) -> Tensor:
    """Apply the row; what it returns beside the result are the new running statistics."""
    results = call(TABLE[row], (input, running_mean, running_var, weight, bias, momentum), (eps,))
    if running_mean is None or running_var is None:
        return results
    result, *moved = results
    if 0 in input.shape:  # nothing has statistics of nothing
        return result
    statistics = [statistic._current().detached() for statistic in moved]
    for running, statistic in zip((running_mean, running_var), statistics, strict=True):
        if is_batched(statistic) and not is_batched(running._current()):
            raise RuntimeError(_BATCHED)
    rebind((running_mean, running_var), statistics)
    return result


_BATCHED = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, "
    "were not batched. Give the module track_running_stats=False, or let functional_call give it running statistics "
    "for each entry; torch.func.replace_all_batch_norm_modules_ takes them from a whole model."
)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Tensor:
    """Do what `rrelu` does, in place."""
    return rrelu(input, lower, upper, training, inplace=True)


@on_arrays
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, distance to the positive - distance to the negative + margin). Shape: all (N, *), result () or (N).

    With `swap` the negative's distance to the positive is taken where it is smaller.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = distance_function or _of_table("pairwise_distance")
    far = distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    loss = (margin + distance(anchor, positive) - far).clamp_min(0)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences under all alignments; lengths as tensors or as sequences of ints.

    Shape: log_probs (T, N, C), targets (N, S) or all in a row, lengths (N), result () or (N).
    """
    lengths = [x if isinstance(x, Tensor) else tensor(x) for x in (input_lengths, target_lengths)]
    check_lengths(log_probs.shape[0], targets.shape, *lengths)
    return _of_table("ctc_loss")(log_probs, targets, *lengths, blank, reduction, zero_infinity)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolve in one dimension. Shape: input (T, N, C), weight (K, C, D), bias (D,), result (T', N, D)."""
    moved = _of_table("conv1d")(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return moved.permute(2, 0, 1)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Do what `interpolate` does, under torch's old name."""
    warn(_OLD_UPSAMPLING.format("upsample"))
    return _of_table("interpolate")(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Interpolate by nearest neighbours, under torch's old name."""
    warn(_OLD_UPSAMPLING.format("upsample_nearest"))
    return _of_table("interpolate")(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Interpolate bilinearly with aligned corners, under torch's old name."""
    warn(_OLD_UPSAMPLING.format("upsample_bilinear"))
    return _of_table("interpolate")(input, size, scale_factor, "bilinear", align_corners=True)


def _pooling_with_indices(dimensions: int) -> Callable[..., Any]:
    def pooled(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """Return the largest value of each window, and their places."""
        return _of_table(f"max_pool{dimensions}d")(
            input, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode, return_indices=True
        )

    pooled.__name__ = f"max_pool{dimensions}d_with_indices"
    return pooled


def _adaptive_pooling_with_indices(dimensions: int) -> Callable[..., Any]:
    def pooled(input: Tensor, output_size: Any, return_indices: bool = True) -> tuple[Tensor, Tensor]:
        """Return the largest value of each of `output_size` windows, and their places."""
        return _of_table(f"adaptive_max_pool{dimensions}d")(input, output_size, return_indices=True)

    pooled.__name__ = f"adaptive_max_pool{dimensions}d_with_indices"
    return pooled


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(_pooling_with_indices, (1, 2, 3))
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(
    _adaptive_pooling_with_indices, (1, 2, 3)
)


def _in_python() -> list[Any]:
    names = [name for name in __all__ if name not in OF_TORCH | OF_METHODS | KERNELS and not name.endswith("_")]
    return [globals().get(name) or _of_table(name) for name in names]


all_ask(globals(), __all__)
in_python.append(_in_python)
globals().update(__all__=sorted({*__all__, *names_under("nn.functional")}))  # `from torch.nn.functional import *`
