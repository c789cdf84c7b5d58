"""In which order the bytes of a file's numbers lie where the file does not say so, as those of torch before 2.1."""

from __future__ import annotations

import sys
from enum import Enum


class LoadEndianness(Enum):
    """The order of this machine, the least significant byte first, or last."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Default:
    order: LoadEndianness | None = None


def get_default_load_endianness() -> LoadEndianness | None:
    """Return the order that is taken for a file that does not say; None: LITTLE."""
    return _Default.order


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the order that is taken for a file that does not say."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _Default.order = endianness


def default_order() -> str:
    """Return that order as `sys.byteorder` names it."""
    if _Default.order is LoadEndianness.NATIVE:
        return sys.byteorder
    return "big" if _Default.order is LoadEndianness.BIG else "little"
