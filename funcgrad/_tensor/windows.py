"""Window functions: hann_window, hamming_window, blackman_window, bartlett_window, kaiser_window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import c_type_name
from funcgrad._tensor.arguments import as_dtype, as_int
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.registry import function
from funcgrad._tensor.tensor import Tensor

Array = np.ndarray[Any, Any]


def _window(
    name: str, length: int, periodic: bool, shape: Callable[[Array], Array], dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Return `shape` at evenly spaced places from 0 to 1; a periodic window leaves out the last of one more."""
    length = as_int(length, f"{name}(): argument 'window_length' (position 1)") or 0
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    kind = as_dtype(dtype) or dtypes.get_default_dtype()
    if not kind.is_differentiable:
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={c_type_name(kind)}, device=cpu, "
            "layout=Strided (default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))"
        )
    places = np.linspace(0, 1, length + periodic)[:length] if length > 1 else np.full(length, 0.5)
    return from_host(shape(places), dtype=kind, device=device, requires_grad=requires_grad)


@function()
def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """0.5 - 0.5 cos(2 pi x) for x from 0 to 1. Shape: result (window_length,)."""
    return _window("hann_window", window_length, periodic, lambda x: 0.5 - 0.5 * np.cos(2 * np.pi * x), **options)


@function()
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """alpha - beta cos(2 pi x) for x from 0 to 1. Shape: result (window_length,)."""
    return _window("hamming_window", window_length, periodic, lambda x: alpha - beta * np.cos(2 * np.pi * x), **options)


@function()
def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) for x from 0 to 1. Shape: result (window_length,)."""
    return _window(
        "blackman_window",
        window_length,
        periodic,
        lambda x: 0.42 - 0.5 * np.cos(2 * np.pi * x) + 0.08 * np.cos(4 * np.pi * x),
        **options,
    )


@function()
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """1 - |2 x - 1| for x from 0 to 1. Shape: result (window_length,)."""
    return _window("bartlett_window", window_length, periodic, lambda x: 1 - np.abs(2 * x - 1), **options)


@function()
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta) for x from 0 to 1. Shape: result (window_length,)."""
    return _window(
        "kaiser_window",
        window_length,
        periodic,
        lambda x: np.i0(beta * np.sqrt(1 - (2 * x - 1) ** 2)) / np.i0(beta),
        **options,
    )
