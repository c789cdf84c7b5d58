"""Python data as tensors: nested sequences of numbers, numpy's scalars and arrays, tensors; torch's choice of dtype."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from typing import Any

import jax
import numpy as np

from funcgrad._base import dtypes, promotion
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.naming import c_class_name
from funcgrad._tape.modes import thread
from funcgrad._tensor.interop import from_host, lying_as, refuse_backwards, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_lost_history, warn_of_many_arrays

_PYTHON = {bool: bool, int: int, float: float, complex: complex}


def from_data(data: Any, dtype: DType | None, device: Any, requires_grad: bool) -> Tensor:
    """Return a new tensor with a copy of numbers, nested sequences, numpy arrays or tensors.

    Raises ValueError for ragged sequences, TypeError or RuntimeError for what is no number or does not fit the dtype.
    """
    if isinstance(data, Tensor):
        copied = Tensor._leaf(data._current()) if dtype in (None, data.dtype) else data.detach().to(dtype)
        moved = copied if device is None else copied.to(device=device)
        return moved.requires_grad_() if requires_grad else moved
    if isinstance(data, (np.ndarray, np.generic, jax.Array)):
        array = np.asarray(data)
        refuse_backwards(array)
        made = from_host(array, dtype=dtype or dtypes.of_numpy(array.dtype), device=device, requires_grad=requires_grad)
        return lying_as(made, array)
    array, kind = _read(data, dtype)
    return from_host(array, dtype=kind, device=device, requires_grad=requires_grad)


def _read(data: Any, dtype: DType | None) -> tuple[np.ndarray[Any, Any], DType]:
    """Return the numbers as a numpy array, and the dtype that torch gives them: Python's floats get the default."""
    if hasattr(data, "__array__") and not isinstance(data, Sequence):
        array = np.asarray(data)
        return array, dtype or dtypes.of_numpy(array.dtype)
    leaves = _types_of_leaves(data)
    if any(issubclass(kind, np.ndarray) for kind in leaves):
        warn_of_many_arrays()
    if any(issubclass(kind, Tensor) for kind in leaves):
        data = _without_tensors(data)
    array = _as_array(data, dtype)
    if array.dtype.kind == "O" and dtype is not None and not isinstance(next(iter(_leaves(data))), str):
        array = _of_objects(array, dtype)
    if array.dtype.kind in "OUSV":
        raise _no_number(data, dtype)
    if array.dtype.kind == "c" and dtype is not None and not dtype.is_complex:
        array = _of_objects(np.array(data, dtype=object), dtype)
    kind = dtype or _inferred(data, leaves, array)
    check_range(array, kind)
    return array, kind


def _as_array(data: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    try:
        return np.array(data)
    except ValueError:
        sizes = _first_sizes(data)
        kind = dtype or _common_dtype(data)
        if 0 in sizes:
            return np.empty(sizes, complex if kind.is_complex else float)
        raise _ragged(data, kind) from None
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None


def _of_objects(array: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    """Return what objects (a Decimal, a Fraction, what has `__float__` or `__index__`) are as numbers of this dtype.

    TypeError for what is none, as complex numbers are no real ones.
    """
    read = _READERS[dtype.category]
    return np.array([read(x) for x in array.ravel()]).reshape(array.shape)


def _float_of(given: Any) -> float:
    return math.ldexp(given, 0)  # unlike `float` it takes no text, and its TypeError is the one that torch gives


def _complex_of(given: Any) -> complex:
    return complex(given) if hasattr(given, "__complex__") else _float_of(given)


def _int_of(given: Any) -> int:
    return int(given) if isinstance(given, float) else operator.index(given)


def _bool_of(given: Any) -> bool:
    return bool(given if isinstance(given, (float, complex)) else operator.index(given))


_READERS = {dtypes.BOOL: _bool_of, dtypes.INTEGER: _int_of, dtypes.FLOAT: _float_of, dtypes.COMPLEX: _complex_of}


def _types_of_leaves(data: Any) -> set[type]:
    """Return the types of what is no sequence in nested lists and tuples, gone through level by level."""
    leaves: set[type] = set()
    level = [data]
    while level:
        found = set(map(type, level))
        rows = {kind for kind in found if issubclass(kind, (list, tuple))}
        leaves |= found - rows
        if not rows:
            break
        level = list(chain.from_iterable(level if found == rows else [x for x in level if type(x) in rows]))
    return leaves


def _inferred(data: Any, leaves: set[type], array: np.ndarray[Any, Any]) -> DType:
    if array.size == 0 and leaves <= {list, tuple}:
        return dtypes.get_default_dtype()
    if all(kind in _PYTHON for kind in leaves):
        return _of_python(array)
    return reduce(promotion.promote_types, map(_dtype_of, _leaves(data)), dtypes.bool_)


def _of_python(array: np.ndarray[Any, Any]) -> DType:
    """Return the dtype of numbers that came from Python: floats get the default dtype, ints int64."""
    if array.dtype.kind == "c":
        return dtypes.get_default_dtype().to_complex()
    if array.size == 0 or array.dtype.kind == "f":
        return dtypes.get_default_dtype()
    return dtypes.bool_ if array.dtype.kind == "b" else dtypes.int64


def _leaves(data: Any) -> Iterable[Any]:
    if not isinstance(data, (list, tuple)):
        yield data
        return
    for inner in data:
        yield from _leaves(inner)


def _dtype_of(leaf: Any) -> DType:
    if isinstance(leaf, (np.generic, np.ndarray)):
        return dtypes.of_numpy(leaf.dtype)
    return _of_python(np.asarray(leaf))


def check_range(array: np.ndarray[Any, Any], kind: DType) -> None:
    """Refuse numbers that an integer dtype cannot hold; negative ones wrap around in an unsigned dtype, as in torch."""
    if kind.category != dtypes.INTEGER or array.size == 0 or array.dtype.kind in "bc":
        return
    limits = np.iinfo(kind.numpy)
    low, high = array.min(), array.max()
    if array.dtype.kind == "u" and kind is dtypes.int64 and high > limits.max:
        raise ValueError("Overflow when unpacking long long")
    if not (low >= (limits.min or -limits.max) and high <= limits.max):
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")


def _common_dtype(data: Any) -> DType:
    """Return the dtype of all that stands in sequences of unequal lengths, looked through from the first on."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (list, tuple)):
        return reduce(promotion.promote_types, map(_common_dtype, data)) if data else dtypes.get_default_dtype()
    if not isinstance(data, (int, float, complex, np.generic, np.ndarray)):
        raise RuntimeError(f"Could not infer dtype of {c_class_name(data)}")
    return _dtype_of(data)


def _ragged(data: Any, kind: DType) -> Exception:
    """Return torch's error for sequences of unequal lengths, of numbers that were to have this dtype."""
    level, dim = [data], 0
    while all(map(_is_row, level)):
        length = len(level[0])
        for row in level:
            if len(row) != length:
                return ValueError(f"expected sequence of length {length} at dim {dim} (got {len(row)})")
        level, dim = [x for row in level for x in row], dim + 1
    odd = next(x for x in level if _is_row(x) != _is_row(level[0]))
    if isinstance(odd, (list, tuple)):
        if kind.is_differentiable:
            return TypeError(f"must be real number, not {type(odd).__name__}")
        return TypeError(f"{type(odd).__name__!r} object cannot be interpreted as an integer")
    return TypeError("not a sequence")


def _first_sizes(data: Any) -> list[int]:
    """Return the length of the first row on each level: where one is empty, torch does not look at the others."""
    sizes: list[int] = []
    while _is_row(data):
        sizes.append(len(data))
        data = data[0] if len(data) else None
    if isinstance(data, str) and data:
        raise ValueError("too many dimensions 'str'")  # whose first letter is a text, whose first letter is one, ...
    return sizes


def _is_row(given: Any) -> bool:
    return isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim > 0)


def _no_number(data: Any, dtype: DType | None) -> Exception:
    if isinstance(data, (str, bytes)):
        return TypeError(f"new(): invalid data type '{type(data).__name__}'")
    found = next((x for x in _leaves(data) if not isinstance(x, (int, float, complex, np.generic, np.ndarray))), None)
    if any(isinstance(x, int) and abs(x) >= 2**63 for x in _leaves(data)):
        return ValueError("Overflow when unpacking long long")
    if isinstance(next(iter(_leaves(data))), str):
        return ValueError("too many dimensions 'str'")
    kind = c_class_name(found)
    if dtype is not None:
        is_whole = dtype.category == dtypes.INTEGER
        return TypeError(
            f"'{kind}' object cannot be interpreted as an integer" if is_whole else f"must be real number, not {kind}"
        )
    if isinstance(found, (str, bytes)):
        return TypeError(f"new(): invalid data type '{kind}'")
    return RuntimeError(f"Could not infer dtype of {kind}")


def _without_tensors(data: Any) -> Any:
    """Return nested lists with numbers in place of tensors: one for each, unless a list stands first beside it."""
    if not isinstance(data, (list, tuple)):
        return data
    among_rows = isinstance(data[0], (list, tuple)) if data else False
    return [_numbers_of(x, among_rows) if isinstance(x, Tensor) else _without_tensors(x) for x in data]


def _numbers_of(tensor: Tensor, as_row: bool) -> np.ndarray[Any, Any]:
    if as_row:
        return to_host(tensor)
    if tensor.shape.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    if tensor.requires_grad and thread.grad:
        warn_of_lost_history()
    return to_host(tensor).reshape(())
