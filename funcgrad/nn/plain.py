"""The functions beneath nn's modules by the names and argument orders of torch's own namespace: torch.lstm, ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base.dtypes import bool_, uint8
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_dims
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.functions import arange, empty, lookup, ones_like
from funcgrad._tensor.names import rebind, record
from funcgrad._tensor.overriding import all_ask
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional
from funcgrad.random.dropout import kept_like, kept_mask

__all__ = [
    "_batch_norm_with_update", "_native_batch_norm_legit",
    "adaptive_max_pool1d", "affine_grid_generator", "batch_norm", "batch_norm_update_stats", "conv_tbc", "convolution",
    "embedding", "embedding_bag", "embedding_renorm_", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d",
    "group_norm", "gru", "instance_norm", "layer_norm", "lstm", "lstm_cell", "max_pool1d_with_indices",
    "native_batch_norm", "native_dropout", "native_layer_norm", "rnn_relu", "rnn_tanh",
]  # fmt: skip

_plain = lookup("")
_functional = lookup("nn.functional")
max_pool1d_with_indices, conv_tbc = functional.max_pool1d_with_indices, functional.conv_tbc


# Normalization and dropout


def batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    training: bool, momentum: float, eps: float, cudnn_enabled: bool = False,
) -> Tensor:  # fmt: skip
    """Do what `nn.functional.batch_norm` does."""
    return functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = False,
) -> Tensor:  # fmt: skip
    """Do what `nn.functional.instance_norm` does."""
    return functional.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:  # fmt: skip
    """Do what `nn.functional.layer_norm` does."""
    return _functional("layer_norm")(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:  # fmt: skip
    """Do what `nn.functional.group_norm` does."""
    return _functional("group_norm")(input, num_groups, weight, bias, eps)


def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    training: bool, momentum: float, eps: float, *, out: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return what `batch_norm` gives, and the mean and inverse deviation of each channel that it used in training."""
    if out is not None:
        found = native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
        return write_out(tuple(out), found)
    if not training:
        row = TABLE["native_batch_norm_eval"]
        result, *empty = call(row, (input, running_mean, running_var, weight, bias), (eps,))
        return result, empty[0].detach(), empty[1].detach()
    row = TABLE["native_batch_norm_train"]
    result, mean, inverse, *moved = call(row, (input, weight, bias, running_mean, running_var, momentum), (eps,))
    if running_mean is not None and running_var is not None:
        rebind((running_mean, running_var), [statistic._current().detached() for statistic in moved])
    return result, mean.detach(), inverse.detach()


def _native_batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *settings: Any, out: Any = None
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Do what `native_batch_norm` does. settings: running_mean and running_var, or neither; training, momentum, eps."""
    running: tuple[Any, ...] = (None, None) if len(settings) == 3 else ()
    return native_batch_norm(input, weight, bias, *running, *settings, out=out)


def _batch_norm_with_update(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor, running_var: Tensor,
    momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Do what `native_batch_norm` does in training, and return also what cuDNN would need for a backward: nothing."""
    results = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return (*results, empty((0,), dtype=uint8))


def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what `layer_norm` gives, and the mean and inverse deviation that it used."""
    row = TABLE["native_layer_norm"]
    result, mean, inverse = call(row, (input, weight, bias), (as_dims(normalized_shape), eps))
    return result, mean.detach(), inverse.detach()


def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Tensor, Tensor]:
    """Return mean and variance of each channel, to which the running ones move."""
    dims = [d for d in range(input.ndim) if d != 1]
    mean, variance = input.detach().mean(dims), input.detach().var(dims, correction=0)
    count = input.shape.numel() / max(input.shape[1], 1)
    for running, now in ((running_mean, mean), (running_var, variance * (count / max(count - 1, 1)))):
        if running is not None:
            running.lerp_(now.to(running.dtype), momentum)
    return mean, variance


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Return the input with elements zeroed with probability p, the others scaled by 1 / (1 - p); and which stayed."""
    if train is False:
        return input * 1, ones_like(input, dtype=bool_)
    mask = kept_like(input, 1 - p)
    return input * mask * (0.0 if p == 1 else 1 / (1 - p)), mask.bool()


# Embeddings


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """Return weight[indices]; the row `padding_idx`, unless it is negative, gets no gradient."""
    padding = None if padding_idx < 0 else padding_idx
    return functional.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


_MODES = ("sum", "mean", "max")


def embedding_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the sum (mode 0), mean (1) or maximum (2) of the rows of each bag; then each index's bag and bags' sizes.

    The last result, the places of the maxima, is empty here.
    """
    result = functional.embedding_bag(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    starts = offsets[:-1] if include_last_offset else offsets
    places = arange(indices.shape[0])
    bag = _plain("bucketize")(places, starts, right=True) - 1
    sizes = _plain("diff")(starts, append=indices.new_full((1,), indices.shape[0]))
    return result, bag, sizes, indices.new_zeros(0)


def embedding_renorm_(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Scale the rows that are looked up, in `weight` itself, to a norm of at most `max_norm`."""
    rebind((weight,), record(TABLE["embedding_renorm"], (weight, indices), (float(max_norm), float(norm_type))))
    return weight


# Convolutions, pooling, grids


def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
) -> Tensor:  # fmt: skip
    """Convolve, or do what undoes a convolution's shape (`transposed`), in one to three dimensions."""
    dimensions = input.ndim - 2
    if transposed:
        function = _functional(f"conv_transpose{dimensions}d")
        return function(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _functional(f"conv{dimensions}d")(input, weight, bias, stride, padding, dilation, groups)


def adaptive_max_pool1d(input: Tensor, output_size: int) -> tuple[Tensor, Tensor]:
    """Return the largest element of each of `output_size` windows, and its place."""
    return functional.adaptive_max_pool1d_with_indices(input, output_size)


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """Do what `nn.functional.affine_grid` does."""
    return _functional("affine_grid")(theta, size, align_corners)


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Do what `nn.functional.grid_sample` does, with torch's numbers for the modes."""
    mode = ("bilinear", "nearest", "bicubic")[interpolation_mode]
    padding = ("zeros", "border", "reflection")[padding_mode]
    return _functional("grid_sample")(input, grid, mode, padding, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


# Recurrent layers


def _recurrent(row: str) -> Any:
    def layers(
        input: Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: float, train: bool,
        bidirectional: bool, batch_first: bool = False,
    ) -> tuple[Tensor, ...]:  # fmt: skip
        """Run all layers over a sequence: all states of the last layer, and the last states of every layer.

        Shape: input (T, N, I), or (N, T, I) with batch_first. Packed sequences go through the modules of `nn`.
        """
        if isinstance(has_biases, (list, tuple)):
            raise TypeError(f"{row}(): packed data is taken by torch.nn's modules (nn.utils.rnn.PackedSequence) only")
        states = list(hx) if isinstance(hx, (list, tuple)) else [hx]
        sequence = input.transpose(0, 1) if batch_first else input
        masks = None
        if dropout and train and num_layers > 1:
            width = states[0].shape[-1] * (2 if bidirectional else 1)
            drawn = [kept_mask((*sequence.shape[:-1], width), 1 - dropout, input.device) for _ in range(num_layers - 1)]
            masks = _plain("stack")([mask.to(input.dtype) * (1 / (1 - dropout)) for mask in drawn])
        given = (sequence, *states, *params, masks, None)
        output, *ends = call(TABLE[row], given, (has_biases, num_layers, bidirectional))
        return (output.transpose(0, 1) if batch_first else output, *ends)

    layers.__name__ = layers.__qualname__ = row
    return layers


lstm, gru, rnn_tanh, rnn_relu = map(_recurrent, ("lstm", "gru", "rnn_tanh", "rnn_relu"))


def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Take one step of an LSTM: the new h and c. Shape: input (N, I), hx two of (N, H)."""
    return call(TABLE["lstm_cell"], (input, *hx, w_ih, w_hh, b_ih, b_hh))


all_ask(globals(), __all__)
