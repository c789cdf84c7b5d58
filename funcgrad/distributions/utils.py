"""What distributions share: broadcasting of parameters, probs and logits, lazy attributes, triangles as vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.info import finfo
from funcgrad._base.size import Size
from funcgrad._tape.modes import enable_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import randn

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

Number = bool | int | float
Parameter = Tensor | bool | int | float

euler_constant: Final[float] = 0.57721566490153286060


class AroundLoc:
    """A distribution that lies symmetrically around `loc`: its mean and its mode."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc


def broadcast_all(*values: Parameter) -> tuple[Tensor, ...]:
    """Return all as tensors of one shape; numbers take dtype and device of the first tensor.

    ValueError: something else than a tensor or a number was given.
    """
    for value in values:
        if not isinstance(value, (Tensor, bool, int, float)):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                "__torch_function__."
            )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    dtype, device = (dtypes.get_default_dtype(), None) if first is None else (first.dtype, first.device)
    return fg.broadcast_tensors(
        *(v if isinstance(v, Tensor) else fg.tensor(v, dtype=dtype, device=device) for v in values)
    )


def standard_normal(shape: Sequence[int], dtype: Any = None, device: Any = None) -> Tensor:
    """Draw from N(0, 1)."""
    return randn(tuple(shape), dtype=dtype, device=device)


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """Sum the last `count` dimensions."""
    return value if count == 0 else value.reshape((*value.shape[:-count], -1)).sum(-1)


_standard_normal, _sum_rightmost = standard_normal, sum_rightmost  # as scripts import them from torch


def smallest(dtype: DType) -> float:
    """Return the smallest positive normal number of a dtype."""
    return finfo(dtype).tiny


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Return the probabilities of log-odds (binary), or of unnormalised log-probabilities along the last dimension."""
    return fg.sigmoid(logits) if is_binary else fg.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Keep probabilities a rounding error away from 0 and 1."""
    margin = finfo(probs.dtype).eps
    return probs.clamp(min=margin, max=1 - margin)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Return the log-odds (binary) or log-probabilities of probabilities that are clamped first."""
    probs = clamp_probs(probs)
    return fg.log(probs) - fg.log1p(-probs) if is_binary else fg.log(probs)


class lazy_property:  # noqa: N801 - torch's own name
    """An attribute that is computed when first read, with its history, and kept from then on."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]  # it copies name and docstring only

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        vars(instance)[self.wrapped.__name__] = value
        return value


class Unwritten:
    """A class attribute that a subclass has to set. NotImplementedError, without words as in torch: it has not."""

    def __init__(self, meaning: str) -> None:
        self.meaning = meaning

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        raise NotImplementedError


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return the lower triangle, up to diagonal `diag`, row by row. Shape: mat (*, n, n), result (*, count)."""
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = fg.tril_indices(size, size, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Put a vector into a lower triangle, up to diagonal `diag`, zeros elsewhere.

    Shape: vec (*, count), result (*, n, n). ValueError: no square matrix has so many elements there.
    """
    count = vec.shape[-1]
    size = max(-diag, 0)
    while (held := _triangle(size, diag)) < count:
        size += 1
    if held != count:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a "
            "square D x D matrix."
        )
    rows, columns = fg.tril_indices(size, size, diag)
    flat = vec.new_zeros((*vec.shape[:-1], size * size))
    places = (rows * size + columns).expand(vec.shape)
    return flat.scatter(-1, places, vec).reshape(vec.shape[:-1] + Size((size, size)))


def _triangle(size: int, diag: int) -> int:
    return sum(min(max(row + diag + 1, 0), size) for row in range(size))
