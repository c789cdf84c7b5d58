"""Dropout and its kin: which elements stay is drawn as torch's CPU draws it, the rest is one recorded op.

On the host one double is drawn for each element (a feature's dropout: for each channel), and only the mask travels.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.warning import warn
from funcgrad._ops.memory_order import like_first
from funcgrad._ops.table import TABLE, Array, Mask, Op, Scalar
from funcgrad._tensor.arguments import require_tensor
from funcgrad._tensor.call import call, call_in_place
from funcgrad._tensor.functions import full_like, zeros_like
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.placement import get_default_device
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import draw, sampling
from funcgrad.random.generator import Generator, chosen, generator_of
from funcgrad.random.mersenne import MersenneTwister
from funcgrad.random.methods import require_continuous

_ALPHA = 1.7580993408473766  # scale * alpha of SELU, Klambauer et al. 2017


def _dropped(input: Array, kept: Mask, scale: Scalar) -> Array:
    """input * (scale where kept, else 0): a product, so that inf and nan are dropped to nan, as torch does."""
    return input * jnp.where(kept, _in_dtype_of(input, scale), 0)


def _alpha_dropped(input: Array, kept: Mask, p: Scalar) -> Array:
    """a input + b where kept, else a constant: what keeps mean 0 and variance 1 of SELU's results."""
    a = 1 / ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** 0.5
    shift = _in_dtype_of(input, _ALPHA * a * p)
    gone = shift - _in_dtype_of(input, _ALPHA * a)
    return input * jnp.where(kept, _in_dtype_of(input, a), 0) + jnp.where(kept, shift, gone)


def _in_dtype_of(input: Array, number: Scalar) -> Array:
    return jnp.asarray(number).astype(input.dtype)


_DROPPED = Op(_dropped, grad=("MulBackward0", "input", "kept"), memory=like_first)
_ALPHA_DROPPED = Op(_alpha_dropped, grad=("AddBackward0", ("MulBackward0", "input"), "kept"), memory=like_first)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability p and scale the others by 1 / (1 - p). Shape: input (*), result the same.

    ValueError: p outside [0, 1].
    """
    require_tensor(input, "dropout(): argument 'input' (position 1)")
    return _applied(input, p, training, inplace, is_alpha=False, by_channel=False)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Drop elements to SELU's lower limit, keeping mean and variance. Shape: input (*), result the same."""
    return _applied(input, p, training, inplace, is_alpha=True, by_channel=False)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Alpha dropout of whole channels. Shape: input (N, C, *), result the same."""
    return _applied(input, p, training, inplace, is_alpha=True, by_channel=True)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole channels. Shape: input (N, C, *), result the same."""
    return _applied(input, p, train, False, is_alpha=False, by_channel=True)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels. Shape: input (N, C, L) or (C, L), result the same."""
    _check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _batched(input, input.ndim == 2, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels. Shape: input (N, C, H, W), or (N, C, L) as torch reads it, result the same."""
    _check_probability(p)
    if input.ndim not in (3, 4):
        _warn_of_dimensions("dropout2d", input, 2)
    elif input.ndim == 3:
        warn(_READ_AS_CHANNELS)
    return _applied(input, p, training, inplace, is_alpha=False, by_channel=True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels. Shape: input (N, C, D, H, W) or (C, D, H, W), result the same."""
    _check_probability(p)
    if input.ndim not in (4, 5):
        _warn_of_dimensions("dropout3d", input, 3)
    return _batched(input, input.ndim == 4, p, training, inplace)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Return input where positive, else slope * input; slopes from U(lower, upper), or their mean when not training.

    The host draws slopes only for what is not positive, as torch does, so it waits for the input.
    """
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    draw.require_floating(input.dtype, "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu")
    slopes = _slopes(input, lower, upper, generator) if training else full_like(input, (lower + upper) / 2)
    return (call_in_place if inplace else call)(TABLE["rrelu_with_slopes"], (input, slopes))


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Return softmax((logits + Gumbel noise) / tau); hard: the one-hot of its maximum, with the soft one's gradient.

    Shape: logits (*), result the same. Source: Jang, Gu and Poole 2017, https://arxiv.org/abs/1611.01144.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    require_continuous(logits.dtype, "Exponential", scalar_type_name(logits.dtype))
    noise = draw.draw(draw.EXPONENTIAL, None, logits.shape, logits.dtype, (1.0,), logits.device)
    soft = ((logits - noise.log()) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


def kept_mask(shape: tuple[int, ...], keep: float, device: Any, generator: Generator | None = None) -> Tensor:
    """Return a tensor of bool, true with probability `keep`: from the same draws as torch's bernoulli_ makes ones."""
    return draw.draw(draw.BERNOULLI, generator, shape, dtypes.bool_, (keep,), device)


def kept_like(input: Tensor, keep: float, generator: Generator | None = None) -> Tensor:
    """Return what stays of a tensor, drawn in the order in which its elements lie in storage."""
    return draw.draw_like(draw.BERNOULLI, generator, input, dtypes.bool_, (keep,), input.device)


def _applied(input: Tensor, p: float, training: bool, inplace: bool, *, is_alpha: bool, by_channel: bool) -> Tensor:
    _check_probability(p)
    if p == 0 or not training or 0 in input.shape:
        return input
    if by_channel and p < 1 and len(input.shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    is_tensor = isinstance(input, Tensor)
    if is_tensor and not input.dtype.is_differentiable and p < 1:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {scalar_type_name(input.dtype)}"
        )
    kept: Any
    if p == 1:
        kept = from_host(np.zeros((), np.bool_), device=input.device) if is_tensor else np.zeros((), np.bool_)
        op, number = _DROPPED, 0.0
    else:
        kept = _kept(input, 1 - p, by_channel)
        op, number = (_ALPHA_DROPPED, p) if is_alpha else (_DROPPED, _scale(1 - p, input.dtype))
    return (call_in_place if inplace else call)(op, (input, kept, number))


def _kept(input: Any, keep: float, by_channel: bool) -> Any:
    """Return what stays of a tensor or a plain array: of each element, in storage's order, or of each channel."""
    shape = (*input.shape[:2], *(1 for _ in input.shape[2:])) if by_channel else tuple(input.shape)
    if not isinstance(input, Tensor):
        return _kept_array(shape, keep)
    if by_channel:
        return kept_mask(shape, keep, input.device)
    return kept_like(input, keep)


def _kept_array(shape: tuple[int, ...], keep: float) -> np.ndarray[Any, Any]:
    """Return the mask for a plain JAX array, as numpy: inside a traced function it is a constant."""
    generator = generator_of(get_default_device())
    return draw.draw_array(draw.BERNOULLI, generator, shape, dtypes.bool_, (keep,))


def _scale(keep: float, dtype: Any) -> float:
    """Return 1 / keep as torch rounds it: in float64 for such tensors, else in float32."""
    return 1 / keep if dtype == dtypes.float64 else float(np.float32(1) / np.float32(keep))


def _batched(input: Tensor, is_single: bool, p: float, training: bool, inplace: bool) -> Tensor:
    whole = input[None] if is_single else input
    dropped = _applied(whole, p, training, inplace, is_alpha=False, by_channel=True)
    return dropped[0] if is_single else dropped


def _slopes(input: Tensor, lower: float, upper: float, generator: Generator | None) -> Tensor:
    generator = chosen(generator, input.device)
    if generator.stream is None:
        return draw.draw(draw.UNIFORM, generator, input.shape, input.dtype, (lower, upper), input.device)

    def sample(stream: MersenneTwister, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        negative = array <= 0
        drawn = sampling.uniform(stream, int(negative.sum()), np.dtype(np.float64), lower, upper)
        slopes = np.ones(negative.shape, input.dtype.numpy)
        slopes[negative] = drawn.astype(slopes.dtype)
        return slopes

    return draw.from_stream(sample, generator, (input,), input.shape, input.dtype, input.device)


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _warn_of_dimensions(name: str, input: Tensor, spatial: int) -> None:
    warn(
        f"{name}: Received a {input.ndim}-D input to {name}, which is deprecated and will result in an error in a "
        "future release. To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel "
        f"dimension, and an optional batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs)."
    )


_READ_AS_CHANNELS = (
    "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - "
    "input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future "
    "release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
    "channel-wise dropout behavior, please switch to using dropout1d instead."
)
