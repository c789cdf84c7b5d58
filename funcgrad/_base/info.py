"""finfo and iinfo: the limits of a dtype."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from funcgrad._base import dtypes


class finfo:  # noqa: N801 - torch's own spelling
    """The limits of a floating-point dtype (default: the default dtype)."""

    def __init__(self, type: Any = None) -> None:
        kind = type or dtypes.get_default_dtype()
        if not (kind.is_floating_point or kind.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        known = ml_dtypes.finfo(kind.to_real().numpy)
        self.bits, self.dtype = known.bits, kind.to_real().name
        self.eps, self.max, self.min, self.tiny = (float(x) for x in (known.eps, known.max, known.min, known.tiny))
        self.smallest_normal, self.resolution = self.tiny, 10.0 ** -math.floor(known.nmant * math.log10(2))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801 - torch's own spelling
    """The limits of an integer dtype."""

    def __init__(self, type: Any) -> None:
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        known = np.iinfo(type.numpy)
        self.bits, self.max, self.min, self.dtype = known.bits, int(known.max), int(known.min), type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
