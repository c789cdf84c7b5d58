"""torch.backends.cudnn: accepted and kept; XLA chooses its own algorithms, the same for the same program."""

from __future__ import annotations

from contextlib import AbstractContextManager

from funcgrad._tensor.placement import available
from funcgrad.backends.switches import Switches, switched

enabled, deterministic, benchmark, benchmark_limit, allow_tf32 = True, False, False, 10, True
fp32_precision = "none"
conv, rnn = Switches(fp32_precision="tf32"), Switches(fp32_precision="tf32")


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
        globals(), enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic,
        allow_tf32=allow_tf32, fp32_precision=fp32_precision,
    )  # fmt: skip
