"""SparseTensor: values, and the pattern of where they stand; what is not stored is 0.

The value behind it is that of its values, so that history, gradients and steps are theirs. What a function does
with such tensors stands in HANDLERS by its name, which the other files of this room fill.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from funcgrad._base import dtypes, layouts
from funcgrad._base.size import Size
from funcgrad._base.warning import warn_once
from funcgrad._ops.table import TABLE
from funcgrad._program.value import Aval, aval
from funcgrad._tape.variable import Variable
from funcgrad._tensor import printing
from funcgrad._tensor.call import call
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.overriding import Handlers, Without, arm, name_of
from funcgrad._tensor.sparse.pattern import Compressed, Pattern
from funcgrad._tensor.tensor import Tensor

HANDLERS = Handlers()
handles = HANDLERS.of
_UNCOALESCED = "Cannot get {} on an uncoalesced tensor, please call .coalesce() first"
_TYPE_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
    "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}  # fmt: skip


class SparseTensor(Tensor):
    """A tensor in one of the sparse layouts. Shape: values (n, *dense dimensions); of blocks (n, height, width)."""

    _arms_when_made = True
    _pattern: Pattern | Compressed

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a function of torch's by the handler of its name; NotImplementedError where there is none."""
        handler = HANDLERS.get(name_of(func))
        with Without("asks_classes"):
            if handler is None:
                refuse(func, (*args, *(kwargs or {}).values()))
            return handler(func, *args, **(kwargs or {}))

    def _plain(self) -> Tensor:
        """Return the values with their history."""
        return Tensor._of(self._current())

    def _with(self, values: Tensor) -> SparseTensor:
        """Return other values in the same places."""
        return sparse(values, self._pattern)

    def _by_coordinates(self) -> tuple[Tensor, Pattern]:
        """Return the values, one by one, and their coordinates."""
        if isinstance(self._pattern, Pattern):
            return self._plain(), self._pattern
        with Without("asks_classes"):
            values = self._plain()
            return values.flatten(0, 2) if self._pattern.block else values, self._pattern.coordinates

    def _coalesced(self) -> tuple[Tensor, Pattern]:
        """Return values and coordinates, sorted, those that meet added up."""
        values, pattern = self._by_coordinates()
        if pattern.is_coalesced:
            return values, pattern
        merged, places = pattern.merged
        return call(TABLE["add_values"], (values, places), (merged.count, "CoalesceBackward0")), merged

    def _as_gradient(self) -> SparseGradient:
        return SparseGradient(self._current(), self._pattern)

    # What it is

    @property
    def layout(self) -> Any:
        """torch.sparse_coo, sparse_csr, sparse_csc, sparse_bsr or sparse_bsc."""
        return self._pattern.layout

    @property
    def is_sparse(self) -> bool:
        """Whether it is given by coordinates."""
        return self._pattern.layout is layouts.sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """Whether it is given by compressed rows."""
        return self._pattern.layout is layouts.sparse_csr

    @property
    def shape(self) -> Size:
        """The sizes of its dimensions, of the sparse ones first."""
        return self._pattern.size

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self._pattern.size)

    def sparse_dim(self) -> int:
        """Return how many dimensions are sparse."""
        return self._pattern.sparse_dim if isinstance(self._pattern, Pattern) else 2

    def dense_dim(self) -> int:
        """Return how many dimensions are dense: those of one value."""
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Tell whether places are sorted and none comes twice."""
        if not isinstance(self._pattern, Pattern):
            raise RuntimeError(f"is_coalesced expected sparse coordinate tensor layout but got {word_of(self.layout)}")
        return self._pattern.is_coalesced

    def coalesce(self) -> SparseTensor:
        """Return the tensor with its places sorted, values that meet added up; itself if that is so already."""
        if isinstance(self._pattern, Pattern) and self._pattern.is_coalesced:
            return self
        if not isinstance(self._pattern, Pattern):
            raise RuntimeError(f"coalesce expected sparse coordinate tensor layout but got {word_of(self.layout)}")
        with Without("asks_classes"):
            return sparse(*self._coalesced())

    def indices(self) -> Tensor:
        """Return the places of the values. Shape: (sparse dimensions, n). RuntimeError: it is not coalesced."""
        return self._of_coalesced("indices").indices

    def values(self) -> Tensor:
        """Return the values with their history; without one they share writes. RuntimeError: it is not coalesced."""
        if isinstance(self._pattern, Pattern):
            self._of_coalesced("values")
        with Without("asks_classes"):
            values = self._plain()
            return under(values, "ValuesBackward0") if values.requires_grad else self._values()

    def _indices(self) -> Tensor:
        return self._coordinates("_indices").indices

    def _values(self) -> Tensor:
        """Return the values without history: what is written to them, or to the tensor in place, shows in both."""
        with Without("asks_classes"):
            return super().detach()

    def _nnz(self) -> int:
        return self._pattern.count

    def _coordinates(self, name: str) -> Pattern:
        if not isinstance(self._pattern, Pattern):
            raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {word_of(self.layout)}")
        return self._pattern

    def _of_coalesced(self, name: str) -> Pattern:
        pattern = self._coordinates(name)
        if not pattern.is_coalesced:
            raise RuntimeError(_UNCOALESCED.format(name))
        return pattern

    def _coalesced_(self, coalesced: bool) -> SparseTensor:
        pattern = self._coordinates("_coalesced_")
        self._pattern = Pattern(pattern.size, pattern.indices, coalesced)
        return self

    def _compressed(self, name: str, by_row: bool) -> Compressed:
        pattern = self._pattern
        if isinstance(pattern, Pattern) or pattern.by_row is not by_row:
            wanted = "row" if by_row else "column"
            raise RuntimeError(
                f"{name} expected sparse {wanted} compressed tensor layout but got {word_of(self.layout)}"
            )
        return pattern

    def crow_indices(self) -> Tensor:
        """Return where rows begin among the values. Shape: (rows + 1,)."""
        return self._compressed("crow_indices", True).compressed

    def col_indices(self) -> Tensor:
        """Return the columns of the values. Shape: (n,)."""
        return self._compressed("col_indices", True).plain

    def ccol_indices(self) -> Tensor:
        """Return where columns begin among the values. Shape: (columns + 1,)."""
        return self._compressed("ccol_indices", False).compressed

    def row_indices(self) -> Tensor:
        """Return the rows of the values. Shape: (n,)."""
        return self._compressed("row_indices", False).plain

    @property
    def grad(self) -> Any:
        """The gradient, with values in the same places."""
        with Without("asks_classes"):
            found = super().grad
            return None if found is None else self._gradient(found)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        with Without("asks_classes"):
            if isinstance(value, SparseTensor):
                value = value._plain() if value._nnz() == self._nnz() else values_in(value, self._pattern)
            self._gather_in(self._current()).grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def _gradient(self, of_values: Tensor) -> SparseTensor:
        """Return a gradient of the values as one of the tensor: of values that meet, each has that of all."""
        pattern = self._pattern
        if isinstance(of_values, SparseTensor):
            return of_values
        if isinstance(pattern, Compressed) or pattern.is_coalesced:
            return self._with(of_values)
        first = np.unique(pattern.flat, return_index=True)[1]
        return sparse(of_values.index_select(0, like(of_values, first)), pattern.merged[0])

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        with Without("asks_classes"):
            return _written(self)

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __copy__(self) -> SparseTensor:
        copied = self._with(self._plain().detach())
        if self.requires_grad:
            copied._set_requires_grad(True, "Only Tensors of floating point and complex dtype can require gradients")
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseTensor:
        with Without("asks_classes"):
            copied = self._with(self._plain().detach().clone())
            memo[id(self)] = copied
            return copied.requires_grad_() if self.requires_grad else copied  # type: ignore[return-value]  # itself

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        pattern, requires_grad = self._pattern, self.requires_grad
        if isinstance(pattern, Pattern):
            parts: tuple[Any, ...] = (pattern.indices, pattern.is_coalesced)
        else:
            parts = (pattern.compressed, pattern.plain, pattern.block)
        return _rebuilt, (self._values(), pattern.layout, tuple(pattern.size), parts, requires_grad)

    def tolist(self) -> NoReturn:
        """Refuse: see to_dense. RuntimeError, always."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def numpy(self, **options: Any) -> NoReturn:
        """Refuse: see to_dense. TypeError, always."""
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        self.numpy()


class SparseGradient(Variable):
    """The values of the gradient of a dense tensor, and the pattern of where they stand in it.

    It stays sparse until it meets a dense one, or a node other than a leaf's.
    """

    __slots__ = ("pattern",)

    def __init__(self, values: Variable, pattern: Pattern | Compressed) -> None:
        super().__init__(values.value, values.node, values.index)
        self.pattern = pattern

    @property
    def aval(self) -> Aval:
        """What is known of the gradient as a whole."""
        of_values = self.value.aval
        return aval(tuple(self.pattern.size), of_values.dtype.numpy, of_values.placement)

    def named(self) -> SparseTensor:
        """Return the sparse tensor that it is."""
        return sparse(Tensor._of(Variable(self.value, self.node, self.index)), self.pattern)

    def bind(self, tensor: SparseTensor) -> None:
        """Let a tensor be a name for this gradient."""
        tensor._variable, tensor._pattern = Variable(self.value, self.node, self.index), self.pattern

    def plus(self, other: Variable) -> Variable:
        """Return the sum with another gradient: what both store, one behind the other; dense if the other one is."""
        with Without("asks_classes"):
            if not isinstance(other, SparseGradient):
                dense: Tensor = Tensor._of(other) + Tensor._of(self.dense())
                return dense._current()
            (a, left), (b, right) = self.named()._by_coordinates(), other.named()._by_coordinates()
            indices = call(TABLE["cat"], (left.indices, right.indices), (1,))
            values = call(TABLE["cat"], (a, b), (0,))
            return SparseGradient(values._current(), Pattern(left.size, indices, is_coalesced=False))

    def dense(self) -> Variable:
        """Return the same gradient as a dense one."""
        with Without("asks_classes"):
            values, pattern = self.named()._by_coordinates()
            dense: Tensor = call(TABLE["sparse_to_dense"], (values, pattern.indices), (tuple(pattern.size),))
            return dense._current()


_BETA = {
    layout: f"Sparse {name} tensor support is in beta state. If you miss a functionality in the sparse tensor support, "
    "please submit a feature request to https://github.com/pytorch/pytorch/issues."
    for layout, name in (
        (layouts.sparse_csr, "CSR"), (layouts.sparse_csc, "CSC"),
        (layouts.sparse_bsr, "BSR"), (layouts.sparse_bsc, "BSC"),
    )
}  # fmt: skip


def sharing(values: Tensor, pattern: Pattern | Compressed) -> SparseTensor:
    """Return the sparse tensor, without history, that shares values: what is written to either shows in both."""
    values, made = values.detach(), sparse(values, pattern)
    made._variable, made._alias, made._writes = values._variable, values._alias, values._writes
    return made


def sparse(values: Tensor, pattern: Pattern | Compressed) -> SparseTensor:
    """Return the sparse tensor of values, with their history, in the places of a pattern."""
    arm()
    if isinstance(pattern, Compressed):
        warn_once(_BETA[pattern.layout], key="compressed")
    made: SparseTensor = object.__new__(SparseTensor)
    made._variable, made._slot, made._alias = values._current(), None, None
    made._made_in_inference, made._writes = values._made_in_inference, 0
    made._pattern = pattern
    return made


def _rebuilt(values: Tensor, layout: Any, size: Any, parts: tuple[Any, ...], requires_grad: bool) -> SparseTensor:
    is_coo = layout is layouts.sparse_coo
    made = sparse(values, Pattern(size, *parts) if is_coo else Compressed(layout, size, *parts))
    if requires_grad:
        made._set_requires_grad(True, "Only Tensors of floating point and complex dtype can require gradients")
    return made


def under(values: Tensor, node: str) -> Tensor:
    """Return values under a node of this name; without history as they are."""
    return call(TABLE["same_values"], (values,), (node,)) if values.requires_grad else values


def values_in(given: SparseTensor, pattern: Pattern | Compressed) -> Tensor:
    """Return what a sparse tensor has in the places of a pattern."""
    where = pattern if isinstance(pattern, Pattern) else pattern.coordinates
    values, own = given._coalesced()
    found = np.searchsorted(own.flat, where.flat)
    is_there = np.isin(where.flat, own.flat)
    taken = values.index_select(0, like(where.indices, np.where(is_there, found, 0)))
    return taken * like(where.indices, is_there).reshape(-1, *(1,) * (taken.ndim - 1))


def like(tensor: Tensor, array: np.ndarray[Any, Any]) -> Tensor:
    """Return host numbers as a tensor on the device of another."""
    made: Tensor = tensor.new_tensor(array, dtype=dtypes.of_numpy(array.dtype))
    return made


def refuse(func: Any, given: Any) -> NoReturn:
    """Refuse a function that sparse tensors do not have, as torch does. NotImplementedError, always."""
    is_coo = any(isinstance(x, SparseTensor) and x.is_sparse for x in given)
    raise NotImplementedError(
        f"Could not run 'aten::{name_of(func).strip('_')}' with arguments from the "
        f"'{'SparseCPU' if is_coo else 'SparseCsrCPU'}' backend; to_dense() gives a tensor that has all functions"
    )


def type_name(tensor: SparseTensor) -> str:
    """Return what torch's `type()` says of it."""
    return f"torch.sparse.{_TYPE_NAMES[tensor.dtype.name]}Tensor"


def word_of(layout: Any) -> str:
    """Return how torch's errors write a layout."""
    return "".join(part.capitalize() for part in layout.name.removesuffix("_coo").split("_"))


def _written(tensor: SparseTensor) -> str:
    """Write a sparse tensor as torch does: indices, values, size and count."""
    prefix, pattern = "tensor(", tensor._pattern
    parts: list[tuple[str, Tensor]]
    if isinstance(pattern, Pattern):
        parts = [("indices", pattern.indices)]
    else:
        names = ("crow_indices", "col_indices") if pattern.by_row else ("ccol_indices", "row_indices")
        parts = list(zip(names, (pattern.compressed, pattern.plain), strict=True))
    parts.append(("values", tensor._values()))
    text = (",\n" + " " * len(prefix)).join(_part(name, to_host(part), len(prefix)) for name, part in parts)
    kind = tensor.dtype
    plain = (dtypes.get_default_dtype(), dtypes.get_default_dtype().to_complex(), dtypes.int64, dtypes.bool_)
    suffixes = [] if tensor.device.type == "cpu" else [f"device='{tensor.device}'"]
    suffixes += [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    suffixes += [] if kind in plain else [f"dtype={kind!r}"]
    suffixes.append(f"layout={tensor.layout!r}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return printing.with_suffixes(prefix + text, suffixes, len(prefix), 0, breaks=tensor.is_sparse)


def _part(name: str, array: np.ndarray[Any, Any], column: int) -> str:
    prefix = f"{name}=tensor("
    size = "" if math.prod(array.shape) else f", size={tuple(array.shape)}"
    return f"{prefix}{printing.format_values(array, column + len(prefix))}{size})"
