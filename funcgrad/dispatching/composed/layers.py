"""Activations, losses and layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.layouts import strided
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.tensor_lists import broadcast_shapes
from funcgrad.dispatching.composed.rules import RULES, Rule, rule

# Activations and losses


@rule("softmax")
def _softmax(aten: Any, input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    return NotImplemented if dim is None else aten._softmax(_in_dtype(aten, input, dtype), dim, False)


@rule("log_softmax")
def _log_softmax(aten: Any, input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    return NotImplemented if dim is None else aten._log_softmax(_in_dtype(aten, input, dtype), dim, False)


@rule("softmin")
def _softmin(aten: Any, input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    return NotImplemented if dim is None else aten._softmax(_in_dtype(aten, aten.neg(input), dtype), dim, False)


def _in_dtype(aten: Any, input: Tensor, dtype: Any) -> Tensor:
    if dtype is None or dtype == input.dtype:
        return input
    return aten._to_copy(input, dtype=dtype, layout=strided, device=input.device)


@rule("relu6")
def _relu6(aten: Any, input: Tensor, inplace: bool = False) -> Any:
    return NotImplemented if inplace else aten.hardtanh(input, 0, 6)


@rule("selu")
def _selu(aten: Any, input: Tensor, inplace: bool = False) -> Any:
    return NotImplemented if inplace else aten.elu(input, 1.6732632423543772, 1.0507009873554805)


@rule("logsigmoid")
def _logsigmoid(aten: Any, input: Tensor) -> Any:
    return aten.log_sigmoid_forward(input)[0]


@rule("dropout")
def _dropout(aten: Any, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    if not training or p == 0:
        return input
    if inplace or p == 1:
        return NotImplemented
    kept = aten.exactly("div_", "Scalar", aten.bernoulli_(aten.empty_like(input), 1 - p), 1 - p)
    return aten.mul(input, kept)


@rule("nll_loss")
def _nll_loss(
    aten: Any, input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None or input.ndim > 2:
        return NotImplemented
    return aten.nll_loss_forward(input, target, weight, reduction, ignore_index)[0]


@rule("cross_entropy")
def _cross_entropy(
    aten: Any, input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None or input.ndim > 2 or input.ndim == 0 or weight is not None:
        return NotImplemented
    dim = input.ndim - 1
    scores = aten._log_softmax(input, dim, False)
    if target.is_floating_point():
        return NotImplemented if label_smoothing else _against_shares(aten, scores, target, dim, reduction)
    loss = aten.nll_loss_forward(scores, target, None, reduction, ignore_index)[0]
    if not label_smoothing:
        return loss
    smooth = _evenly(aten, aten.neg(aten.sum(scores, [dim])), target, ignore_index, reduction)
    smooth = aten.exactly("mul", "Scalar", smooth, label_smoothing / input.shape[dim])
    return aten.add(aten.exactly("mul", "Scalar", loss, 1 - label_smoothing), smooth)


def _against_shares(aten: Any, scores: Tensor, shares: Tensor, dim: int, reduction: str) -> Any:
    found = aten.mul(scores, shares)
    if reduction == "none":
        return aten.neg(aten.sum(found, [dim]))
    whole = aten.neg(aten.sum(found))
    return whole if reduction == "sum" else aten.exactly("div", "Scalar", whole, scores.numel() // scores.shape[dim])


def _evenly(aten: Any, losses: Tensor, target: Tensor, ignore_index: int, reduction: str) -> Any:
    ignored = aten.eq(target, ignore_index)
    losses = aten.masked_fill_(losses, ignored, 0.0)
    if reduction != "mean":
        return losses if reduction == "none" else aten.sum(losses)
    return aten.div(aten.sum(losses), aten.sum(aten.bitwise_not(ignored)))


@rule("l1_loss")
def _l1_loss(
    aten: Any, input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None or weight is not None:
        return NotImplemented
    found = aten.abs(aten.sub(input, target))
    return found if reduction == "none" else getattr(aten, reduction)(found)


# Layers


def _tuple(value: Any, count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value) * (count if len(value) == 1 else 1)


def _convolution(count: int) -> Rule:
    def convolution(
        aten: Any, input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        if isinstance(padding, str) or input.ndim != count + 2:
            return NotImplemented
        sizes = [_tuple(x, count) for x in (stride, padding, dilation)]
        return aten.convolution(input, weight, bias, *sizes, False, [0] * count, groups)

    return convolution


def _transposed(count: int) -> Rule:
    def convolution(
        aten: Any, input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        if input.ndim != count + 2:
            return NotImplemented
        sizes = [_tuple(x, count) for x in (stride, padding, dilation)]
        return aten.convolution(input, weight, bias, *sizes, True, _tuple(output_padding, count), groups)

    return convolution


for _count in (1, 2, 3):
    RULES[f"conv{_count}d"], RULES[f"conv_transpose{_count}d"] = _convolution(_count), _transposed(_count)


@rule("layer_norm")
def _layer_norm(
    aten: Any, input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:  # fmt: skip
    return aten.native_layer_norm(input, _tuple(normalized_shape, 1), weight, bias, eps)[0]


@rule("rms_norm")
def _rms_norm(aten: Any, input: Tensor, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    is_half = input.dtype in (dtypes.float16, dtypes.bfloat16)
    x = aten._to_copy(input, dtype=dtypes.float32) if is_half else input
    number = x.dtype.numpy.type(np.finfo(x.dtype.numpy).eps if eps is None else eps).item()
    dims = [input.ndim - 1 - i for i in range(len(_tuple(normalized_shape, 1)))]
    mean = aten.exactly("add_", "Scalar", aten.mean(aten.pow(x, 2), dims, True), number)
    found = aten.mul(x, aten.rsqrt(mean))
    found = found if weight is None else aten.mul(found, weight)
    return _in_dtype(aten, found, input.dtype)


@rule("group_norm")
def _group_norm(
    aten: Any, input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:  # fmt: skip
    n, c, *sizes = input.shape
    return aten.native_group_norm(input, weight, bias, n, c, math.prod(sizes), num_groups, eps)[0]


@rule("batch_norm")
def _batch_norm(
    aten: Any, input: Tensor, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    if input.device.type != "cpu":
        return NotImplemented
    aten.empty([0], dtype=dtypes.uint8, layout=strided, device=input.device)
    return aten.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@rule("embedding")
def _embedding(
    aten: Any, input: Tensor, weight: Tensor, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    if max_norm is not None:
        return NotImplemented
    place = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return aten.embedding(weight, input, place, scale_grad_by_freq, sparse)


@rule("max_pool2d")
def _max_pool2d(
    aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    steps = [] if stride is None else _tuple(stride, 2)
    sizes = [_tuple(x, 2) for x in (padding, dilation)]
    found = aten.max_pool2d_with_indices(input, _tuple(kernel_size, 2), steps, *sizes, ceil_mode)
    return found if return_indices else found[0]


@rule("avg_pool2d")
def _avg_pool2d(aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, *args: Any, **kwargs: Any) -> Any:
    steps = [] if stride is None else _tuple(stride, 2)
    return aten.avg_pool2d(input, _tuple(kernel_size, 2), steps, *args, **kwargs)


@rule("avg_pool1d")
def _avg_pool1d(
    aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:  # fmt: skip
    window = _tuple(kernel_size, 1)
    sizes = [[1, *window], [1, *(window if stride is None else _tuple(stride, 1))], [0, *_tuple(padding, 1)]]
    found = aten.avg_pool2d(aten.unsqueeze(input, -2), *sizes, ceil_mode, count_include_pad)
    return aten.squeeze(found, -2)


@rule("max_pool1d")
def _max_pool1d(
    aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    window = _tuple(kernel_size, 1)
    sizes = [[1, *window], [1, *(window if stride is None else _tuple(stride, 1))]]
    sizes += [[0, *_tuple(padding, 1)], [1, *_tuple(dilation, 1)]]
    found = aten.max_pool2d_with_indices(aten.unsqueeze(input, -2), *sizes, ceil_mode)
    values, places = (aten.squeeze(x, -2) for x in found)
    return (values, places) if return_indices else values


@rule("adaptive_avg_pool1d")
def _adaptive_avg_pool1d(aten: Any, input: Tensor, output_size: Any) -> Any:
    size = _tuple(output_size, 1)
    return aten.squeeze(aten._adaptive_avg_pool2d(aten.unsqueeze(input, -2), [1, *size]), -2)


@rule("adaptive_avg_pool2d")
def _adaptive_avg_pool2d(aten: Any, input: Tensor, output_size: Any) -> Any:
    sizes = _tuple(output_size, 2)
    if None in sizes:
        return NotImplemented
    if sizes == [1, 1]:
        return aten.mean(input, [-1, -2], True)
    return aten._adaptive_avg_pool2d(input, sizes)


@rule("interpolate")
def _interpolate(
    aten: Any, input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: Any = None, recompute_scale_factor: Any = None, antialias: bool = False,
) -> Any:  # fmt: skip
    if input.ndim != 4 or antialias or recompute_scale_factor or mode not in ("nearest", "bilinear"):
        return NotImplemented
    scales = (
        []
        if size is not None
        else [float(x) for x in ([scale_factor] * 2 if isinstance(scale_factor, (int, float)) else scale_factor)]
    )
    sizes = _tuple(size, 2) if not scales else [int(n * s) for n, s in zip(input.shape[2:], scales, strict=True)]
    if mode == "nearest":
        return aten.upsample_nearest2d(input, sizes, *scales)
    return aten.upsample_bilinear2d(input, sizes, bool(align_corners), *scales)


@rule("pad")
def _pad(aten: Any, input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    if mode != "constant":
        return NotImplemented
    return aten.constant_pad_nd(input, list(pad), 0.0 if value is None else value)


@rule("scaled_dot_product_attention")
def _attention(
    aten: Any, query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    is_whole = query.ndim == 4 and query.device.type == "cpu" and not dropout_p and query.shape[-1] == value.shape[-1]
    if not is_whole or (attn_mask is not None and (attn_mask.requires_grad or attn_mask.dtype == dtypes.bool_)):
        return NotImplemented
    return aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, is_causal, attn_mask=attn_mask, scale=scale
    )[0]


@rule("lstm", "gru", "rnn_tanh", "rnn_relu")
def _recurrent(aten: Any, *args: Any) -> Any:
    return aten.silently(*args)  # torch's kernels for it are named by the machine


@rule("instance_norm")
def _instance_norm(
    aten: Any, input: Tensor, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    if running_mean is not None or running_var is not None or not use_input_stats or input.device.type != "cpu":
        return NotImplemented
    n, c, *sizes = input.shape
    weight, bias = (x if x is None else aten.repeat(x, [n]) for x in (weight, bias))
    whole = aten.view(input, [1, n * c, *sizes])
    aten.empty([0], dtype=dtypes.uint8, layout=strided, device=input.device)
    found = aten.native_batch_norm(whole, weight, bias, None, None, True, momentum, eps)[0]
    return aten.view(found, [n, c, *sizes])


@rule("unfold")
def _unfold(aten: Any, input: Tensor, kernel_size: Any, *others: Any, **named: Any) -> Any:
    """Give windows as columns; Tensor.unfold, which is called alike, takes three numbers."""
    if (isinstance(kernel_size, int) and len(others) == 2) or input.ndim < 3 or "size" in named:
        return NotImplemented
    names = ("dilation", "padding", "stride")
    given = dict(zip(names, others, strict=False)) | named
    sizes = [_tuple(given.get(name, 0 if name == "padding" else 1), 2) for name in names]
    return aten.im2col(input, _tuple(kernel_size, 2), *sizes)


@rule("fold")
def _fold(
    aten: Any, input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:  # fmt: skip
    return aten.col2im(input, *[_tuple(x, 2) for x in (output_size, kernel_size, dilation, padding, stride)])


@rule("grid_sample")
def _grid_sample(
    aten: Any, input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes or padding_mode not in paddings or input.ndim not in (4, 5):
        return NotImplemented
    sampler = aten.grid_sampler_2d if input.ndim == 4 else aten.grid_sampler_3d
    return sampler(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


@rule("kl_div")
def _kl_div(
    aten: Any, input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None:
        return NotImplemented
    if log_target:
        apart = aten.sub(target, input)
        found = aten.mul(aten.exp(target), apart)
    else:
        product = aten.mul(target, input)
        found = aten.sub(aten.xlogy(target, target), product)
    if reduction == "none":
        return found
    if reduction == "mean":
        return aten.mean(found)
    whole = aten.sum(found)
    return aten.div(whole, input.shape[0]) if reduction == "batchmean" and input.ndim else whole


@rule("cdist")
def _cdist(aten: Any, x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Any:
    modes = (None, "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode is not None and compute_mode != "use_mm_for_euclid_dist_if_necessary" and compute_mode not in modes:
        return NotImplemented
    mode = modes.index(compute_mode) if compute_mode in modes[1:] else None
    return aten.exactly("_cdist_forward", "default", x1, x2, float(p), mode)


@rule("pairwise_distance")
def _pairwise_distance(
    aten: Any, x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:  # fmt: skip
    apart = aten.exactly("add", "Scalar", aten.sub(x1, x2), eps)
    return aten.exactly("norm", "ScalarOpt_dim", apart, p, [apart.ndim - 1], *([True] if keepdim else []))


@rule("cosine_similarity")
def _cosine_similarity(aten: Any, x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    pairs = zip(reversed(x1.shape), reversed(x2.shape), strict=False)
    if x1.dtype is not x2.dtype or not x1.is_floating_point() or any(a != b and 1 not in (a, b) for a, b in pairs):
        return NotImplemented
    if x1.shape != x2.shape:
        size = list(broadcast_shapes(x1.shape, x2.shape))
        x2, x1 = aten.expand(x2, size), aten.expand(x1, size)
    lengths = [aten.clone(aten.linalg_vector_norm(x, 2, [dim], True)) for x in (x1, x2)]
    least = aten.scalar_tensor(eps, dtype=x1.dtype, device=x1.device)
    with no_grad():
        for length in lengths:
            aten.clamp_min_(length, least)
    return aten.sum(aten.mul(aten.div(x1, lengths[0]), aten.div(x2, lengths[1])), [dim])


@rule("triplet_margin_loss")
def _triplet_margin_loss(
    aten: Any, anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None:
        return NotImplemented
    near, far = (_pairwise_distance(aten, anchor, x, p, eps) for x in (positive, negative))
    if swap:
        far = aten.minimum(far, _pairwise_distance(aten, positive, negative, p, eps))
    apart = aten.clamp_min(aten.sub(aten.exactly("add", "Scalar", near, margin), far), 0)
    return apart if reduction == "none" else aten.mean(apart) if reduction == "mean" else aten.sum(apart)


@rule("one_hot")
def _one_hot(aten: Any, tensor: Tensor, num_classes: int = -1) -> Any:
    if tensor.device.type != "cpu" or not tensor.numel():
        return NotImplemented
    for end in aten.aminmax(tensor):
        aten._local_scalar_dense(end)
    found = aten.silently(tensor, num_classes)  # which refuses what cannot be
    sizes = list(found.shape)
    blank = aten.zeros(sizes, dtype=dtypes.int64, layout=strided, device=tensor.device)
    return aten.scatter_(blank, -1, aten.unsqueeze(tensor, -1), 1)
