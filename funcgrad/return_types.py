"""torch.return_types: the named tuples that functions like `max(dim)`, `sort` and `linalg.svd` return."""

from __future__ import annotations

from typing import Any

from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import return_type
from funcgrad._tensor.histograms import HISTOGRAM, HISTOGRAMDD

_BY_NAME = {
    name.lstrip(".").replace(".", "_"): op
    for op in TABLE.values() if op.results
    for name in op.names or (op.public_name,)
}  # fmt: skip
histogram, histogram_out, histogramdd = HISTOGRAM, HISTOGRAM, HISTOGRAMDD
all_return_types = [HISTOGRAM, HISTOGRAMDD]


def __getattr__(name: str) -> Any:
    op = _BY_NAME.get(name.removesuffix("_out"))
    if op is None:
        raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
    return return_type(op)


def __dir__() -> list[str]:
    return sorted({*_BY_NAME, "histogram", "histogramdd"})
