"""torch.Size: a tuple of ints that prints as one and counts its elements."""

from __future__ import annotations

import math
from typing import Any

from funcgrad._base.naming import WrittenInC, c_class_name


class Size(tuple[int, ...], metaclass=WrittenInC):
    """A shape. Slicing and adding give a Size again."""

    __slots__ = ()

    def numel(self) -> int:
        """Return the number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]  # narrower result than tuple's
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {c_class_name(other)}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(tuple.__add__(tuple(other), self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Size:  # type: ignore[override]  # narrower result than tuple's
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)
