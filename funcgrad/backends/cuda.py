"""torch.backends.cuda: accepted and kept; which kernels run is XLA's choice."""

from __future__ import annotations

from types import SimpleNamespace

from funcgrad._tensor.placement import available

matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True)


def is_built() -> bool:
    """Tell whether JAX sees a GPU."""
    return bool(available("cuda"))


def enable_flash_sdp(enabled: bool) -> None:
    """Accepted."""


def enable_math_sdp(enabled: bool) -> None:
    """Accepted."""


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Accepted."""


def enable_cudnn_sdp(enabled: bool) -> None:
    """Accepted."""
