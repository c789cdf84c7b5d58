"""torch.backends: switches that scripts set, kept and answered; which of them XLA heeds, each says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from funcgrad.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized"]


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """Let a block set switches: they can be set everywhere here."""
    yield
