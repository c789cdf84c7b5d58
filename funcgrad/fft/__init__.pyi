"""Written by `python -m funcgrad.explain.stubs`; do not edit."""

from collections.abc import Sequence
from funcgrad._tensor.tensor import Tensor
from funcgrad.fft.frequencies import fftfreq as fftfreq, rfftfreq as rfftfreq
from typing import Any

def fft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    axis: int | None = None,
    out: Any = None,
) -> Tensor: ...
def fft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = ...,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def fftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def fftshift(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def hfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    axis: int | None = None,
    out: Any = None,
) -> Tensor: ...
def hfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = ...,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def hfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def ifft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    axis: int | None = None,
    out: Any = None,
) -> Tensor: ...
def ifft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = ...,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def ifftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def ifftshift(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def ihfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    axis: int | None = None,
    out: Any = None,
) -> Tensor: ...
def ihfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = ...,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def ihfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def irfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    axis: int | None = None,
    out: Any = None,
) -> Tensor: ...
def irfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = ...,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def irfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def rfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    axis: int | None = None,
    out: Any = None,
) -> Tensor: ...
def rfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = ...,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
def rfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    out: Any = None,
) -> Tensor: ...
