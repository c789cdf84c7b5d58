"""Dtypes of quantised tensors: integers that stand for multiples of a scale, counted from a zero point."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base.dtypes import INTEGER, dtype
from funcgrad._base.layouts import Word


class quantized_dtype(dtype):  # noqa: N801 - as dtype
    """A dtype of quantised tensors; `numpy` holds its integers, which lie between `lowest` and `highest`."""

    __slots__ = ("highest", "lowest")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name, self.numpy, self.category = name, np.dtype(numpy), INTEGER
        self.itemsize = self.numpy.itemsize
        self.lowest, self.highest = int(np.iinfo(numpy).min), int(np.iinfo(numpy).max)


class qscheme(Word):  # noqa: N801 - torch's own spelling
    """How the integers stand for numbers."""

    __slots__ = ()


qint8, quint8, qint32 = quantized_dtype("qint8", "i1"), quantized_dtype("quint8", "u1"), quantized_dtype("qint32", "i4")
per_tensor_affine, per_tensor_symmetric = qscheme("per_tensor_affine"), qscheme("per_tensor_symmetric")
