"""torch's dtypes: what each is called, which numpy dtype holds it, and which category it belongs to."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from funcgrad._base.naming import WrittenInC

BOOL, INTEGER, FLOAT, COMPLEX = range(4)


class dtype(metaclass=WrittenInC):  # noqa: N801 - torch's own spelling
    """One element type. Instances are unique, so `is`, `==` and hashing are all by identity."""

    __slots__ = ("category", "itemsize", "name", "numpy")
    name: str
    numpy: np.dtype[Any]
    category: int
    itemsize: int

    def __init__(self, name: str, numpy: Any, category: int) -> None:
        self.name, self.numpy, self.category = name, np.dtype(numpy), category
        self.itemsize = self.numpy.itemsize
        _BY_NUMPY[self.numpy] = self

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a float of any size."""
        return self.category == FLOAT

    @property
    def is_complex(self) -> bool:
        """Whether it is complex."""
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        """Whether it has negative numbers."""
        return self.category >= FLOAT or self.numpy.kind == "i"

    @property
    def is_differentiable(self) -> bool:
        """Whether gradients go through it: floats and complex numbers."""
        return self.category >= FLOAT

    def to_real(self) -> dtype:
        """Return the dtype of this one's real part."""
        return {complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self) -> dtype:
        """Return the complex dtype whose parts have this precision."""
        return {float64: complex128, complex128: complex128}.get(self, complex64)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self.category == BOOL else self.name  # the name of the global below


_BY_NUMPY: dict[np.dtype[Any], dtype] = {}

bool_ = dtype("bool", np.bool_, BOOL)
uint8 = dtype("uint8", np.uint8, INTEGER)
int8 = dtype("int8", np.int8, INTEGER)
int16 = dtype("int16", np.int16, INTEGER)
int32 = dtype("int32", np.int32, INTEGER)
int64 = dtype("int64", np.int64, INTEGER)
uint16 = dtype("uint16", np.uint16, INTEGER)
uint32 = dtype("uint32", np.uint32, INTEGER)
uint64 = dtype("uint64", np.uint64, INTEGER)
float16 = dtype("float16", np.float16, FLOAT)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, FLOAT)
float32 = dtype("float32", np.float32, FLOAT)
float64 = dtype("float64", np.float64, FLOAT)
complex64 = dtype("complex64", np.complex64, COMPLEX)
complex128 = dtype("complex128", np.complex128, COMPLEX)
float8_e4m3fn = dtype("float8_e4m3fn", ml_dtypes.float8_e4m3fn, FLOAT)
float8_e5m2 = dtype("float8_e5m2", ml_dtypes.float8_e5m2, FLOAT)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, FLOAT)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, FLOAT)
float8_e8m0fnu = dtype("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu, FLOAT)

ALIASES = {
    "bool": bool_, "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
    "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
ALL = tuple(_BY_NUMPY.values())


def of_numpy(numpy_dtype: Any) -> dtype:
    """Return funcgrad's dtype for a numpy (or jax) dtype."""
    found = _BY_NUMPY.get(numpy_dtype)
    if found is None:
        found = _BY_NUMPY.get(np.dtype(numpy_dtype))
    if found is None:
        kind = np.dtype(numpy_dtype).type.__name__
        if np.dtype(numpy_dtype).newbyteorder("=") in _BY_NUMPY:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. Conversion between byte orders "
                "is currently not supported."
            )
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{kind}. The only supported types are: float64, float32, float16, "
            "complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    return found


class _Default:
    """The dtype of floats that name none: `set_default_dtype` changes it."""

    dtype: dtype = float32


def get_default_dtype() -> dtype:
    """Return the dtype that Python floats and float factories get."""
    return _Default.dtype


def set_default_dtype(new: dtype) -> None:
    """Set the dtype that Python floats and float factories get; only a floating one is taken."""
    if not (isinstance(new, dtype) and new.is_floating_point):
        which = "" if isinstance(new, dtype) else "invalid dtype object: "
        raise TypeError(f"{which}only floating-point types are supported as the default type")
    _Default.dtype = new


def of_number(number: complex) -> dtype:
    """Return the dtype of the tensor that holds one Python number."""
    if isinstance(number, bool):
        return bool_
    if isinstance(number, int):
        return int64
    return _Default.dtype.to_complex() if isinstance(number, complex) else _Default.dtype


PYTHON_TYPES: dict[type, dtype] = {
    float: float64,
    int: int64,
    bool: bool_,
    complex: complex128,
}  # what each is as a dtype
