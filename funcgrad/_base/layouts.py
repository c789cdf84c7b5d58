"""torch.layout and torch.memory_format: how elements are kept, and in which order torch's would lie in memory."""

from __future__ import annotations

from typing import Any

from funcgrad._base.naming import WrittenInC


class Word(metaclass=WrittenInC):
    """One of a few named constants: unique, so compared by identity."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(Word):  # noqa: N801 - torch's own spelling
    """How the elements are kept: strided, in one of the sparse ways, or jagged."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return layout_named, (repr(self),)


def layout_named(name: str) -> layout:
    """Return the layout of a name such as "torch.sparse_coo". RuntimeError where there is none."""
    found = _LAYOUTS.get(name)
    if found is None:
        raise RuntimeError(f"there is no layout {name!r}")
    return found


class memory_format(Word):  # noqa: N801 - torch's own spelling
    """The order of the dimensions in memory that a script asks for. It is told by `stride()`; XLA chooses its own."""

    __slots__ = ()


strided = layout("strided")
sparse_coo, sparse_csr, sparse_csc = layout("sparse_coo"), layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc, jagged = layout("sparse_bsr"), layout("sparse_bsc"), layout("jagged")
contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")
_LAYOUTS = {repr(x): x for x in (strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, jagged)}
ORDERS = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}  # of the dimensions in memory


def require_format(given: object, function: str, rank: int) -> None:
    """TypeError for what is no memory format, RuntimeError for one that a tensor of so many dimensions cannot have."""
    if not isinstance(given, memory_format):
        kind = type(given).__name__
        raise TypeError(f"{function}(): argument 'memory_format' must be torch.memory_format, not {kind}")
    if not fits(given, rank):
        raise RuntimeError(f"required rank {len(ORDERS[given])} tensor to use {given.name} format")


def fits(given: memory_format, rank: int) -> bool:
    """Tell whether a tensor of so many dimensions can have a memory format."""
    return given not in ORDERS or len(ORDERS[given]) == rank
