"""What stands between brackets, dtypes, and how tensors are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as Dtype
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.composed.rules import RULES, Rule, rule

_END = 2**63 - 1

# Places


@rule("__getitem__")
def _get(aten: Any, self: Tensor, index: Any) -> Any:
    found = _selected(aten, self, index)
    if found is None:
        return NotImplemented
    view, places = found
    if places:
        return aten.index(view, places)
    return aten.alias(view) if view is self else view


@rule("__setitem__")
def _set(aten: Any, self: Tensor, index: Any, value: Any) -> Any:
    is_number = not isinstance(value, Tensor)
    if (is_number and not isinstance(value, (int, float, complex))) or not _is_known(index):
        return NotImplemented
    if is_number:
        value = aten.lift_fresh(self.new_tensor(value))
    view, places = _selected(aten, self, index)
    if places:
        aten.index_put_(view, places, value)
    elif is_number:
        aten.fill_(view, value)
    else:
        aten.copy_(view, value)
    return None


def _parts(self: Tensor, index: Any) -> list[Any]:
    parts = list(index) if isinstance(index, tuple) else [index]
    used = sum(_dims_of(part) for part in parts)
    if not any(part is ... for part in parts):
        return parts
    at = next(i for i, part in enumerate(parts) if part is ...)
    return [*parts[:at], *[_ALL] * (self.ndim - used), *parts[at + 1 :]]


_ALL = object()


def _dims_of(part: Any) -> int:
    if part is None or part is ...:
        return 0
    return part.ndim if isinstance(part, Tensor) and part.dtype in (dtypes.bool_, dtypes.uint8) else 1


def _is_known(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    kinds = (int, slice, Tensor, type(None), type(...), list)
    return not any(isinstance(part, bool) or not isinstance(part, kinds) for part in parts)


def _selected(aten: Any, self: Tensor, index: Any) -> Any:
    """Return the view that numbers, slices and None select, and the tensors of places that are left; None: others."""
    if not _is_known(index):
        return None
    view, dim, places = self, 0, []
    for part in _parts(self, index):
        if part is None:
            view = aten.unsqueeze(view, dim)
        elif isinstance(part, int):
            view = aten.select(view, dim, part)
            continue
        elif isinstance(part, slice):
            view = _sliced(aten, view, dim, part, is_alone=not isinstance(index, tuple))
        elif part is not _ALL:
            tensor = aten.lift_fresh(self.new_tensor(part, dtype=dtypes.int64)) if isinstance(part, list) else part
            places += [None] * (dim - len(places)) + [tensor]
            dim += _dims_of(part) - 1
        dim += 1
    return view, places


def _sliced(aten: Any, view: Tensor, dim: int, part: slice, is_alone: bool) -> Any:
    size = view.shape[dim]
    whole = part.start in (None, 0) and (part.stop is None or part.stop >= size) and part.step in (None, 1)
    if whole and not is_alone:
        return view
    ends = (0 if part.start is None else int(part.start), _END if part.stop is None else int(part.stop))
    return aten.slice(view, dim, *ends, 1 if part.step is None else int(part.step))


@rule("item", "__bool__", "__int__", "__float__", "__index__", "__complex__", "is_nonzero")
def _item(aten: Any, self: Tensor) -> Any:
    aten._local_scalar_dense(self)
    return aten.silently(self)


# Dtypes and making


@rule("to")
def _to(aten: Any, self: Tensor, *args: Any, **kwargs: Any) -> Any:
    if (
        len(args) > 1
        or set(kwargs) - {"copy", "dtype", "non_blocking"}
        or not isinstance((*args, None)[0], (Dtype, type(None)))
    ):
        return NotImplemented if _is_moved(self, args, kwargs) else self
    wanted = kwargs.get("dtype") or (args[0] if args else None)
    if wanted in (None, self.dtype) and not kwargs.get("copy"):
        return self
    return aten._to_copy(self, dtype=wanted)


def _is_moved(self: Tensor, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return not (len(args) == 1 and not kwargs and isinstance(args[0], str) and str(self.device) == args[0])


def _cast(wanted: Dtype) -> Rule:
    def cast(aten: Any, self: Tensor, memory_format: Any = None) -> Any:
        return self if self.dtype == wanted else aten._to_copy(self, dtype=wanted)

    return cast


RULES.update(
    {name: _cast(getattr(dtypes, kind)) for name, kind in (
        ("double", "float64"), ("float", "float32"), ("half", "float16"), ("bfloat16", "bfloat16"), ("long", "int64"),
        ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"), ("bool", "bool_"),
    )}
)  # fmt: skip


@rule("type_as")
def _type_as(aten: Any, self: Tensor, other: Tensor) -> Any:
    return self if self.dtype == other.dtype else aten._to_copy(self, dtype=other.dtype)


@rule("type")
def _type(aten: Any, self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    if not isinstance(dtype, Dtype):
        return NotImplemented
    return self if self.dtype == dtype else aten._to_copy(self, dtype=dtype)


@rule("new_tensor")
def _new_tensor(aten: Any, *args: Any, **kwargs: Any) -> Any:
    return aten.silently(*args, **kwargs)


@rule("tensor")
def _tensor(aten: Any, *args: Any, **kwargs: Any) -> Any:
    made = aten.silently(*args, **kwargs)
    return aten.lift_fresh(made)


@rule("data")
def _data(aten: Any, self: Tensor, *value: Tensor) -> Any:
    return aten.silently(self, *value) if value else aten.detach(self)


@rule("constant_")
def _constant(aten: Any, tensor: Tensor, val: float) -> Any:
    with no_grad():
        return aten.fill_(tensor, val)
