"""torch.backends.cudnn: kept, for XLA chooses its own algorithms. `allow_tf32` it heeds, of convolutions on a GPU."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

from funcgrad._tensor.global_settings import allow_rounded_convolutions
from funcgrad._tensor.placement import available
from funcgrad.backends.switches import Switches, switched


class _Convolutions(Switches):
    """The precision of convolutions: "tf32", or else in full."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        allow_rounded_convolutions(self.fp32_precision == "tf32")


enabled, deterministic, benchmark, benchmark_limit = True, False, False, 10
fp32_precision = "none"
conv, rnn = _Convolutions(fp32_precision="tf32"), Switches(fp32_precision="tf32")


class _Module(ModuleType):
    """This module, whose `allow_tf32` is the precision of both by another name."""

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 numbers that are convolved may be rounded to TF32."""
        if conv.fp32_precision != rnn.fp32_precision:
            raise RuntimeError("cudnn.conv and cudnn.rnn differ: allow_tf32 would tell of one of them")
        return conv.fp32_precision == "tf32"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        conv.fp32_precision = rnn.fp32_precision = "tf32" if allowed else "none"


sys.modules[__name__].__class__ = _Module


def is_available() -> bool:
    """Tell whether JAX sees a GPU."""
    return bool(available("cuda"))


def version() -> int | None:
    """Return None: which cuDNN XLA uses is not known."""
    return None


def is_acceptable(tensor: object) -> bool:
    """Tell that no tensor goes to cuDNN from here: XLA decides."""
    return False


def flags(
    enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False,
    allow_tf32: bool = True, fp32_precision: str = "none",
) -> AbstractContextManager[None]:  # fmt: skip
    """Keep the switches for the length of a `with` block."""
    return switched(
        __name__, enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic,
        allow_tf32=allow_tf32, fp32_precision=fp32_precision,
    )  # fmt: skip
