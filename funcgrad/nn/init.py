"""Initial values. Each function changes a tensor in place and returns it, with torch's own numbers for the same seed.

Numbers are made on the host and put in the tensor as an array, so that initialising compiles nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad._base.warning import warn
from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.handing import wholly_named
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.names import assign_host
from funcgrad._tensor.overriding import all_ask
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import randperm

_LINEAR = frozenset(
    ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid")
)
Host = np.ndarray[Any, Any]


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by how much initial values are scaled before this nonlinearity; `param` is leaky_relu's slope."""
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with draws from U(a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with draws from N(mean, std ** 2)."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Fill with draws from N(mean, std ** 2) that lie in [a, b]; what falls outside is drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        )
    if tensor.is_meta:
        return tensor
    inside = math.erf((b - mean) / std / math.sqrt(2)) - math.erf((a - mean) / std / math.sqrt(2))
    if inside / 2 > 0.3:
        return assigned(tensor, _normals_between(tensor, mean, std, a, b, generator))
    return assigned(tensor, _normals_by_rejection(tensor, mean, std, a, b, generator))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`."""
    return assigned(tensor, np.full(tuple(tensor.shape), val))


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return assigned(tensor, np.eye(tensor.shape[0], tensor.shape[1]))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make a convolution's weight the identity: each output channel is the input channel of the same number."""
    shape = tuple(tensor.shape)
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    made, center = np.zeros(shape), tuple(size // 2 for size in shape[2:])
    in_group = shape[0] // groups
    for group in range(groups):
        for channel in range(min(in_group, shape[1])):
            made[(group * in_group + channel, channel, *center)] = 1
    return assigned(tensor, made)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with draws from U(-k, k), k = gain * sqrt(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio 2010, https://proceedings.mlr.press/v9/glorot10a.html.
    """
    fan_in, fan_out = fan_in_and_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with draws from N(0, s ** 2), s = gain * sqrt(2 / (fan_in + fan_out))."""
    fan_in, fan_out = fan_in_and_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill with draws from U(-k, k), k = gain * sqrt(3 / fan).

    Source: He et al. 2015, https://arxiv.org/abs/1502.01852.
    """
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return tensor
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill with draws from N(0, s ** 2), s = gain / sqrt(fan)."""
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a random orthogonal matrix times `gain`; dimensions after the first count as one.

    Source: Saxe et al. 2013, https://arxiv.org/abs/1312.6120.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    drawn = to_host(fg.empty(tuple(tensor.shape), dtype=tensor.dtype).normal_(generator=generator)).reshape(rows, -1)
    is_wide = rows < drawn.shape[1]
    q, r = np.linalg.qr(drawn.T if is_wide else drawn)
    q *= np.sign(np.diag(r))  # makes the distribution uniform: Mezzadri 2006, https://arxiv.org/abs/math-ph/0609050
    return assigned(tensor, (q.T if is_wide else q) * q.dtype.type(gain))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with draws from N(0, std ** 2), and set a part `sparsity` of each column to zero."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    made = np.array(_filled_with_normals(tensor, 0.0, std, generator))
    for column in range(columns):
        made[to_host(randperm(rows))[: math.ceil(sparsity * rows)], column] = 0
    return assigned(tensor, made)


def assigned(tensor: Tensor, array: Host) -> Tensor:
    """Write host numbers into a tensor, outside any history; return the tensor."""
    with no_grad():
        return assign_host(tensor, array)


def fan_in_and_out(tensor: Tensor) -> tuple[int, int]:
    """Return how many inputs one output of this weight has, and how many outputs one input."""
    shape = tensor.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def _fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fan_in_and_out(tensor)[mode == "fan_out"]


_calculate_fan_in_and_fan_out = fan_in_and_out  # torch's names, which scripts use
_calculate_correct_fan = _fan


def _filled_with_normals(tensor: Tensor, mean: float, std: float, generator: Any) -> Host:
    with no_grad():
        return to_host(tensor.normal_(mean, std, generator=generator))


def _drawn_normals(tensor: Tensor, mean: float, std: float, generator: Any) -> Host:
    """Draw for each element, in the order in which they lie in storage."""
    return to_host(fg.empty_like(tensor).normal_(mean, std, generator=generator))


def _drawn_uniforms(tensor: Tensor, a: float, b: float, generator: Any) -> Host:
    return to_host(fg.empty_like(tensor).uniform_(a, b, generator=generator))


def _normals_between(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Host:
    """Draw normals, all of them again as long as one lies outside, and keep the first that fits at each place."""
    made = _filled_with_normals(tensor, mean, std, generator)
    low, high = made.dtype.type(a), made.dtype.type(b)
    while (outside := (made < low) | (made > high)).any():
        made = np.where(outside, _drawn_normals(tensor, mean, std, generator), made)
    return made


def _normals_by_rejection(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Host:
    """Draw uniforms in [a, b], each kept with a probability proportional to the density there."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    made = _drawn_uniforms(tensor, a, b, generator)
    pending = _is_rejected(tensor, made, mean, std, peak, generator)
    while pending.any():
        candidates = _drawn_uniforms(tensor, a, b, generator)
        made = np.where(pending, candidates, made)
        pending = pending & _is_rejected(tensor, candidates, mean, std, peak, generator)
    return made


def _is_rejected(tensor: Tensor, candidates: Host, mean: float, std: float, peak: float, generator: Any) -> Host:
    kind = candidates.dtype.type
    density = ((candidates - kind(mean)) / kind(std)) ** 2 * kind(-0.5) - kind(peak)
    with np.errstate(divide="ignore"):
        return np.log(_drawn_uniforms(tensor, 0.0, 1.0, generator)) > density


def _old_spelling(function: Callable[..., Any]) -> Callable[..., Any]:
    name = function.__name__
    old = name.rstrip("_")

    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{name}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    deprecated.__name__ = old
    deprecated.__doc__ = f"Do what `{name}` does, under torch's old name."
    return deprecated


# As the weights of many a model import them from torch
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
uniform = _old_spelling(uniform_)
normal = _old_spelling(normal_)
constant = _old_spelling(constant_)
eye = _old_spelling(eye_)
dirac = _old_spelling(dirac_)
xavier_uniform = _old_spelling(xavier_uniform_)
xavier_normal = _old_spelling(xavier_normal_)
kaiming_uniform = _old_spelling(kaiming_uniform_)
kaiming_normal = _old_spelling(kaiming_normal_)
orthogonal = _old_spelling(orthogonal_)
sparse = _old_spelling(sparse_)
_ASKING = ("uniform_", "normal_", "constant_", "kaiming_uniform_")
all_ask(globals(), _ASKING)
wholly_named.update(globals()[name] for name in _ASKING)
