"""torch.backends: switches that scripts set, kept and answered; which of them XLA heeds, each says."""

from __future__ import annotations

from funcgrad.backends import cuda, cudnn, mkl, mkldnn, mps

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps"]
