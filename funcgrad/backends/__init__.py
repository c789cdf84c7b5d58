"""torch.backends: switches that scripts set, kept and answered; which of them XLA heeds, each says."""

from __future__ import annotations

from types import SimpleNamespace

from funcgrad._tensor.placement import available

# accepted: XLA chooses its own algorithms, the same for the same program
cudnn = SimpleNamespace(
    enabled=True, deterministic=False, benchmark=False, allow_tf32=True, version=lambda: None,
    is_available=lambda: bool(available("cuda")),
)  # fmt: skip
cuda = SimpleNamespace(
    matmul=SimpleNamespace(allow_tf32=False),
    is_built=lambda: bool(available("cuda")),
    enable_flash_sdp=lambda enabled: None,
    enable_math_sdp=lambda enabled: None,
    enable_mem_efficient_sdp=lambda enabled: None,
    enable_cudnn_sdp=lambda enabled: None,
)
mps = SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
mkldnn = SimpleNamespace(enabled=True, is_available=lambda: False)
mkl = SimpleNamespace(is_available=lambda: False)
