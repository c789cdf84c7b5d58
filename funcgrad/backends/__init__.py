"""torch.backends: switches that scripts set, kept and answered; which of them XLA heeds, each says."""

from __future__ import annotations

from funcgrad.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]
