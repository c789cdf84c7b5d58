"""Functions that PyTorch's composed ones end in, by aten's names and arguments: _softmax, nll_loss_forward, lift_fresh.

A mode that sees aten's functions (`utils._python_dispatch`) calls them, and so do scripts, `torch.ops.aten._softmax`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from funcgrad import linalg
from funcgrad._base import dtypes
from funcgrad._tensor import functions as torch
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional

_REDUCTIONS = ("none", "mean", "sum")
_LOSSES = {  # what they take after the input and the target
    "mse_loss": ("reduction",),
    "soft_margin_loss": ("reduction",),
    "smooth_l1_loss": ("reduction", "beta"),
    "huber_loss": ("reduction", "delta"),
    "binary_cross_entropy": ("weight", "reduction"),
    "binary_cross_entropy_with_logits": ("weight", "pos_weight", "reduction"),
    "multi_margin_loss": ("p", "margin", "weight", "reduction"),
}


def _loss(name: str, input: Tensor, target: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    named = dict(zip(_LOSSES[name], args, strict=False)) | kwargs
    named["reduction"] = _REDUCTIONS[named.get("reduction", 1)]
    return getattr(functional, name)(input, target, **named)


def __getattr__(name: str) -> Callable[..., Any]:
    if name in _LOSSES:
        return partial(_loss, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return the softmax along one dimension; half_to_float: of half precision, in single precision."""
    return functional.softmax(self, dim, dtype=dtypes.float32 if half_to_float else None)


def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return its logarithm."""
    return functional.log_softmax(self, dim, dtype=dtypes.float32 if half_to_float else None)


def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Return the loss, and the sum of the weights of what counts; 0 where nothing is added up."""
    word = _REDUCTIONS[reduction]
    loss = functional.nll_loss(self, target, weight, ignore_index=ignore_index, reduction=word)
    if word == "none":
        return loss, self.new_zeros(())
    counts = target != ignore_index
    weights = counts.to(self.dtype) if weight is None else weight[target * counts] * counts
    return loss, weights.sum()


nll_loss2d_forward = nll_loss_forward


def nll_loss_nd(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1, ignore_index: int = -100
) -> Tensor:
    """Return the loss, of any number of dimensions."""
    return functional.nll_loss(self, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction])


def cross_entropy_loss(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1, ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Return the cross entropy of scores with classes, or with shares of them."""
    return functional.cross_entropy(
        self, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction],
        label_smoothing=label_smoothing,
    )  # fmt: skip


def kl_div(self: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """Return the divergence from `target`, of logarithms; the mean is that of all elements."""
    found = functional.kl_div(self, target, reduction="none", log_target=log_target)
    return found if reduction == 0 else found.mean() if reduction == 1 else found.sum()


def log_sigmoid(self: Tensor) -> Tensor:
    """Return the logarithm of the sigmoid."""
    return functional.logsigmoid(self)


def broadcast_tensors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors in the shape that they have together."""
    return list(torch.broadcast_tensors(*tensors))


def einsum(equation: str, tensors: Sequence[Tensor], *, path: Sequence[int] | None = None) -> Tensor:
    """Return the sum of products that an equation says. path: the order of products, which XLA chooses."""
    return torch.einsum(equation, *tensors)


def numpy_T(self: Tensor) -> Tensor:  # noqa: N802 - torch's own spelling
    """Return the tensor with its dimensions in the other order."""
    return self.T


def mT(self: Tensor) -> Tensor:  # noqa: N802 - torch's own spelling
    """Return the tensor with its last two dimensions exchanged."""
    return self.mT


def _assert_tensor_metadata(
    a: Tensor, size: Any = None, stride: Any = None, dtype: Any = None, *, device: Any = None, layout: Any = None
) -> None:
    """Raise RuntimeError where a tensor is not what is said here."""
    said: list[tuple[str, Any, Any]] = [
        ("sizes", size and list(size), list(a.shape)), ("strides", stride and list(stride), list(a.stride())),
        ("dtype", dtype, a.dtype), ("device", device, a.device), ("layout", layout, a.layout),
    ]  # fmt: skip
    for what, wanted, given in said:
        if wanted not in (None, given):
            raise RuntimeError(f"Tensor {what} mismatch! Expected: {wanted}, Got: {given}")


def to(self: Tensor, *args: Any, layout: Any = None, **kwargs: Any) -> Tensor:
    """Return the tensor in another dtype, or on another device. NotImplementedError for another layout."""
    if layout not in (None, self.layout):
        raise NotImplementedError(f"aten.to: a tensor of layout {self.layout} is not brought to {layout}")
    return self.to(*args, **kwargs)


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return the windows along a dimension, as another one at the end."""
    return self.unfold(dimension, size, step)


def im2col(
    self: Tensor, kernel_size: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """Return the windows of a picture as columns. Shape: (N, C, H, W) to (N, C * window, windows)."""
    return functional.unfold(self, kernel_size, dilation, padding, stride)


def col2im(
    self: Tensor, output_size: Sequence[int], kernel_size: Sequence[int], dilation: Sequence[int],
    padding: Sequence[int], stride: Sequence[int],
) -> Tensor:  # fmt: skip
    """Return the picture whose windows are the columns, added up. Shape: (N, C * window, windows) to (N, C, H, W)."""
    return functional.fold(self, output_size, kernel_size, dilation, padding, stride)


def _cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """Return the distances of all pairs of rows. Shape: (*, P, M) and (*, R, M) to (*, P, R)."""
    return torch.cdist(x1, x2, p)


def elu(self: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    """Return scale * x, and where x < 0, scale * alpha * (exp(input_scale * x) - 1)."""
    if (scale, input_scale) == (1, 1):
        return functional.elu(self, float(alpha))
    return scale * torch.where(self > 0, self, alpha * (self * input_scale).expm1())


def log_sigmoid_forward(self: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logarithm of the sigmoid, and the exponential that torch's kernel keeps."""
    return functional.logsigmoid(self), (-self.abs()).exp()


def linalg_vector_norm(
    self: Tensor, ord: Any = 2, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the norm of all elements, or along dimensions."""
    return linalg.vector_norm(self, ord, dim, keepdim, dtype=dtype)


def _adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Return the averages of a grid of windows. Shape: (N, C, H, W) to (N, C, *output_size)."""
    return functional.adaptive_avg_pool2d(self, output_size)


def _adaptive_avg_pool3d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Return the averages of a grid of windows. Shape: (N, C, D, H, W) to (N, C, *output_size)."""
    return functional.adaptive_avg_pool3d(self, output_size)


def _unsafe_view(self: Tensor, size: Sequence[int]) -> Tensor:
    """Return a view whose base nobody holds."""
    return self.view(size)


def lift_fresh(self: Tensor) -> Tensor:
    """Return the tensor itself, which was just made of Python's numbers."""
    return self


def lift_fresh_copy(self: Tensor) -> Tensor:
    """Return a copy of a tensor that was just made of Python's numbers."""
    return self.clone()


def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    """Return a tensor without dimensions that holds the number."""
    return torch.scalar_tensor(s, dtype=dtype, device=device)


def _local_scalar_dense(self: Tensor) -> Any:
    """Return the one number."""
    return self.item()


def _scaled_dot_product_flash_attention_for_cpu(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: Tensor | None = None, scale: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return attention, and the logarithms of the sums of exponentials. Shape: (N, H, L, E) and (N, H, L)."""
    result = functional.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=query.shape[1] != key.shape[1]
    )
    keys = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    scores = query @ keys.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=dtypes.bool_).triu(1), -float("inf"))
    return result, (scores if attn_mask is None else scores + attn_mask).logsumexp(-1)


def _upsample(mode: str, takes_corners: bool) -> Callable[..., Tensor]:
    def upsample(self: Tensor, size: Sequence[int] | None, *args: Any, **scales: Any) -> Tensor:
        """Return the image in another size. Where scales are given, one by one or listed, places are found by them."""
        align = args[0] if takes_corners else None
        factors = [*args[takes_corners:], *scales.values()]
        factors = list(factors[0]) if factors and isinstance(factors[0], (list, tuple)) else factors
        if size is None or (all(factors) and factors and not align):
            return functional.interpolate(self, scale_factor=factors, mode=mode, align_corners=align)
        return functional.interpolate(self, tuple(size), mode=mode, align_corners=align)

    return upsample


upsample_nearest1d, upsample_nearest2d = _upsample("nearest", False), _upsample("nearest", False)
upsample_nearest3d = _upsample("nearest", False)
upsample_linear1d, upsample_trilinear3d = _upsample("linear", True), _upsample("trilinear", True)
upsample_bilinear2d, upsample_bicubic2d = _upsample("bilinear", True), _upsample("bicubic", True)
