"""Rows of discrete Fourier transforms, under torch.fft's names: of one dimension, of two and of any number.

norm says where the factor 1 / n goes: "backward" (the default) to the inverse, "forward" to the forward transform,
"ortho" half and half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from funcgrad._ops.checks import scalar_name
from funcgrad._ops.dims import dim_of
from funcgrad._ops.table import Array, Dims, op

_AT_ONCE = 3  # dimensions that lax.fft takes
_PLANE = (-2, -1)


def _lines(
    input: Array, sizes: Dims | None, dims: Dims | None, name: str, some: bool = False
) -> tuple[list[int], list[int | None]]:
    """Return the dimensions to transform and the length that each is cut or padded to (None: its own)."""
    if dims is not None and sizes is not None and len(dims) != len(sizes):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if dims is None:
        if sizes is not None and len(sizes) > input.ndim:
            raise RuntimeError(f"Got shape with {len(sizes)} values but input tensor only has {input.ndim} dimensions.")
        dims = tuple(range(-len(sizes), 0)) if sizes is not None else tuple(range(input.ndim))
    if some and not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    if dims and not input.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    chosen = [dim_of(input.ndim, d) for d in dims]
    if len(set(chosen)) < len(chosen):
        raise RuntimeError("FFT dims must be unique")
    return chosen, [None if n == -1 else n for n in sizes] if sizes is not None else [None] * len(chosen)


def _fitted(input: Array, dims: Sequence[int], lengths: Sequence[int | None]) -> Array:
    """Cut dimensions, or put zeros behind them, to reach these lengths."""
    wanted = list(input.shape)
    for d, n in zip(dims, lengths, strict=True):
        wanted[d] = wanted[d] if n is None else n
        if wanted[d] < 1:
            raise RuntimeError(f"Invalid number of data points ({wanted[d]}) specified")
    if tuple(wanted) == input.shape:
        return input
    edges = [(0, n - have, 0) for n, have in zip(wanted, input.shape, strict=True)]
    return lax.pad(input, np.zeros((), input.dtype), edges)


def _scaled(result: Array, count: int, norm: str | None, inverse: bool) -> Array:
    """Scale a transform of `count` numbers; lax.fft itself puts 1 / count into the inverse."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    factor = {"ortho": 1 / math.sqrt(count), "forward": 1.0 if inverse else 1 / count}.get(norm or "", 1 / count)
    if not inverse and norm in (None, "backward"):
        return result
    factor = factor * count if inverse else factor
    return result if factor == 1 else result * np.asarray(factor, result.real.dtype)


def _transform(input: Array, dims: Sequence[int], kind: lax.FftType | str, last: int = 0) -> Array:
    """Apply lax.fft over some dimensions, innermost last. last: the length that a real result has in the last one."""
    moved = jnp.moveaxis(input, dims, range(-len(dims), 0))
    lengths = [*moved.shape[input.ndim - len(dims) : -1], last or moved.shape[-1]]
    result = lax.fft(moved, kind, tuple(lengths))
    return jnp.moveaxis(result, range(-len(dims), 0), dims)


def _to_complex(input: Array) -> Array:
    return input.astype(np.result_type(input.dtype, np.complex64))


def _check_width(input: Array) -> None:
    if input.dtype.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {scalar_name(input)}")


def _between_complex(
    input: Array, s: Dims | None, dim: Dims | None, norm: str | None, name: str, inverse: bool
) -> Array:
    _check_width(input)
    dims, lengths = _lines(input, s, dim, name)
    result = _to_complex(_fitted(input, dims, lengths))
    count = math.prod(result.shape[d] for d in dims)
    for start in range(0, len(dims), _AT_ONCE):
        result = _transform(result, dims[start : start + _AT_ONCE], "IFFT" if inverse else "FFT")
    return _scaled(result, count, norm, inverse) if result.size else result


def _from_real(
    input: Array, s: Dims | None, dim: Dims | None, norm: str | None, name: str, inverse: bool = False
) -> Array:
    """Transform real numbers; of the last dimension the half that says all. inverse: its conjugate, as if inverted."""
    if input.dtype.kind == "c":
        word = "real-valued" if name == "rfftn" else "real"
        raise RuntimeError(f"{name} expects a {word} input tensor, but got {scalar_name(input)}")
    _check_width(input)
    dims, lengths = _lines(input, s, dim, name, some=True)
    fitted = _fitted(input, dims, lengths)
    count = math.prod(fitted.shape[d] for d in dims)
    result = _transform(fitted, dims[-1:], "RFFT")
    for start in range(0, len(dims) - 1, _AT_ONCE):
        result = _transform(result, dims[:-1][start : start + _AT_ONCE], "FFT")
    if inverse:
        return jnp.conj(_scaled(result * np.asarray(1 / count, fitted.dtype), count, norm, True))
    return _scaled(result, count, norm, False)


def _to_real(
    input: Array, s: Dims | None, dim: Dims | None, norm: str | None, name: str, inverse: bool = True
) -> Array:
    """Transform the half of a Hermitian signal into real numbers. inverse=False: of the conjugate, as if forward."""
    _check_width(input)
    dims, lengths = _lines(input, s, dim, name, some=True)
    last = lengths[-1]
    last = 2 * (input.shape[dims[-1]] - 1) if last is None else last
    if last < 1:
        raise RuntimeError(f"Invalid number of data points ({last}) specified")
    result = _fitted(_to_complex(input), dims, [*lengths[:-1], last // 2 + 1])
    result = result if inverse else jnp.conj(result)
    for start in range(0, len(dims) - 1, _AT_ONCE):
        result = _transform(result, dims[:-1][start : start + _AT_ONCE], "IFFT")
    result = _transform(result, dims[-1:], "IRFFT", last)
    count = math.prod(result.shape[d] for d in dims)
    if inverse:
        return _scaled(result, count, norm, True)
    return _scaled(result * np.asarray(count, result.dtype), count, norm, False)


_CONJUGATED = ("ConjBackward0", ("FftR2CBackward0", "input"))


def _by_dtype(of_real: Any, of_complex: Any) -> Any:
    """Show a transform of real numbers in one way, of complex ones in another."""
    return lambda shapes, statics, dtypes: of_complex if dtypes[0].is_complex else of_real


def _copied_if_real(name: str) -> Any:
    """Show a transform that takes complex numbers, which torch first makes of real ones."""
    return _by_dtype((name, ("ToCopyBackward0", "input")), name)


def _alone(n: int | None) -> Dims | None:
    if n == -1:  # in several dimensions that is all of one
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return None if n is None else (n,)


@op(grad=_by_dtype("FftR2CBackward0", "FftC2CBackward0"), promote="float", names="fft.fft")
def fft_fft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """sum_k input[k] exp(-2 pi i j k / n) along one dimension, cut or zero-padded to `n`."""
    return _between_complex(input, _alone(n), (dim,), norm, "fft", False)


@op(grad=_by_dtype(_CONJUGATED, "FftC2CBackward0"), promote="float", names="fft.ifft")
def fft_ifft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `fft`: 1 / n sum_k input[k] exp(2 pi i j k / n)."""
    return _between_complex(input, _alone(n), (dim,), norm, "ifft", True)


@op(grad="FftR2CBackward0", promote="float", names="fft.rfft")
def fft_rfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """`fft` of real numbers, the first n // 2 + 1 results: the others are conjugates of these."""
    return _from_real(input, _alone(n), (dim,), norm, "rfft")


@op(grad=_copied_if_real("FftC2RBackward0"), promote="float", names="fft.irfft")
def fft_irfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `rfft`: `n` real numbers, by default 2 * (length - 1)."""
    return _to_real(input, _alone(n), (dim,), norm, "irfft")


@op(grad="FftC2RBackward0", promote="float", names="fft.hfft")
def fft_hfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """`fft` of a Hermitian signal, of which half is given: `n` real numbers, by default 2 * (length - 1)."""
    return _to_real(input, _alone(n), (dim,), norm, "hfft", inverse=False)


@op(grad=lambda shapes, statics: _CONJUGATED, promote="float", names="fft.ihfft")
def fft_ihfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `hfft`: the first n // 2 + 1 numbers of a Hermitian signal."""
    return _from_real(input, _alone(n), (dim,), norm, "ihfft", inverse=True)


@op(grad=_copied_if_real("FftC2CBackward0"), promote="float", names="fft.fft2")
def fft_fft2(input: Array, s: Dims | None = None, dim: Dims | None = _PLANE, norm: str | None = None) -> Array:
    """`fft` along two dimensions."""
    return _between_complex(input, s, dim, norm, "fft2", False)


@op(grad=_copied_if_real("FftC2CBackward0"), promote="float", names="fft.ifft2")
def fft_ifft2(input: Array, s: Dims | None = None, dim: Dims | None = _PLANE, norm: str | None = None) -> Array:
    """The inverse of `fft2`."""
    return _between_complex(input, s, dim, norm, "ifft2", True)


@op(grad="FftR2CBackward0", promote="float", names="fft.rfft2")
def fft_rfft2(input: Array, s: Dims | None = None, dim: Dims | None = _PLANE, norm: str | None = None) -> Array:
    """`fft2` of real numbers, the half that says all of the last dimension."""
    return _from_real(input, s, dim, norm, "rfft2")


@op(grad=_copied_if_real("FftC2RBackward0"), promote="float", names="fft.irfft2")
def fft_irfft2(input: Array, s: Dims | None = None, dim: Dims | None = _PLANE, norm: str | None = None) -> Array:
    """The inverse of `rfft2`."""
    return _to_real(input, s, dim, norm, "irfft2")


@op(grad="FftC2RBackward0", promote="float", names="fft.hfft2")
def fft_hfft2(input: Array, s: Dims | None = None, dim: Dims | None = _PLANE, norm: str | None = None) -> Array:
    """`fft2` of a signal that is Hermitian along the last dimension, of which half is given."""
    return _to_real(input, s, dim, norm, "hfft2", inverse=False)


@op(grad="ConjBackward0", promote="float", names="fft.ihfft2")
def fft_ihfft2(input: Array, s: Dims | None = None, dim: Dims | None = _PLANE, norm: str | None = None) -> Array:
    """The inverse of `hfft2`."""
    return _from_real(input, s, dim, norm, "ihfft2", inverse=True)


@op(grad=_copied_if_real("FftC2CBackward0"), promote="float", names="fft.fftn")
def fft_fftn(input: Array, s: Dims | None = None, dim: Dims | None = None, norm: str | None = None) -> Array:
    """`fft` along some dimensions: all, or the last len(s)."""
    return _between_complex(input, s, dim, norm, "fftn", False)


@op(grad=_copied_if_real("FftC2CBackward0"), promote="float", names="fft.ifftn")
def fft_ifftn(input: Array, s: Dims | None = None, dim: Dims | None = None, norm: str | None = None) -> Array:
    """The inverse of `fftn`."""
    return _between_complex(input, s, dim, norm, "ifftn", True)


@op(grad="FftR2CBackward0", promote="float", names="fft.rfftn")
def fft_rfftn(input: Array, s: Dims | None = None, dim: Dims | None = None, norm: str | None = None) -> Array:
    """`fftn` of real numbers, the half that says all of the last dimension."""
    return _from_real(input, s, dim, norm, "rfftn")


@op(grad=_copied_if_real("FftC2RBackward0"), promote="float", names="fft.irfftn")
def fft_irfftn(input: Array, s: Dims | None = None, dim: Dims | None = None, norm: str | None = None) -> Array:
    """The inverse of `rfftn`."""
    return _to_real(input, s, dim, norm, "irfftn")


@op(grad="FftC2RBackward0", promote="float", names="fft.hfftn")
def fft_hfftn(input: Array, s: Dims | None = None, dim: Dims | None = None, norm: str | None = None) -> Array:
    """`fftn` of a signal that is Hermitian along the last dimension, of which half is given."""
    return _to_real(input, s, dim, norm, "hfftn", inverse=False)


@op(grad="ConjBackward0", promote="float", names="fft.ihfftn")
def fft_ihfftn(input: Array, s: Dims | None = None, dim: Dims | None = None, norm: str | None = None) -> Array:
    """The inverse of `hfftn`."""
    if input.dtype.kind == "c":
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {scalar_name(input)}")
    return _from_real(input, s, dim, norm, "ihfftn", inverse=True)


def _rolled(input: Array, dim: Dims | None, share: int) -> Array:
    dims = range(input.ndim) if dim is None else [dim_of(input.ndim, d) for d in dim]
    return jnp.roll(input, [(input.shape[d] + share) // 2 - share * input.shape[d] for d in dims], tuple(dims))


@op(grad="RollBackward0", names="fft.fftshift")
def fft_fftshift(input: Array, dim: Dims | None = None) -> Array:
    """Roll dimensions so that frequency 0, which comes first, is in the middle."""
    return _rolled(input, dim, 0)


@op(grad="RollBackward0", names="fft.ifftshift")
def fft_ifftshift(input: Array, dim: Dims | None = None) -> Array:
    """Roll dimensions back: the inverse of `fftshift`."""
    return _rolled(input, dim, 1)
