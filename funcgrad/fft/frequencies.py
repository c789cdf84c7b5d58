"""Which frequency each result of a Fourier transform belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._tensor.arguments import as_dtype, as_float, as_some_int
from funcgrad._tensor.call import write_out
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor


def _frequencies(name: str, places: np.ndarray[Any, Any], n: int, d: Any, options: dict[str, Any]) -> Tensor:
    apart = as_float(d, f"{name}(): argument 'd' (position 2)")
    if apart is None:
        raise TypeError(f"{name}(): argument 'd' (position 2) must be float, not NoneType")
    out = options.pop("out", None)
    kind = as_dtype(options.pop("dtype", None)) or (dtypes.get_default_dtype() if out is None else out.dtype)
    options = {key: given for key, given in options.items() if key not in ("layout", "pin_memory")}
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError(f"fftfreq requires a floating point or complex dtype, got torch.{kind.name}")
    with np.errstate(divide="ignore", invalid="ignore"):
        result = from_host(places / (n * apart), dtype=kind, **options)
    return result if out is None else write_out(out, result)


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of `fft`'s results, for `n` samples `d` apart; those from n / 2 on are negative.

    options: out, dtype, device, requires_grad (layout and pin_memory change nothing). Shape: result (n,).
    """
    n = as_some_int(n, "fft_fftfreq(): argument 'n' (position 1)")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return _frequencies("fft_fftfreq", (np.arange(n) + n // 2) % max(n, 1) - n // 2, n, d, options)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of `rfft`'s results, for `n` samples `d` apart. Shape: result (n // 2 + 1,)."""
    n = as_some_int(n, "fft_rfftfreq(): argument 'n' (position 1)")
    return _frequencies("fft_rfftfreq", np.arange(n // 2 + 1), n, d, options)
