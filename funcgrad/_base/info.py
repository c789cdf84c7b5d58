"""finfo and iinfo: the limits of a dtype."""

from __future__ import annotations

import functools
import math
from typing import Any

import ml_dtypes
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.naming import WrittenInC, c_class_name
from funcgrad._base.quantized_dtypes import quantized_dtype


class _Limits:
    """What two of the same kind have in common: they are equal if they are of the same dtype, and have no hash."""

    dtype: str
    __hash__ = None  # type: ignore[assignment]  # as torch's

    def __eq__(self, other: object) -> bool:
        return self.dtype == other.dtype if isinstance(other, type(self)) else NotImplemented


class finfo(_Limits, metaclass=WrittenInC):  # noqa: N801 - torch's own spelling
    """The limits of a floating-point dtype (default: the default dtype)."""

    bits: int
    dtype: str
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, type: Any = None) -> None:
        kind = dtypes.get_default_dtype() if type is None else _checked("finfo", type)
        if not (kind.is_floating_point or kind.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        vars(self).update(_limits_of_floats(kind.to_real()))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits, metaclass=WrittenInC):  # noqa: N801 - torch's own spelling
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: str

    def __init__(self, type: Any) -> None:
        kind = _checked("iinfo", type)
        if kind.is_floating_point or kind.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if kind is dtypes.bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        vars(self).update(_limits_of_integers(kind))

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _checked(name: str, given: Any) -> dtypes.dtype:
    if isinstance(given, type) and given in dtypes.PYTHON_TYPES:
        return dtypes.PYTHON_TYPES[given]
    if not isinstance(given, dtypes.dtype):
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {c_class_name(given)}")
    return given


@functools.cache  # every bound of a clamp is held against them
def _limits_of_floats(kind: dtypes.dtype) -> dict[str, Any]:
    known = ml_dtypes.finfo(kind.numpy)
    limits = {name: float(getattr(known, name)) for name in ("eps", "max", "min", "tiny")}
    if kind is dtypes.float8_e5m2fnuz:
        limits["eps"] /= 2  # of two bits behind the point: as torch has it
    resolution = 10.0 ** -math.floor(known.nmant * math.log10(2))
    return {
        **limits, "bits": known.bits, "dtype": kind.name, "smallest_normal": limits["tiny"], "resolution": resolution,
    }  # fmt: skip


@functools.cache
def _limits_of_integers(kind: dtypes.dtype) -> dict[str, Any]:
    known = np.iinfo(kind.integers if isinstance(kind, quantized_dtype) else kind.numpy)
    return {"bits": known.bits, "max": int(known.max), "min": int(known.min), "dtype": kind.name}
