"""torch.sparse: products, sums and softmax of sparse tensors; the tensors themselves are `_tensor.sparse`."""

from __future__ import annotations

from typing import Any, Self, TypeVar

import numpy as np

from funcgrad._base import layouts
from funcgrad._base.warning import warn_once
from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call
from funcgrad._tensor.functions import lookup
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.legacy import TYPES
from funcgrad._tensor.overriding import Without
from funcgrad._tensor.sparse.folding import folded_product, sampled, shares, total
from funcgrad._tensor.sparse.making import Invariants, by_old_name, to_sparse
from funcgrad._tensor.sparse.pattern import Pattern
from funcgrad._tensor.sparse.products import multiplied, plus_product
from funcgrad._tensor.sparse.tensor import SparseTensor, sparse
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "BFloat16Tensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
    "LongTensor", "ShortTensor", "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm",
    "sampled_addmm", "softmax", "spdiags", "sum",
]  # fmt: skip

_plain = lookup("")
Check = TypeVar("Check")


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """Multiply two matrices; with `reduce` ("sum", "mean", "amax", "amin") fold what mat1 stores of each row otherwise.

    Shape: mat1 (n, m), mat2 (m, p), result (n, p), sparse where both are. Rows of which nothing is stored give 0.
    """
    with Without("asks_classes"):
        if reduce is not None:
            return folded_product(mat1 if isinstance(mat1, SparseTensor) else to_sparse(mat1), mat2, reduce)
        if isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor):
            return multiplied(mat1, mat2, "SparseAddmmBackward0")  # type: ignore[no-any-return]  # a tensor
        return call(TABLE["mm"], (mat1, mat2))  # type: ignore[no-any-return]  # a tensor


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """Return beta * mat + alpha * mat1 @ mat2."""
    with Without("asks_classes"):
        if isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor):
            return plus_product(mat, mat1, mat2, beta, alpha, "SparseAddmmBackward0")  # type: ignore[no-any-return]
        return _plain("addmm")(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]  # a tensor


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None
) -> Tensor:
    """Return beta * input + alpha * mat1 @ mat2 where `input`, which is sparse, stores something."""
    if not isinstance(input, SparseTensor):
        raise RuntimeError("sampled_addmm: Expected input to have sparse csr layout")
    with Without("asks_classes"):
        found = sampled(input, mat1, mat2, beta, alpha)
    return found if out is None else out.copy_(found)  # type: ignore[no-any-return]  # a tensor


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """Return the sum over `dim` (default: all), sparse while a sparse dimension is left."""
    if not isinstance(input, SparseTensor):
        return input.sum(dtype=dtype) if dim is None else input.sum(dim, dtype=dtype)
    with Without("asks_classes"):
        return total(input, dim, dtype=dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the softmax along `dim` of what is stored; what is not counts as minus infinity."""
    return _shares("softmax", input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the logarithm of `softmax` of what is stored."""
    return _shares("log_softmax", input, dim, dtype)


def _shares(name: str, input: Tensor, dim: int, dtype: Any) -> Tensor:
    if not isinstance(input, SparseTensor):
        raise NotImplementedError(f"Could not run 'aten::_sparse_{name}' with arguments from the 'CPU' backend.")
    with Without("asks_classes"):
        return shares(input, dim, dtype, name == "log_softmax")


def spdiags(diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: Any = None) -> SparseTensor:
    """Return the matrix whose diagonals are rows of `diagonals`, each `offsets` above the main one.

    Shape: diagonals (n, m) or (m,), offsets (n,). RuntimeError: an offset comes twice.
    """
    rows, columns = shape
    above = np.atleast_1d(to_host(offsets))
    if len(set(above.tolist())) < len(above):
        raise RuntimeError("Offset tensor contains duplicate values")
    lanes = diagonals if diagonals.ndim == 2 else diagonals.unsqueeze(0)
    lane, column = (part.reshape(-1) for part in np.indices((len(above), min(lanes.shape[1], columns))))
    row = column - above[lane]
    lies = (row >= 0) & (row < rows)
    places = np.stack([row, column])[:, lies]
    chosen = from_host(np.stack([lane, column])[:, lies])
    pattern = Pattern(shape, from_host(places), is_coalesced=False)
    made = sparse(call(TABLE["values_at"], (lanes, chosen), ("SpdiagsBackward0",)), pattern)
    return made if layout in (None, layouts.sparse_coo) else to_sparse(made, layout=layout)


def as_sparse_gradcheck(gradcheck: Check) -> Check:
    """Return the function itself, which takes sparse tensors as it takes others."""
    return gradcheck


def _of_type(name: str) -> Any:
    def make(*given: Any, **options: Any) -> Tensor:
        """Return the tensor with the values at the columns of the indices, in this dtype; of sizes, an empty one."""
        _warn_of_old_name(given)
        return by_old_name(given, TYPES[name].dtype, **options)

    make.__name__ = make.__qualname__ = name
    return make


def _warn_of_old_name(given: tuple[Any, ...]) -> None:
    """Say, once for each way to call it, what takes the place of `torch.sparse.FloatTensor`."""
    if isinstance(given[0] if given else None, Tensor):
        old = new = ", ".join(("indices", "values", "shape")[: len(given)])
    else:
        old, new = ("shape", "shape") if given else ("", "(0,)")
    device = ", *, device=" if given else ""
    warn_once(
        f"torch.sparse.SparseTensor({old}{device}) is deprecated.  "
        f"Please use torch.sparse_coo_tensor({new}, dtype={', device=' if given else ''})."
    )


(
    BFloat16Tensor, ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor, IntTensor, LongTensor, ShortTensor,
) = map(
    _of_type,
    ("BFloat16Tensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
     "LongTensor", "ShortTensor"),
)  # fmt: skip


class check_sparse_tensor_invariants:  # noqa: N801 - torch's own spelling
    """A switch: whether compressed layouts are checked. Coordinates that the host knows are checked always."""

    def __init__(self, enable: bool = True) -> None:
        self.enabled = enable

    def __enter__(self) -> Self:
        self._before, Invariants.are_checked = Invariants.are_checked, self.enabled
        return self

    def __exit__(self, *_: object) -> None:
        Invariants.are_checked = self._before

    @staticmethod
    def is_enabled() -> bool:
        """Tell what the switch says."""
        return Invariants.are_checked

    @staticmethod
    def enable() -> None:
        """Turn the switch on."""
        Invariants.are_checked = True

    @staticmethod
    def disable() -> None:
        """Turn the switch off."""
        Invariants.are_checked = False
