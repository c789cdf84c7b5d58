"""Rows of the short-time Fourier transform: spectra of overlapping frames of a signal, and the signal from them."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from funcgrad._ops.checks import type_class_name
from funcgrad._ops.loss_reduction import completed
from funcgrad._ops.table import Array, op

_PADDINGS = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}


def _is_complex(array: Array | None) -> bool:
    return array is not None and array.dtype.kind == "c"


def _frame_window(window: Array | None, win_length: int, n_fft: int, kind: Any) -> Array:
    """Return the window, or ones, in the middle of `n_fft` zeros."""
    given = jnp.ones(win_length, kind) if window is None else window
    before = (n_fft - win_length) // 2
    return jnp.pad(given, (before, n_fft - win_length - before))


def _told(name: str, input: Array, **named: Any) -> str:
    """Return how torch begins what it says of a call: with all that it was given."""
    shown = []
    for word, x in named.items():
        if isinstance(x, (int, type(None))):
            shown.append(f"{word}={x if x is None else int(x)}")
        else:
            shown.append(f"{word}={type_class_name(x)}{{{list(x.shape)}}}")
    return f"{name}({type_class_name(input)}{list(input.shape)}, {', '.join(shown)}) :"


def _check_one_sided(onesided: bool, *arrays: Array | None) -> None:
    if onesided and any(map(_is_complex, arrays)):
        raise RuntimeError("Cannot have onesided output if window or input is complex")


def _centred(input: Array, n_fft: int, pad_mode: str) -> Array:
    if pad_mode not in _PADDINGS:
        raise NotImplementedError(f"Unrecognised padding mode {pad_mode}")
    input, pad = (input[None] if input.ndim == 0 else input), n_fft // 2
    _check_padded([1] * (3 - input.ndim) + list(input.shape), pad, pad_mode)
    return jnp.pad(input, [(0, 0)] * (input.ndim - 1) + [(pad, pad)], _PADDINGS[pad_mode])


def _check_padded(shape: list[int], pad: int, mode: str) -> None:
    if mode == "circular" and pad > shape[-1]:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if mode != "constant" and shape[-1] == 0:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {shape}"
        )
    if mode == "reflect" and pad >= shape[-1]:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
            f"({pad}, {pad}) at dimension 2 of input {shape}"
        )


def _places(count: int, hop_length: int, n_fft: int) -> Array:
    """Return where each frame's samples stand in the signal, computed so that the count of frames may be a symbol."""
    return jnp.arange(count)[:, None] * hop_length + jnp.arange(n_fft)


def _stft_node(shapes: tuple, statics: tuple) -> str:
    is_complex = completed(statics, *(None,) * 8)[7] is not False
    if not is_complex:
        return "ViewAsRealBackward0"
    return "SqueezeBackward4" if len(shapes[0]) == 1 else "TransposeBackward1"


@op(grad=_stft_node)
def stft(
    input: Array, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Array | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Array:  # fmt: skip
    """The spectra of windowed frames of `n_fft` samples, `hop_length` apart.

    Shape: input (*, L), window (win_length), result (*, n_fft // 2 + 1 or n_fft, frames), with a last dimension of real
    and imaginary parts unless `return_complex`.
    """
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if return_complex is None and not (_is_complex(input) or _is_complex(window)):
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    signal = _centred(input, n_fft, pad_mode) if center else input
    told = _told(
        "stft", signal, n_fft=n_fft, hop_length=hop_length, win_length=win_length, window=window, normalized=normalized,
        onesided=onesided, return_complex=return_complex, align_to_window=align_to_window,
    )  # fmt: skip
    if input.dtype.kind not in "fcV":
        raise RuntimeError(f"{told} expected a tensor of floating point or complex values")
    if input.ndim not in (1, 2):
        raise RuntimeError(f"{told} expected a 1D or 2D tensor")
    if not 0 < n_fft <= signal.shape[-1]:
        raise RuntimeError(f"{told} expected 0 < n_fft < {signal.shape[-1]}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise RuntimeError(f"{told} expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{told} expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and window.shape != (win_length,):
        raise RuntimeError(
            f"{told} expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}"
        )
    onesided = not (_is_complex(input) or _is_complex(window)) if onesided is None else onesided
    _check_one_sided(onesided, input, window)
    count = (signal.shape[-1] - n_fft) // hop_length + 1
    frames = signal.at[..., _places(count, hop_length, n_fft)].get(mode="promise_in_bounds")
    frames = frames * _frame_window(window, win_length, n_fft, input.dtype)
    spectra = jnp.fft.rfft(frames) if onesided else jnp.fft.fft(frames)
    spectra = jnp.swapaxes(spectra / math.sqrt(n_fft) if normalized else spectra, -1, -2)
    if return_complex or return_complex is None:
        return spectra
    return jnp.stack([spectra.real, spectra.imag], -1)


@op(grad=lambda shapes, statics: "SqueezeBackward1" if len(shapes[0]) == 2 else "DivBackward0")
def istft(
    input: Array, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Array | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
    length: int | None = None, return_complex: bool = False,
) -> Array:  # fmt: skip
    """The signal whose short-time spectra these are, by least squares: frames added up where they overlap.

    Shape: input (*, n_fft // 2 + 1 or n_fft, frames), result (*, L).
    """
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    told = _told(
        "istft", input, n_fft=n_fft, hop_length=hop_length, win_length=win_length, window=window, center=center,
        normalized=normalized, onesided=onesided, length=length, return_complex=return_complex,
    )  # fmt: skip
    _check_rank(input)
    onesided = input.shape[-2] != n_fft if onesided is None else onesided
    _check_spectra(told, input, n_fft, hop_length, win_length, onesided)
    if window is not None and window.shape != (win_length,):
        raise RuntimeError(f"{told} Invalid window shape. window has to be 1D and length of `win_length`")
    if not return_complex and _is_complex(window):
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if return_complex:
        _check_one_sided(onesided, input, window)
    elif not onesided:
        input = input[..., : n_fft // 2 + 1, :]
    spectra = jnp.swapaxes(input * math.sqrt(n_fft) if normalized else input, -1, -2)
    frames = jnp.fft.ifft(spectra) if return_complex else jnp.fft.irfft(spectra, n_fft)
    shape = _frame_window(window, win_length, n_fft, jnp.finfo(input.dtype).dtype)
    count = frames.shape[-2]
    total = (count - 1) * hop_length + n_fft
    places = _places(count, hop_length, n_fft)

    def added_up(parts: Array) -> Array:
        return jnp.zeros((*parts.shape[:-2], total), parts.dtype).at[..., places].add(parts)

    signal, weight = added_up(frames * shape), added_up(jnp.broadcast_to(jnp.square(shape), frames.shape[-2:]))
    start = n_fft // 2 if center else 0
    end = total - start if length is None else start + length
    signal, weight = (lax.slice_in_dim(x, start, min(end, total), axis=x.ndim - 1) for x in (signal, weight))
    signal = signal / weight.astype(signal.dtype)
    return jnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, max(end - total, 0))])


def _check_rank(input: Array) -> None:
    """Refuse real numbers, and what has no frames or frequencies among its dimensions and that of the two parts."""
    if not _is_complex(input):
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    rank = input.ndim + 1
    if rank < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {-rank - 1})"
        )


def _check_spectra(told: str, input: Array, n_fft: int, hop_length: int, win_length: int, onesided: bool) -> None:
    if input.size == 0:
        raise RuntimeError(f"{told} input tensor cannot be empty.")
    if input.ndim not in (2, 3):
        raise RuntimeError(f"{told} expected a tensor with 3 or 4 dimensions, but got {input.ndim + 1}")
    expected, word = (n_fft // 2 + 1, "n_fft / 2 + 1") if onesided else (n_fft, "n_fft")
    if input.shape[-2] != expected:
        raise RuntimeError(
            f"{told} expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{word} when onesided={onesided}, but got {input.shape[-2]}"
        )
    if not 0 < hop_length <= win_length:
        raise RuntimeError(f"{told} expected 0 < hop_length <= win_length")
    if win_length > n_fft:
        raise RuntimeError(f"{told} expected 0 < win_length <= n_fft")
