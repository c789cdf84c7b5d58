"""The kinds of reductions."""

from __future__ import annotations

from enum import Enum
from typing import Any


class RedOpType(Enum):
    """How a reduction joins what the processes have."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __int__(self) -> int:
        return self.value


class _Members(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, RedOpType)


class ReduceOp(metaclass=_Members):
    """What holds the kinds of reductions: `ReduceOp.SUM`. Called with one of them it returns it."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN, MAX = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR, PREMUL_SUM = RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR, RedOpType.PREMUL_SUM

    def __new__(cls, op: RedOpType) -> Any:
        """Return the kind itself."""
        return op


reduce_op = ReduceOp
