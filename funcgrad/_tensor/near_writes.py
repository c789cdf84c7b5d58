"""Writing into numbers that are near, that is, that the host still has: numpy does it at once, nothing is recorded.

A table filled in by a loop, `counts[label, guess] += 1`, would otherwise be a program of thousands of instructions
that XLA compiles once, slowly, and nobody runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index as index_of
from sys import getrefcount
from typing import Any

import jax
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.config import settings
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.promotion import can_cast
from funcgrad._ops.table import TABLE, Op
from funcgrad._program.value import CONSTANT, SHARED, Seen, Value, of_array
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import View, write
from funcgrad._tensor.call import call_in_place
from funcgrad._tensor.data import from_data
from funcgrad._tensor.interop import host_numbers
from funcgrad._tensor.refused_numbers import is_held
from funcgrad._tensor.tensor import Tensor

Numbers = np.ndarray[Any, Any]

_COPIED = 1 << 20  # bytes; what is larger is written where it is, if nobody else has it
_COPIED_AGAIN = 1 << 16  # bytes of what programs read in between, and would be given anew each time
_ALL = slice(None)


def set_near(target: Tensor, index: Any, value: Any) -> bool:
    """Do target[index] = value on the host; False, and nothing done, where that is not the host's or not plain."""
    places = None if settings.eager or target._variable.node is not None else _places(index)
    if places is None or (
        any(map(_is_array, places)) and isinstance(value, Tensor) and value.dtype is not target.dtype
    ):
        return False  # what tensors select takes numbers of its own dtype
    return _change(target, value, lambda part, numbers: part.__setitem__(places, numbers))


def call_in_place_near(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...] = ()) -> Any:
    """Do what `call_in_place` does: on the host where the first tensor is a view of numbers that the host has."""
    target = inputs[0]
    if isinstance(target, Tensor) and type(target._alias) is View and len(inputs) == 2 and not settings.eager:
        compute = IN_PLACE[op]

        def change(part: Numbers, numbers: Any) -> None:
            result = compute(part, numbers)
            if np.result_type(result) != part.dtype or np.shape(result) != part.shape:
                raise ValueError
            part[...] = result

        if _change(target, inputs[1], change):
            return target
    return call_in_place(op, inputs, statics)


def is_same_place(part: Tensor, source: Any) -> bool:
    """Tell whether `source` is this very part of the same tensor, as in `x[i] += 1`, which then writes x[i] to x[i]."""
    if part._variable.node is not None or not isinstance(source, Tensor):
        return False
    while type(part._alias) is View and type(source._alias) is View:
        one, other = part._alias, source._alias
        if (one.op, one.inputs, one.statics) != (other.op, other.inputs, other.statics):
            return False
        part, source = one.base, other.base
    return part is source


def _change(target: Tensor, value: Any, change: Callable[[Numbers, Any], None]) -> bool:
    """Let `change` write `value` into target's part of its storage; False, and nothing done, where it cannot."""
    base, views = _storage(target)
    if target._variable.node is not None or not _is_open(base):
        return False
    numbers = _given(value, target._variable.aval.dtype)
    whole = None if numbers is None else _writable(base)
    if whole is None:
        return False
    part = whole
    for view in reversed(views):
        part = _PARTS[view.op](part, *view.inputs, *view.statics)
    try:
        with np.errstate(all="ignore"):
            change(part, numbers)
    except (IndexError, OverflowError, TypeError, ValueError):
        return False  # recorded, it raises torch's error
    write(base, Variable(of_array(whole)))
    return True


def _storage(target: Tensor) -> tuple[Tensor, list[View]]:
    """Return the tensor that owns what `target` shows, and the views that lead there, the last one first."""
    views: list[View] = []
    while type(target._alias) is View and target._alias.op in _PARTS:
        views.append(target._alias)
        target = target._alias.base
    return target, views


def _is_open(base: Tensor) -> bool:
    """Tell whether the host has the numbers behind a tensor that is no view of another, and nothing depends on them."""
    if type(base._alias) is View or base._current().node is not None or base._made_in_inference:
        return False
    value = base._variable.value
    return value.slot is not SHARED and value.aval.placement is None and _is_here(value)


def _is_here(value: Value) -> bool:
    if type(value) is not Value:
        return False
    if value.array is None:
        return value.program is CONSTANT and value.slot.host is not None
    return type(value.array) is np.ndarray


def _writable(base: Tensor) -> Numbers | None:
    """Return the numbers as an array of our own: a copy; where they are large, themselves if nobody else has them."""
    value = base._variable.value
    if value.array is None:
        return value.slot.host()
    if value.aval.nbytes <= (_COPIED_AGAIN if type(value.slot) is Seen else _COPIED):
        return np.array(value.array)
    del value
    return base._variable.value.array if _holders(base) == _ALONE else None


def _holders(base: Tensor) -> tuple[int, int, int]:
    """Return how many hold the Variable, the Value and the array behind a tensor (with those who count)."""
    variable = base._variable
    value = variable.value
    array = value.array
    return getrefcount(variable), getrefcount(value), getrefcount(array)


_ALONE = _holders(Tensor._of(Variable(of_array(np.zeros(1)))))


def _places(index: Any) -> Any:
    """Return a numpy index that means the same, or None: for what numpy reads otherwise, or is not yet known."""
    items = index if isinstance(index, tuple) else (index,)
    places = [_place(item) for item in items]
    if any(place is _UNKNOWN for place in places):
        return None
    if any(map(_is_array, places)) and not _selects_plainly(places):
        return None
    return tuple(places)


def _is_array(place: Any) -> bool:
    return isinstance(place, np.ndarray)


_UNKNOWN = object()


def _selects_plainly(places: list[Any]) -> bool:
    """Tell whether one tensor selects, with nothing but slices around it: there numpy and torch agree."""
    kinds = [type(place) for place in places]
    return kinds.count(np.ndarray) == 1 and kinds.count(slice) == len(kinds) - 1


def _place(item: Any) -> Any:
    if type(item) is int or item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        try:
            parts = [x if x is None or type(x) is int else index_of(x) for x in (item.start, item.stop, item.step)]
        except TypeError:
            return _UNKNOWN
        return _UNKNOWN if parts[2] is not None and parts[2] <= 0 else slice(*parts)
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, Tensor) and item.dtype in (dtypes.int64, dtypes.bool_):
        value = item._current().value
        if _is_here(value) and (item.ndim or item.dtype is dtypes.int64):
            return host_numbers(value) if item.ndim else int(item)
    return _UNKNOWN


def _given(value: Any, dtype: DType) -> Any:
    """Return what is to be written, if the host has it, as a number or array that `dtype` can hold."""
    if type(value) in (bool, int, float):
        is_kept = dtype.is_differentiable if type(value) is float else True
        return value if is_kept and is_held(value, dtype) else None
    if (type(value) is complex and not dtype.is_complex) or not is_assignable(value):
        return None
    variable = (value if isinstance(value, Tensor) else from_data(value, dtype, None, False))._current()
    fits = can_cast(variable.aval.dtype, dtype) and variable.node is None and _is_here(variable.value)
    return host_numbers(variable.value) if fits else None


def is_assignable(value: Any) -> bool:
    """Tell whether `x[i] = value` takes it: a tensor, an array of JAX, a number that is Python's or whole."""
    return isinstance(value, (Tensor, jax.Array, int, float, complex, np.integer))


def _selected(whole: Numbers, place: int, dim: int) -> Numbers:
    return whole[(*[_ALL] * dim, place, ...)]


def _sliced(whole: Numbers, start: int, dim: int, length: int, step: int = 1, *_: str) -> Numbers:
    return whole[(*[_ALL] * dim, slice(start, start + length * step, step))]


_PARTS: dict[Op, Callable[..., Numbers]] = {
    TABLE["select"]: _selected,
    TABLE["slice"]: _sliced,
    TABLE["alias"]: lambda whole: whole,
    TABLE["whole"]: lambda whole: whole,
}
IN_PLACE: dict[Op, Callable[[Numbers, Any], Any]] = {
    TABLE["add"]: np.add,
    TABLE["sub"]: np.subtract,
    TABLE["mul"]: np.multiply,
    TABLE["fill"]: lambda part, number: np.full_like(part, number),
}
