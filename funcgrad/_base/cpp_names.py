"""What torch's C++ side calls the dtypes, which its messages, its old types and its files do too: int64 is a Long."""

from __future__ import annotations

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType

# Those that have a type of tensors and of storages of their own: torch.LongTensor, torch.LongStorage.
TYPE_NAMES = {
    dtypes.float32: "Float", dtypes.float64: "Double", dtypes.float16: "Half", dtypes.bfloat16: "BFloat16",
    dtypes.int64: "Long", dtypes.int32: "Int", dtypes.int16: "Short", dtypes.int8: "Char", dtypes.uint8: "Byte",
    dtypes.bool_: "Bool", dtypes.complex64: "ComplexFloat", dtypes.complex128: "ComplexDouble",
}  # fmt: skip
_SCALAR_NAMES = {**TYPE_NAMES, dtypes.uint16: "UInt16", dtypes.uint32: "UInt32", dtypes.uint64: "UInt64"}
_C_NAMES = {
    dtypes.float32: "float", dtypes.float64: "double", dtypes.float16: "c10::Half", dtypes.bfloat16: "c10::BFloat16",
    dtypes.int64: "long int", dtypes.int32: "int", dtypes.int16: "short int", dtypes.int8: "signed char",
    dtypes.uint8: "unsigned char", dtypes.uint16: "short unsigned int", dtypes.uint32: "unsigned int",
    dtypes.uint64: "long unsigned int", dtypes.bool_: "bool", dtypes.complex64: "c10::complex<float>",
    dtypes.complex128: "c10::complex<double>",
    **{kind: f"c10::{kind.name.capitalize()}" for kind in dtypes.ALL if kind.name.startswith("float8")},
}  # fmt: skip

_LEGACY = frozenset(("Float", "Double", "Half", "Long", "Int", "Short", "Char", "Byte"))


def tensor_type_name(dtype: DType) -> str:
    """Return what messages call the type of tensors on the CPU: torch.LongTensor; CPUBoolType, as for later dtypes."""
    name = scalar_type_name(dtype)
    return f"torch.{name}Tensor" if name in _LEGACY else f"CPU{name}Type"


def scalar_type_name(dtype: DType) -> str:
    """Return the name of the scalar type: Long, Float, ..."""
    return _SCALAR_NAMES.get(dtype, dtype.name)


def c_type_name(dtype: DType) -> str:
    """Return the name of the type in C++: long int, float, ..."""
    return _C_NAMES.get(dtype, dtype.name)
