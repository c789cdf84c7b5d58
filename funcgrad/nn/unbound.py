"""Which functions PyTorch writes in C: they stay functions where a class of layers holds them, and are no methods."""

from __future__ import annotations

from types import FunctionType
from typing import Any

_PACKAGE = __name__.partition(".")[0]
_WRITTEN_IN_PYTHON = frozenset(
    (
        "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
        "cartesian_prod", "cdist", "chain_matmul", "cond", "einsum", "is_storage", "is_tensor", "lobpcg", "lu",
        "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "typename", "unique",
        "unique_consecutive", "unravel_index", "vmap", "while_loop",
    )
)  # fmt: skip
_LAYERS_WRITTEN_IN_C = frozenset(
    (
        "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle",
        "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
        "cosine_similarity", "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear", "logsigmoid",
        "native_channel_shuffle", "one_hot", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle",
        "prelu", "relu_", "rrelu_", "scaled_dot_product_attention", "selu_", "softplus", "softshrink", "threshold_",
    )
)  # fmt: skip


def keep_unbound(layer: Any) -> None:
    """Let a user's class of layers hold functions as `conv = torch.conv2d`: `self.conv(x, weight)` passes no `self`.

    A function of C has no `__get__`, one of Python has; what PyTorch too writes in Python is bound as there.
    """
    if layer.__module__.partition(".")[0] == _PACKAGE:
        return
    for name, member in list(vars(layer).items()):
        if isinstance(member, FunctionType) and _is_written_in_c(member):
            setattr(layer, name, staticmethod(member))


def _is_written_in_c(function: FunctionType) -> bool:
    """Say whether this is one of the functions of torch, torch.fft and so on that PyTorch has in C."""
    package, _, room = (function.__module__ or "").partition(".")  # None of code in a namespace without a name
    if package != _PACKAGE or function.__qualname__ != function.__name__:
        return False
    if room in ("fft", "linalg", "special"):
        return True
    if room in ("", "nn.plain", "random.functions", "random.plain_dropout") or room.startswith("_tensor."):
        return function.__name__ not in _WRITTEN_IN_PYTHON
    return room.startswith("nn.") and function.__name__ in _LAYERS_WRITTEN_IN_C
