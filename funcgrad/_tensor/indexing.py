"""x[...] and x[...] = y in all of torch's index language: ints, slices, None, Ellipsis, integer and boolean tensors, mixed.

Ints, slices and None make views, one torch node each; tensors select elements, all in one call at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE
from funcgrad._tape.apply import apply
from funcgrad._tape.variable import Variable
from funcgrad._tensor.call import call, cast
from funcgrad._tensor.data import from_data
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor


def get_item(self: Tensor, index: Any) -> Tensor:
    """Return the part of the tensor that `index` names: a view, or a copy where a tensor indexes.

    Raises IndexError for an index out of range, too many indices, or a mask of another shape.
    """
    if type(index) is int:
        return _select(self, 0, index)
    part, selectors = _walk(self, index)
    if not selectors:
        return call(TABLE["alias"], (part,)) if part is self else part
    tensors, layout = _selection(part, selectors)
    return call(TABLE["index"], (part, *tensors), (layout,))


def set_item(self: Tensor, index: Any, value: Any) -> None:
    """Write `value`, broadcast and cast to the tensor's dtype, where `index` reads; through views, with history."""
    self._check_writable()
    part, selectors = _walk(self, index)
    source = value if isinstance(value, Tensor) else from_data(value, self.dtype, None, False)
    variable = source._current()
    if variable.aval.dtype is not self.dtype:
        variable = cast(variable, self.dtype)
    if not selectors:
        part._write(_copied(part, variable))
        return
    if len(selectors) == 1 and _is_mask(selectors[0][1]) and _fits_mask(part, selectors[0], source):
        dim, mask = selectors[0]
        (result,) = apply(TABLE["masked_set"], (part._current(), mask._current(), variable), (dim,))
    else:
        tensors, layout = _selection(part, selectors)
        inputs = (part._current(), *[t._current() for t in tensors], variable)
        (result,) = apply(TABLE["index_put"], inputs, (layout, False))
    part._write(result)


def _copied(target: Tensor, source: Variable) -> Variable:
    """Return `source` as the new content of `target`. A part that is set may be given with leading dimensions of 1."""
    shape = target.shape
    given = source.aval.shape
    while len(given) > len(shape) and given[0] == 1:
        (source,) = apply(TABLE["reshape"], (source,), (tuple(given[1:]),))
        given = given[1:]
    return apply(TABLE["copy_over"], (target._current(), source))[0]


def _walk(self: Tensor, index: Any) -> tuple[Tensor, list[tuple[int, Tensor]]]:
    """Apply what makes views; return the view and the tensors that select, each with the dimension where it stands."""
    items = index if isinstance(index, tuple) else (index,)
    if isinstance(index, list) and any(isinstance(x, (slice, Tensor, list, type(None), type(...))) for x in index):
        items = (index,) if all(isinstance(x, list) for x in index) else tuple(index)
    items = [_tensor_index(item) for item in items]
    consumed = sum(_consumes(item) for item in items)
    if consumed > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    part, dim, selectors = self, 0, []
    for item in items:
        if isinstance(item, Tensor):
            selectors.append((dim, item))
            dim += _consumes(item)
        elif item is Ellipsis:
            dim += self.ndim - consumed
        elif item is None:
            part = call(TABLE["unsqueeze"], (part,), (dim,))
            dim += 1
        elif isinstance(item, slice):
            part = _slice(part, dim, item)
            dim += 1
        elif isinstance(item, bool):
            part = call(TABLE["unsqueeze"], (part,), (dim,))
            selectors.append((dim, from_host(np.zeros(int(item), np.int64))))
            dim += 1
        else:
            part = _select(part, dim, item)
    return part, selectors


def _tensor_index(item: Any) -> Any:
    """Return lists, arrays and numpy's ints as the tensors and ints that they mean."""
    if item is None or item is Ellipsis or isinstance(item, (slice, bool, int, Tensor)):
        return item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, (list, tuple, range, np.ndarray)):
        listed = from_data(list(item) if isinstance(item, range) else item, None, None, False)
        return listed if listed.shape.numel() else listed.to(dtypes.int64)
    if hasattr(item, "__index__"):
        return item.__index__()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(item).__name__})"
    )


def _is_mask(tensor: Tensor) -> bool:
    return tensor.dtype in (dtypes.bool_, dtypes.uint8)


def _consumes(item: Any) -> int:
    if isinstance(item, Tensor):
        return item.ndim if _is_mask(item) else 1
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


def _select(part: Tensor, dim: int, index: int) -> Tensor:
    shape = part.shape
    if not shape:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    size = shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return call(TABLE["select"], (part, index if index >= 0 else index + size), (dim,))


def _slice(part: Tensor, dim: int, item: slice) -> Tensor:
    size = part.shape[dim]
    if item.start is None and item.stop is None and item.step is None:
        return part
    step = 1 if item.step is None else int(item.step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    first, last = (None if x is None else int(x) for x in (item.start, item.stop))
    start, stop, step = slice(first, last, step).indices(size)
    length = max(0, -(-(stop - start) // step))
    if length == size and step == 1:
        return part
    return call(TABLE["slice"], (part, start), (dim, length, step))


def _selection(part: Tensor, selectors: Sequence[tuple[int, Tensor]]) -> tuple[list[Tensor], tuple[int | None, ...]]:
    """Return the integer tensors, and which of them (or none) indexes each dimension; masks are read for their places."""
    tensors: list[Tensor] = []
    layout: list[int | None] = []
    for dim, selector in selectors:
        layout += [None] * (dim - len(layout))
        for places in _places(part, dim, selector):
            layout.append(len(tensors))
            tensors.append(places)
    return tensors, tuple(layout)


def _places(part: Tensor, dim: int, selector: Tensor) -> list[Tensor]:
    if not _is_mask(selector):
        if selector.dtype.is_floating_point or selector.dtype.is_complex:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return [selector]
    _check_mask(part, dim, selector)
    if selector.ndim == 0:
        raise IndexError("a 0-d boolean tensor cannot select dimensions; use a Python bool")
    found = np.nonzero(to_host(selector))
    return [from_host(places.astype(np.int64), device=selector.device) for places in found]


def _check_mask(part: Tensor, dim: int, mask: Tensor) -> None:
    for d, length in enumerate(mask.shape):
        if length != part.shape[dim + d]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {d} does not match the shape of the indexed tensor "
                f"{list(part.shape)} at index {dim + d}"
            )


def _fits_mask(part: Tensor, selector: tuple[int, Tensor], source: Tensor) -> bool:
    """Tell whether x[mask] = source needs no look at the mask: the source does not count the selected places."""
    dim, mask = selector
    _check_mask(part, dim, mask)
    after = part.ndim - dim - mask.ndim
    return mask.dtype is dtypes.bool_ and (source.ndim <= after or source.shape.numel() == 1)
