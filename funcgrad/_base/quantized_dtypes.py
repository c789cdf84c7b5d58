"""Dtypes of quantised tensors: integers that stand for multiples of a scale, counted from a zero point."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base.dtypes import INTEGER, dtype
from funcgrad._base.layouts import Word


class quantized_dtype(dtype, called="torch.dtype"):  # noqa: N801 - as dtype
    """A dtype of quantised tensors; `integers` holds them, which lie between `lowest` and `highest`."""

    __slots__ = ("highest", "integers", "lowest")

    def __init__(self, name: str, integers: Any) -> None:
        self.name, self.integers, self.category = name, np.dtype(integers), INTEGER
        self.itemsize = self.integers.itemsize
        self.lowest, self.highest = int(np.iinfo(integers).min), int(np.iinfo(integers).max)

    @property
    def numpy(self) -> np.dtype[Any]:  # pyright: ignore[reportIncompatibleVariableOverride] - there is none
        """Refuse: integers without scale and zero point stand for nothing."""
        raise RuntimeError(
            f"torch.{self.name}: empty_strided not supported on quantized tensors yet; "
            "a quantized tensor is made by torch.quantize_per_tensor(input, scale, zero_point, dtype)"
        )

    @property
    def is_signed(self) -> bool:
        """Whether it has negative numbers."""
        return self.lowest < 0


class qscheme(Word):  # noqa: N801 - torch's own spelling
    """How the integers stand for numbers."""

    __slots__ = ()


qint8, quint8, qint32 = quantized_dtype("qint8", "i1"), quantized_dtype("quint8", "u1"), quantized_dtype("qint32", "i4")
per_tensor_affine, per_tensor_symmetric = qscheme("per_tensor_affine"), qscheme("per_tensor_symmetric")
per_channel_affine, per_channel_symmetric = qscheme("per_channel_affine"), qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
