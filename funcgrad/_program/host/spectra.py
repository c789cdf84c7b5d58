"""Spectra: Fourier transforms, and what is done to the complex numbers that they give.

Only what numpy does to complex numbers as XLA does it: it moves them about, adds and multiplies them, and takes them
apart. What differs are products of infinities, which XLA's versions see in their own ways too, and the size of what is
infinite in one part and NaN in the other: infinite, as in torch, where XLA has NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jax import lax

from funcgrad._program.host.table import Array, Function, NotForHost, rule

COMPLEX = frozenset(map(np.dtype, ("c8", "c16")))
_FOR_COMPLEX = frozenset((
    "abs", "add", "add_any", "broadcast_in_dim", "complex", "concatenate", "conj", "convert_element_type", "copy",
    "dynamic_slice", "dynamic_update_slice", "eq", "fft", "gather", "imag", "mul", "ne", "neg", "pad", "real",
    "reduce_sum", "reshape", "rev", "select_n", "slice", "split", "squeeze", "stack", "stop_gradient", "sub",
    "transpose", "unstack",
))  # fmt: skip
_TRANSFORMS = {
    lax.FftType.FFT: np.fft.fftn, lax.FftType.IFFT: np.fft.ifftn,
    lax.FftType.RFFT: np.fft.rfftn, lax.FftType.IRFFT: np.fft.irfftn,
}  # fmt: skip


def refuse_complex(equation: Any) -> None:
    """Raise NotForHost where an equation does something else to complex numbers."""
    name, kinds = equation.primitive.name, [x.aval.dtype for x in (*equation.invars, *equation.outvars)]
    if name not in _FOR_COMPLEX and not COMPLEX.isdisjoint(kinds):
        raise NotForHost(f"{name} of complex numbers")


def products_of(equation: Any) -> int:
    """Return how many products of two numbers a transform takes, about."""
    size = max(math.prod(x.aval.shape) for x in (*equation.invars, *equation.outvars))
    return size * sum(length.bit_length() for length in equation.params["fft_lengths"])


@rule("fft")
def fft(equation: Any) -> Function:
    """Transform the last dimensions."""
    transform, lengths = _TRANSFORMS[equation.params["fft_type"]], equation.params["fft_lengths"]
    axes, dtype = tuple(range(-len(lengths), 0)), equation.outvars[0].aval.dtype
    return lambda x: transform(x, lengths, axes).astype(dtype, copy=False)


@rule("complex")
def of_parts(equation: Any) -> Function:
    """Put together a real and an imaginary part."""
    shape, dtype = equation.outvars[0].aval.shape, equation.outvars[0].aval.dtype

    def put_together(real: Array, imaginary: Array) -> Array:
        whole = np.empty(shape, dtype)
        whole.real, whole.imag = real, imaginary
        return whole

    return put_together


@rule("real", "imag")
def part(equation: Any) -> Function:
    """Look at one part of complex numbers."""
    return np.real if equation.primitive.name == "real" else np.imag


@rule("conj")
def conj(equation: Any) -> Function:
    """Turn the imaginary part round; a real number becomes complex."""
    dtype = equation.outvars[0].aval.dtype
    return np.conj if equation.invars[0].aval.dtype == dtype else lambda x: x.astype(dtype)
