"""torch.backends: switches that scripts set, kept and answered; which of them XLA heeds, each says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from funcgrad.backends import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized"]


class _Module(ModuleType):
    """This module, whose `fp32_precision` is that of products of matrices."""

    @property
    def fp32_precision(self) -> str:
        """The precision of what names none."""
        return cuda.matmul.fp32_precision

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        cuda.matmul.fp32_precision = value


sys.modules[__name__].__class__ = _Module


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """Let a block set switches: they can be set everywhere here."""
    yield
