"""Written by `python -m funcgrad.explain.stubs`; do not edit."""

from collections.abc import Callable, Sequence
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.attention_forward import (
    multi_head_attention_forward as multi_head_attention_forward,
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from funcgrad.nn.linear_cross_entropy import linear_cross_entropy as linear_cross_entropy
from funcgrad.random.dropout import (
    alpha_dropout as alpha_dropout,
    dropout as dropout,
    dropout1d as dropout1d,
    dropout2d as dropout2d,
    dropout3d as dropout3d,
    feature_alpha_dropout as feature_alpha_dropout,
    gumbel_softmax as gumbel_softmax,
    rrelu as rrelu,
)
from typing import Any

def adaptive_max_pool1d_with_indices(
    input: Tensor,
    output_size: Any,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]: ...
def adaptive_max_pool2d_with_indices(
    input: Tensor,
    output_size: Any,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]: ...
def adaptive_max_pool3d_with_indices(
    input: Tensor,
    output_size: Any,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]: ...
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Tensor = 0.1,
    eps: float = 1e-05,
) -> Tensor: ...
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor: ...
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = 'mean',
    zero_infinity: bool = False,
) -> Tensor: ...
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor: ...
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = 'mean',
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor: ...
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor: ...
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]: ...
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]: ...
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]: ...
def rrelu_(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
) -> Tensor: ...
def sigmoid(input: Tensor) -> Tensor: ...
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor: ...
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor: ...
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = 'mean',
) -> Tensor: ...
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = 'nearest',
    align_corners: bool | None = None,
) -> Tensor: ...
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor: ...
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor: ...
ScalingType: Any
SwizzleType: Any
def adaptive_avg_pool1d(
    input: Tensor,
    output_size: Sequence[int | None] | int,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def adaptive_avg_pool2d(
    input: Tensor,
    output_size: Sequence[int | None] | int,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def adaptive_avg_pool3d(
    input: Tensor,
    output_size: Sequence[int | None] | int,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def adaptive_max_pool1d(
    input: Tensor,
    output_size: Sequence[int | None] | int,
    return_indices: bool = False,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def adaptive_max_pool2d(
    input: Tensor,
    output_size: Sequence[int | None] | int,
    return_indices: bool = False,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def adaptive_max_pool3d(
    input: Tensor,
    output_size: Sequence[int | None] | int,
    return_indices: bool = False,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def affine_grid(
    theta: Tensor,
    size: int | Sequence[int],
    align_corners: bool | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *,
    out: Any = None,
) -> Tensor: ...
def avg_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def avg_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    pos_weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: int, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = ...,
    padding: str | int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = ...,
    padding: str | int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = ...,
    padding: str | int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    groups: int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = ...,
    padding: int | Sequence[int] = ...,
    output_padding: int | Sequence[int] = ...,
    groups: int = 1,
    dilation: int | Sequence[int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = ...,
    padding: int | Sequence[int] = ...,
    output_padding: int | Sequence[int] = ...,
    groups: int = 1,
    dilation: int | Sequence[int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = ...,
    padding: int | Sequence[int] = ...,
    output_padding: int | Sequence[int] = ...,
    groups: int = 1,
    dilation: int | Sequence[int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08, *, out: Any = None) -> Tensor: ...
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = 'mean',
    label_smoothing: float = 0.0,
    *,
    out: Any = None,
) -> Tensor: ...
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor: ...
def fold(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = ...,
    padding: int | Sequence[int] = ...,
    stride: int | Sequence[int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | complex,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def gelu(input: Tensor, approximate: str = 'none', inplace: bool = False, *, out: Any = None) -> Tensor: ...
def glu(input: Tensor, dim: int = -1, *, out: Any = None) -> Tensor: ...
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = 'bilinear',
    padding_mode: str = 'zeros',
    align_corners: bool | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    out: Any = None,
) -> Tensor: ...
def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Any: ...
def hardshrink(input: Tensor, lambd: float = 0.5, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def hardsigmoid(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def hardswish(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def hardtanh(
    input: Tensor,
    min_val: float = -1.0,
    max_val: float = 1.0,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor: ...
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = 'mean',
    delta: float = 1.0,
    weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def interpolate(
    input: Tensor,
    size: Sequence[int] | int | None = None,
    scale_factor: Sequence[float] | float | None = None,
    mode: str = 'nearest',
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    log_target: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    out: Any = None,
) -> Tensor: ...
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor: ...
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None) -> Tensor: ...
def local_response_norm(
    input: Tensor,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: float = 1.0,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def logsigmoid(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def max_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def max_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    dilation: int | Sequence[int] = ...,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    output_size: int | Sequence[int] | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    output_size: int | Sequence[int] | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = ...,
    output_size: int | Sequence[int] | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def mish(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def native_channel_shuffle(input: Tensor, groups: int, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | Sequence[int] = 1,
    eps: float = 1e-12,
    *,
    out: Any = None,
) -> Tensor: ...
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor: ...
def pad(
    input: Tensor,
    pad: int | Sequence[int],
    mode: str = 'constant',
    value: complex | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    eps: float = 1e-06,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def pdist(input: Tensor, p: float = 2, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: int, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: int, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-08,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor, *, out: Any = None) -> Tensor: ...
def relu(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def relu6(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def relu_(input: Tensor) -> Tensor: ...
def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def scaled_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a: Any,
    scale_recipe_a: Any,
    scale_b: Any,
    scale_recipe_b: Any,
    swizzle_a: Any = None,
    swizzle_b: Any = None,
    bias: Tensor | None = None,
    output_dtype: Any = ...,
    contraction_dim: Sequence[int] = ...,
    use_fast_accum: bool = False,
) -> Any: ...
def selu(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def silu(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    beta: float = 1.0,
    *,
    out: Any = None,
) -> Tensor: ...
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def softplus(
    input: Tensor,
    beta: float = 1.0,
    threshold: float = 20.0,
    inplace: bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def softshrink(input: Tensor, lambd: float = 0.5, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def softsign(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def tanh(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def tanhshrink(input: Tensor, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False, *, out: Any = None) -> Tensor: ...
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def unfold(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = ...,
    padding: int | Sequence[int] = ...,
    stride: int | Sequence[int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
