"""torch.Size: a tuple of ints that prints as one and counts its elements."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index
from typing import Any, Self

from funcgrad._base.naming import WrittenInC, c_class_name


class Size(tuple[int, ...], metaclass=WrittenInC):
    """A shape. Slicing and adding give a Size again."""

    __slots__ = ()

    def __new__(cls, *sizes: Iterable[Any]) -> Self:
        """Return a Size of these, if any. TypeError: one is no whole number."""
        made = tuple.__new__(cls, *sizes)
        for size in made:
            if type(size) is not int:
                return tuple.__new__(cls, map(_checked, range(len(made)), made))
        return made

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return _new(Size, part) if isinstance(index, slice) else part

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]  # narrower result than tuple's
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {c_class_name(other)}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(tuple.__add__(tuple(other), self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Size:  # type: ignore[override]  # narrower result than tuple's
        return _new(Size, tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


delattr(Size, "__orig_bases__")  # a class that has them is a generic one to those who check types by hints

_new = tuple.__new__


def _checked(place: int, size: Any) -> Any:
    """Return a size as an int; one that is not known yet as it is."""
    kind = type(size)
    if kind is bool or hasattr(kind, "dtype"):  # numpy's whole numbers, and tensors
        return index(size)
    if kind is not int and kind.__module__ == "builtins":
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{kind.__name__}')")
    return size
