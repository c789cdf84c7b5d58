"""Short names of dtypes, by which logs and graphs show what a tensor is: f32[2, 3]."""

from __future__ import annotations

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype

__all__ = ["dtype_abbrs"]

_WORDS = {
    "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "float32": "f32",
    "float64": "f64", "complex32": "c32", "complex64": "c64", "complex128": "c128", "bool": "b8", "bfloat16": "bf16",
    "float8_e5m2": "f8e5m2", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e4m3fnuz": "f8e4m3fnuz", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float8_e8m0fnu": "f8e8m0fnu",
    "float4_e2m1fn_x2": "f4e2m1fnx2",
}  # fmt: skip
dtype_abbrs: dict[dtype, str] = {
    found: _WORDS[found.name] for found in vars(dtypes).values() if isinstance(found, dtype) and found.name in _WORDS
}
