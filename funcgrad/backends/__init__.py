"""torch.backends: switches that scripts set, kept and answered; which of them XLA heeds, each says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad.backends import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized"]

fp32_precision = "none"


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """Let a block set switches: they can be set everywhere here."""
    yield
