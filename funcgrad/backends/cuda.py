"""torch.backends.cuda: kept, for which kernels run is XLA's choice. The precision of products it heeds."""

from __future__ import annotations

import enum
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from funcgrad._base.warning import warn
from funcgrad._tensor.global_settings import get_float32_matmul_precision, set_float32_matmul_precision
from funcgrad._tensor.placement import available
from funcgrad.backends.switches import Switches
from funcgrad.nn.attention import SDPBackend as SDPBackend
from funcgrad.nn.attention import allow, is_allowed, sdpa_kernel


class _Products(Switches):
    """The switches of matrix products. `allow_tf32` is `set_float32_matmul_precision` by another name."""

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 products may be computed in lower precision."""
        return get_float32_matmul_precision() != "highest"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "allow_tf32":
            set_float32_matmul_precision("high" if value else "highest")
            return
        super().__setattr__(name, value)
        if name == "fp32_precision":
            set_float32_matmul_precision({"tf32": "high", "bf16": "medium"}.get(value, "highest"))


matmul = _Products(
    allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False, fp32_precision="none",
)  # fmt: skip


class SDPAParams(SimpleNamespace):
    """What attention is asked for: kept."""


def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> AbstractContextManager[Any]:
    """Allow some kernels only. Results are the same whichever computes them."""
    warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please "
        "see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
        FutureWarning,
    )
    given = {
        SDPBackend.FLASH_ATTENTION: enable_flash,
        SDPBackend.MATH: enable_math,
        SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        SDPBackend.CUDNN_ATTENTION: enable_cudnn,
    }
    return sdpa_kernel([backend for backend, enabled in given.items() if enabled])


def flash_sdp_enabled() -> bool:
    """Tell whether flash attention is allowed."""
    return is_allowed(SDPBackend.FLASH_ATTENTION)


def math_sdp_enabled() -> bool:
    """Tell whether plain attention is allowed."""
    return is_allowed(SDPBackend.MATH)


def mem_efficient_sdp_enabled() -> bool:
    """Tell whether memory-efficient attention is allowed."""
    return is_allowed(SDPBackend.EFFICIENT_ATTENTION)


def cudnn_sdp_enabled() -> bool:
    """Tell whether cuDNN's attention is allowed."""
    return is_allowed(SDPBackend.CUDNN_ATTENTION)


def is_built() -> bool:
    """Tell whether JAX sees a GPU."""
    return bool(available("cuda"))


def enable_flash_sdp(enabled: bool) -> None:
    """Allow flash attention, or do not."""
    allow(SDPBackend.FLASH_ATTENTION, enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Allow plain attention, or do not."""
    allow(SDPBackend.MATH, enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow memory-efficient attention, or do not."""
    allow(SDPBackend.EFFICIENT_ATTENTION, enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow cuDNN's attention, or do not."""
    allow(SDPBackend.CUDNN_ATTENTION, enabled)


def is_flash_attention_available() -> bool:
    """Tell that its kernel is not here: XLA has its own."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Tell that its kernel is not here: XLA has its own."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Accepted."""


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Tell that sums are kept in single precision."""
    return False


class _LinalgBackend(enum.Enum):
    Default, Cusolver, Magma = range(3)


class _BlasBackend(enum.Enum):
    Default, Cublas, Cublaslt, Ck = range(4)


_LINALG = {name.lower(): found for name, found in _LinalgBackend.__members__.items()}
_BLAS = {
    "default": _BlasBackend.Default, "cublas": _BlasBackend.Cublas, "hipblas": _BlasBackend.Cublas,
    "cublaslt": _BlasBackend.Cublaslt, "hipblaslt": _BlasBackend.Cublaslt, "ck": _BlasBackend.Ck,
}  # fmt: skip
_OF_GPUS = {
    _LinalgBackend.Cusolver: "cuSOLVER", _LinalgBackend.Magma: "MAGMA", _BlasBackend.Cublaslt: "cuBLASLt",
}  # fmt: skip
_preferred: dict[type, Any] = {_LinalgBackend: _LinalgBackend.Default, _BlasBackend: _BlasBackend.Cublas}


def _prefer(kind: type[enum.Enum], names: dict[str, Any], backend: Any) -> Any:
    if isinstance(backend, str):
        if backend not in names:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
        backend = names[backend]
    if isinstance(backend, kind):
        library = _OF_GPUS.get(backend)
        if library is not None and not is_built():
            raise RuntimeError(
                f"Cannot set preferred backend to {library} if PyTorch has not been compiled with {library}."
            )
        _preferred[kind] = backend
    elif backend is not None:
        raise RuntimeError("Unknown input value type.")
    return _preferred[kind]


def preferred_linalg_library(backend: Any = None) -> Any:
    """Keep which library is wanted for linear algebra, by name, and return it: XLA chooses. None: return it only."""
    return _prefer(_LinalgBackend, _LINALG, backend)


def preferred_blas_library(backend: Any = None) -> Any:
    """Keep which library is wanted for products, by name, and return it: XLA chooses. None: return it only."""
    return _prefer(_BlasBackend, _BLAS, backend)
