"""Windows that taper the ends of a signal: torch.signal.windows.

Each takes the number of points `M`, and sym=False for one period of a window that goes on (for spectral analysis).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.layouts import layout as Layout
from funcgrad._base.layouts import strided
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor

Numbers = np.ndarray[Any, Any]


class _Points:
    """The M points of one window: where they lie, and what becomes of its values there."""

    def __init__(self, name: str, M: int, sym: bool, options: dict[str, Any]) -> None:
        dtype: DType = options.pop("dtype", None) or dtypes.get_default_dtype()
        layout: Layout = options.pop("layout", strided)
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not strided:
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        if dtype not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        self.count, self.dtype, self.options = M, dtype, options
        self.last = (M - 1 if sym else M) if M > 1 else 0  # the place where the window is whole again

    @property
    def shares(self) -> Numbers:
        """How much of the window lies before each point: 0 to 1, or 0 for a single point."""
        return self.places / max(self.last, 1)

    @property
    def places(self) -> Numbers:
        return np.arange(self.count)

    def tensor(self, values: Numbers) -> Tensor:
        """Return the values as a tensor; a single point has value 1."""
        numbers = np.ones(1) if self.count == 1 else values
        return from_host(numbers, dtype=self.dtype, **self.options)


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any
) -> Tensor:  # fmt: skip
    """exp(-|n - center| / tau); the centre is the middle unless the window is periodic and it is given."""
    points = _Points("exponential_window", M, sym, options)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = points.last / 2 if center is None else center
    return points.tensor(np.exp(-np.abs(points.places - middle) / tau))


def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """sin(pi (n + 1/2) / M): half a wave."""
    points = _Points("cosine_window", M, sym, options)
    return points.tensor(np.sin(math.pi * (points.places + 0.5) / (points.last + 1)))


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """exp(-(n - middle)^2 / (2 std^2))."""
    points = _Points("gaussian_window", M, sym, options)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return points.tensor(np.exp(-0.5 * ((points.places - points.last / 2) / std) ** 2))


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:
    """I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1."""
    points = _Points("kaiser_window", M, sym, options)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    x = 2 * points.shares - 1
    return points.tensor(np.i0(beta * np.sqrt(np.maximum(1 - x * x, 0))) / np.i0(beta))


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Tensor:
    """a[0] - a[1] cos(2 pi x) + a[2] cos(4 pi x) - ... for x from 0 to 1."""
    return _cosines("general_cosine_window", M, a, sym, options)


def _cosines(name: str, M: int, a: Iterable[float], sym: bool, options: dict[str, Any]) -> Tensor:
    points = _Points(name, M, sym, options)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    waves = [(-1) ** k * w * np.cos(2 * math.pi * k * points.shares) for k, w in enumerate(weights)]
    return points.tensor(np.sum(waves, axis=0))


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """alpha - (1 - alpha) cos(2 pi x) for x from 0 to 1."""
    return _cosines("general_hamming_window", M, (alpha, 1 - alpha), sym, options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """0.54 - 0.46 cos(2 pi x) for x from 0 to 1."""
    return _cosines("hamming_window", M, (0.54, 0.46), sym, options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """1/2 - 1/2 cos(2 pi x) for x from 0 to 1."""
    return _cosines("hann_window", M, (0.5, 0.5), sym, options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) for x from 0 to 1."""
    return _cosines("blackman_window", M, (0.42, 0.5, 0.08), sym, options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Four cosines, whose weights keep the side lobes lowest (Nuttall 1981, table II, minimum 4-term)."""
    return _cosines("nuttall_window", M, (0.3635819, 0.4891775, 0.1365995, 0.0106411), sym, options)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """1 - |2 x - 1| for x from 0 to 1: a triangle that begins and ends at 0."""
    points = _Points("bartlett_window", M, sym, options)
    return points.tensor(1 - np.abs(2 * points.shares - 1))
