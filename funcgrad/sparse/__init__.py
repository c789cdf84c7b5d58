"""torch.sparse: products, sums and softmax of sparse tensors, which are dense ones here (`_tensor.sparse_layouts`)."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call
from funcgrad._tensor.functions import lookup
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.legacy import TYPES
from funcgrad._tensor.sparse_layouts import sparse_coo_tensor
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "BFloat16Tensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
    "LongTensor", "ShortTensor", "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm",
    "sampled_addmm", "softmax", "spdiags", "sum",
]  # fmt: skip

_plain = lookup("")
Check = TypeVar("Check")


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """Multiply two matrices; with `reduce` ("sum", "mean", "max", "min") fold what mat1 stores of each row otherwise.

    Shape: mat1 (n, m), mat2 (m, p), result (n, p). Rows of which nothing is stored give 0.
    """
    if reduce is None or reduce == "sum":
        return call(TABLE["mm"], (mat1, mat2))
    stored = mat1 != 0
    if reduce == "mean":
        return call(TABLE["mm"], (mat1, mat2)) / stored.sum(1, keepdim=True).clamp(min=1)
    if reduce not in ("amax", "amin", "max", "min"):
        raise RuntimeError(f"reduce argument must be either sum, mean, amax or amin, got {reduce}")
    largest = reduce in ("amax", "max")
    terms = (mat1.unsqueeze(-1) * mat2).masked_fill(~stored.unsqueeze(-1), -np.inf if largest else np.inf)
    folded = terms.amax(1) if largest else terms.amin(1)
    return folded.masked_fill(~stored.any(1, keepdim=True), 0)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """Return beta * mat + alpha * mat1 @ mat2."""
    return _plain("addmm")(mat, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None
) -> Tensor:
    """Return beta * input + alpha * mat1 @ mat2 where `input` is not 0, and 0 elsewhere."""
    found = (beta * input + alpha * mat1.matmul(mat2)).masked_fill(input == 0, 0)
    return found if out is None else out.copy_(found)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """Return the sum over `dim` (default: all)."""
    return input.sum(dtype=dtype) if dim is None else input.sum(dim, dtype=dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the softmax along `dim` of what is not 0: what is not stored counts as minus infinity and stays 0."""
    stored = input != 0
    shares = input.masked_fill(~stored, -np.inf).softmax(dim, dtype=dtype)
    return shares.masked_fill(~stored, 0)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the logarithm of `softmax` of what is not 0."""
    stored = input != 0
    return input.masked_fill(~stored, -np.inf).log_softmax(dim, dtype=dtype).masked_fill(~stored, 0)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: Any = None) -> Tensor:
    """Return the matrix whose diagonals are rows of `diagonals`, each `offsets` above the main one."""
    rows, columns = shape
    matrix = np.zeros(shape, to_host(diagonals).dtype)
    for diagonal, offset in zip(np.atleast_2d(to_host(diagonals)), np.atleast_1d(to_host(offsets)), strict=True):
        for column in range(min(len(diagonal), columns)):
            row = column - int(offset)
            if 0 <= row < rows:
                matrix[row, column] = diagonal[column]
    return from_host(matrix, dtype=diagonals.dtype, device=diagonals.device)


def as_sparse_gradcheck(gradcheck: Check) -> Check:
    """Return the function itself: it takes sparse tensors as it takes others."""
    return gradcheck


def _of_type(name: str) -> Any:
    def make(*given: Any, **options: Any) -> Tensor:
        """Return the tensor with the values at the columns of the indices, in this dtype, and 0 elsewhere."""
        return sparse_coo_tensor(*given, dtype=TYPES[name].dtype, **options)

    make.__name__ = make.__qualname__ = name
    return make


(
    BFloat16Tensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor, IntTensor, LongTensor, ShortTensor,
) = map(
    _of_type,
    ("BFloat16Tensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
     "LongTensor", "ShortTensor"),
)  # fmt: skip


class check_sparse_tensor_invariants:  # noqa: N801 - torch's own spelling
    """A switch that torch has for checks of sparse layouts: accepted; there is nothing to check here."""

    def __init__(self, enable: bool = True) -> None:
        self.enabled = enable

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    @staticmethod
    def is_enabled() -> bool:
        """Tell whether checks are on: never."""
        return False

    @staticmethod
    def enable() -> None:
        """Do nothing."""

    @staticmethod
    def disable() -> None:
        """Do nothing."""
