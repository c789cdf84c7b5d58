"""Which rows of the table treat each element alone."""

from __future__ import annotations

from funcgrad._ops.table import TABLE

_FILES = ("activation", "arithmetic", "bessel", "bounds", "comparison", "pointwise", "powers", "special")
_NOT_ALONE = {"glu", "prelu", "isin"}

ALONE = {
    op for op in TABLE.values() if op.function.__module__.rpartition(".")[2] in _FILES and op.name not in _NOT_ALONE
}
