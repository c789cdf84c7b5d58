"""Dtypes that torch has and no array here holds: code names them and compares with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base.dtypes import COMPLEX, FLOAT, INTEGER, dtype


class unheld_dtype(dtype, called="torch.dtype"):  # noqa: N801 - as dtype
    """A dtype with a name, a category and a size; TypeError where numbers are to have it."""

    __slots__ = ("signed",)

    def __init__(self, name: str, category: int, itemsize: int = 1) -> None:
        self.name, self.category, self.itemsize = name, category, itemsize
        self.signed = not name.startswith("u")

    @property
    def numpy(self) -> np.dtype[Any]:  # pyright: ignore[reportIncompatibleVariableOverride] - there is none
        """Refuse: no array has it."""
        raise TypeError(f"torch.{self.name} can be named, but no tensor can have it here")

    @property
    def is_signed(self) -> bool:
        """Whether it has negative numbers."""
        return self.signed


_INTEGERS = ("bits8", "bits1x8", "bits2x4", "bits4x2", "quint2x4", "quint4x2")
_complex32 = unheld_dtype("complex32", COMPLEX, 4)
BY_NAME: dict[str, dtype] = {
    "complex32": _complex32, "chalf": _complex32, "float4_e2m1fn_x2": unheld_dtype("float4_e2m1fn_x2", FLOAT),
    "bits16": unheld_dtype("bits16", INTEGER, 2), **{name: unheld_dtype(name, INTEGER) for name in _INTEGERS},
    **{name: unheld_dtype(name, INTEGER) for bits in range(1, 8) for name in (f"int{bits}", f"uint{bits}")},
}  # fmt: skip
globals().update(BY_NAME)  # where pickle looks for them
