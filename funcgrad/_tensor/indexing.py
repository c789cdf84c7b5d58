"""x[...] and x[...] = y in all of torch's index language: ints, slices, None, Ellipsis, places, masks, mixed.

Ints, slices and None make views, one torch node each; tensors select elements, all in one call at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import index as index_of
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import c_type_name, scalar_type_name
from funcgrad._base.naming import c_class_name
from funcgrad._base.warning import warn
from funcgrad._ops.conditions import are_indices
from funcgrad._ops.table import TABLE
from funcgrad._ops.views import expanded_size
from funcgrad._program.record import numbers_of
from funcgrad._program.value import Aval, Recipe, aval, constant, of_array
from funcgrad._program.waiting import on_host
from funcgrad._tape.apply import apply
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import refuse_repeated, show
from funcgrad._tensor.call import call, cast
from funcgrad._tensor.creation import full
from funcgrad._tensor.data import from_data
from funcgrad._tensor.interop import from_host, host_numbers, is_on_host, is_short_text
from funcgrad._tensor.near import call_near
from funcgrad._tensor.near_writes import is_assignable, is_same_place, set_near
from funcgrad._tensor.refused_numbers import check_filling, check_fits, require
from funcgrad._tensor.selected_later import move_selected, selected_later
from funcgrad._tensor.selecting import check_mask, is_mask, require_integers, selection
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_discarded

_ALL = slice(None)
_NO_DIMENSION = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
    "tensor to a number"
)
_NUMBERS = (int, float, bool, complex)
_LONG = 32  # numpy's old bound on dimensions: a list of so many is no tuple of indices
_PLAIN = {int, slice}  # what is between the brackets most often, and means what it says
_BOUNDS = {int, type(None)}  # likewise of a slice
_PARTS = (slice, Tensor, list, tuple, range, np.ndarray, type(None), type(...))


def get_item(self: Tensor, index: Any) -> Tensor:
    """Return the part of the tensor that `index` names: a view, or a copy where a tensor indexes.

    Raises IndexError for an index out of range, too many indices, or a mask of another shape.
    """
    if type(index) is int:
        return _select(self, 0, index, 0)
    part, selectors = _walk(self, index) if type(index) is not slice else (part_of(self, 0, index), [])
    if not selectors:
        return call(TABLE["whole" if type(index) is slice else "alias"], (part,)) if part is self else part
    if len(selectors) == 1 and is_mask(selectors[0][1]):
        later = selected_later(part, *selectors[0])
        if later is not None:
            return later
    tensors, layout = selection(part, selectors)
    return call(TABLE["index"], (part, *tensors), (layout,))


def set_item(self: Tensor, index: Any, value: Any) -> None:
    """Write `value`, broadcast and cast to the tensor's dtype, where `index` reads; through views, with history."""
    if type(index) is bool:  # all of it, or nothing, as torch has it for these alone
        if not index:
            return
        index = None
    if set_near(self, index, value):
        return
    part, selectors = _walk(self, index)
    part._check_writable()
    if selectors:
        if len(selectors) == 1 and move_selected(part, *selectors[0], value):
            return
        source = _source(self, value, selects=True)
        if len(selectors) == 1 and selectors[0][1].dtype is dtypes.uint8 and source.shape.numel() == 1:
            check_mask(part, *selectors[0])
            raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
        if source.dtype is not self.dtype:
            _require_dtype(self, source, len(selectors) == 1 and is_mask(selectors[0][1]))
        _put(part, selectors, source, accumulate=False)
        return
    if is_same_place(part, value):
        return
    source = _source(self, value, selects=False)
    refuse_repeated(part)
    part._write(_copied(part, source) if isinstance(source, Tensor) else _filled(part, source))


def put_at(self: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool) -> Tensor:
    """Write (or add) `values` where tensors of places select; None stands for a whole dimension."""
    part, selectors = _walk(self, tuple(_ALL if x is None else x for x in indices))
    _require_dtype(self, values)
    if selectors:
        _put(part, selectors, values, accumulate)
    else:
        part._write(_copied(part, part + values if accumulate else values))
    return self


def _require_dtype(self: Tensor, source: Tensor, by_mask: bool = False) -> None:
    """RuntimeError for what is not of the tensor's dtype. One number may be, by a mask, unless it is complex."""
    if by_mask and source.shape.numel() == 1:
        if source.dtype.is_complex and not self.dtype.is_complex:
            raise RuntimeError(f"value cannot be converted to type {c_type_name(self.dtype)} without overflow")
    elif source.dtype is not self.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {scalar_type_name(self.dtype)} for the "
            f"destination and {scalar_type_name(source.dtype)} for the source."
        )


def _source(self: Tensor, value: Any, *, selects: bool) -> Any:
    """Return the tensor to write, or a number that the tensor's dtype can hold."""
    if isinstance(value, Tensor):
        return value
    if type(value) is complex and not self.dtype.is_complex:
        check_fits(value, self.dtype)
        value = bool(value) if self.dtype is dtypes.bool_ else value.real
    if type(value) in _NUMBERS:
        check_filling(value, self.dtype)
        return full((), value, dtype=self.dtype, device=self.device) if selects else value
    if not is_assignable(value):
        raise TypeError(f"can't assign a {c_class_name(value)} to a {self.type()}")
    return from_data(value, self.dtype, self.device, False)


def _filled(part: Tensor, number: complex) -> Variable:
    return apply(TABLE["fill"], (part._current(), number))[0]


def _put(part: Tensor, selectors: list[tuple[int, Tensor]], source: Tensor, accumulate: bool) -> None:
    variable = source._current()
    if variable.aval.dtype is not part.dtype:
        variable = cast(variable, part.dtype)
    if not accumulate and len(selectors) == 1 and is_mask(selectors[0][1]) and _fits_mask(part, selectors[0], source):
        dim, mask = selectors[0]
        (result,) = apply(TABLE["masked_set"], (part._current(), mask._current(), variable), (dim,))
    else:
        tensors, layout = selection(part, selectors)
        inputs = (part._current(), *[t._current() for t in tensors], variable)
        (result,) = apply(TABLE["index_put"], inputs, (layout, accumulate))
    part._write(result)


def _copied(target: Tensor, source: Tensor) -> Variable:
    """Return `source` as the new content of `target`. A part that is set may be given with leading dimensions of 1."""
    variable, shape = source._current(), target.shape
    given = variable.aval.shape
    while len(given) > len(shape) and given[0] == 1:
        (variable,) = apply(TABLE["reshape"], (variable,), (tuple(given[1:]),))
        given = given[1:]
    if given != shape:
        expanded_size(given, shape, variable.aval.dtype)  # refuses what does not fit
    warn_of_discarded(variable.aval.dtype, target.dtype)
    return apply(TABLE["copy_over"], (target._current(), variable))[0]


def _walk(self: Tensor, index: Any) -> tuple[Tensor, list[tuple[int, Tensor]]]:
    """Apply what makes views; return the view and the tensors that select, each with the dimension where it stands."""
    items = index if type(index) is tuple else (index,)
    if {type(item) for item in items} <= _PLAIN:
        consumed = len(items)
    else:
        items = _items(index)
        consumed = sum(_consumes(item) for item in items)
    if type(index) is int and not self.ndim:
        raise IndexError(_NO_DIMENSION)
    if consumed > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    part, dim, selectors = self, 0, []
    for position, item in enumerate(items):
        if item is Ellipsis:
            dim += self.ndim - consumed
        elif item is None or isinstance(item, bool):
            part = call_near(TABLE["unsqueeze"], (part,), (dim,))
            if item is not None:
                selectors.append((dim, from_host(np.zeros(int(item), np.int64), device=self.device)))
            dim += 1
        elif isinstance(item, slice):
            part = part_of(part, dim, item)
            dim += 1
        elif isinstance(item, Tensor) and item.ndim > 0:
            selectors.append((dim, item))
            dim += _consumes(item)
        else:
            part = _select(part, dim, item, position)
    return part, selectors


def _items(index: Any) -> list[Any]:
    """Return what stands between the brackets, part by part; a short list of lists or slices is read as a tuple."""
    if isinstance(index, list) and len(index) < _LONG and any(isinstance(x, _PARTS) for x in index):
        warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
            "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
            "x[torch.tensor(seq)], which will result either in an error or a different result"
        )
        index = tuple(index)
    return [_tensor_index(item) for item in (index if isinstance(index, tuple) else (index,))]


def _tensor_index(item: Any) -> Any:
    """Return lists, arrays and numpy's ints as the tensors and ints that they mean."""
    if isinstance(item, Tensor):
        if item.dtype is dtypes.uint8:
            warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
        return bool(item) if item.ndim == 0 and is_mask(item) else item
    if item is None or item is Ellipsis or isinstance(item, (slice, bool, int)):
        return item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, (list, tuple, range, np.ndarray)):
        listed = from_data(list(item) if isinstance(item, range) else item, None, None, False)
        if listed.ndim == 0 and is_mask(listed):
            return bool(listed)
        is_of_places = listed.shape.numel() and not listed.dtype.is_floating_point
        return listed if is_of_places else listed.to(dtypes.int64)
    if hasattr(item, "__index__"):
        return item.__index__()
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {c_class_name(item)})"
    )


def _consumes(item: Any) -> int:
    if isinstance(item, Tensor):
        return item.ndim if is_mask(item) else 1
    return 0 if item is None or item is Ellipsis or isinstance(item, bool) else 1


def _select(part: Tensor, dim: int, index: Any, position: int) -> Tensor:
    """Return the view of one place of a dimension. position: where between the brackets it stands, as errors say."""
    variable = part._current()
    shape = variable.value.aval.shape
    if not shape:
        raise IndexError(_NO_DIMENSION)
    size = shape[dim] if dim < len(shape) else 0  # beyond the last where `...` stands twice
    if isinstance(index, Tensor):
        require_integers(index)
        require(are_indices, index, part, dim, position)
        return call(TABLE["select_at"], (part, index), (dim,))
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {position} with size {size}")
    place = index if index >= 0 else index + size
    if variable.node is None and is_on_host(variable.value):
        return _taken_on_host(part, variable, place, dim)
    return call(TABLE["select"], (part, place), (dim,))


def _taken_on_host(part: Tensor, variable: Variable, place: int, dim: int) -> Tensor:
    """Return x[i] of numbers that the host has: taken there when they are asked for, an instruction in what reads it.

    So a loop over data, `for label in labels: count[int(label)] += 1`, runs nothing and leaves nothing in the program.
    """
    op, whole = TABLE["select"], variable.value

    def host() -> np.ndarray[Any, Any]:
        return np.array(on_host(numbers_of(whole))[(*[_ALL] * dim, place)])  # by now they may be on the GPU

    taken = Tensor._of(Variable(constant(Recipe(op, (whole, place), (dim,), host), _without(whole.aval, dim))))
    show(taken, part, op, (place,), (dim,), variable)
    return taken


@lru_cache(maxsize=4096)
def _without(known: Aval, dim: int) -> Aval:
    """Return what is known of one place of a dimension. Cached: data sets are taken apart sample by sample."""
    return aval(known.shape[:dim] + known.shape[dim + 1 :], known.dtype.numpy)


def slice_of(whole: Tensor, dim: int, item: slice) -> Tensor:
    """Return the view of a slice of one dimension: another name, be it for all of it. ValueError as `part_of`."""
    part = part_of(whole, dim, item)
    return call(TABLE["whole"], (whole,)) if part is whole else part


def part_of(part: Tensor, dim: int, item: slice) -> Tensor:
    """Return the view of a slice of one dimension, or `part` itself. ValueError for a step that is not positive."""
    variable = part._current()
    shape = variable.value.aval.shape
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if item == _ALL:
        return part
    size = shape[dim]
    first, last, step = item.start, item.stop, item.step
    if not {type(first), type(last), type(step)} <= _BOUNDS:
        try:
            first, last, step = (None if x is None else index_of(x) for x in (first, last, step))
        except TypeError:
            raise TypeError("slice indices must be integers or None or have an __index__ method") from None
    step = 1 if step is None else step
    if step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    start, stop, step = slice(first, last, step).indices(size)
    length = max(0, -(-(stop - start) // step))
    if length == size and step == 1:
        return part
    if first is not None and first < 0 and last is None and is_short_text(variable):
        return _end_on_host(part, variable, dim, start, step)
    return call(TABLE["slice"], (part, start), (dim, length, step))


def _end_on_host(part: Tensor, variable: Variable, dim: int, start: int, step: int) -> Tensor:
    """Return x[-n:] of whole numbers that the host has: what reads the end of a growing text is always one program."""
    end = host_numbers(variable.value)[(*[_ALL] * dim, slice(start, None, step))]  # type: ignore[index]  # it has them
    taken = Tensor._of(Variable(of_array(end)))
    show(taken, part, TABLE["slice"], (start,), (dim, end.shape[dim], step), variable)
    return taken


def _fits_mask(part: Tensor, selector: tuple[int, Tensor], source: Tensor) -> bool:
    """Tell whether x[mask] = source needs no look at the mask: the source fits, and does not count the places."""
    dim, mask = selector
    check_mask(part, dim, mask)
    after = part.ndim - dim - mask.ndim
    if mask.dtype is not dtypes.bool_ or (source.ndim > after and source.shape.numel() > 1):
        return False
    return all(n in (1, wanted) for n, wanted in zip(reversed(source.shape), reversed(part.shape), strict=False))
