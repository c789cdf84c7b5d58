"""What torch refuses: checks of dtypes and numbers of dimensions that several families of rows share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import c_type_name, scalar_type_name
from funcgrad._ops.table import Array, Dims


def scalar_name(array: Array) -> str:
    """Return torch's C++ name of the dtype, which its messages speak of: Long, Float, ..."""
    return scalar_type_name(dtypes.of_numpy(array.dtype))


def c_name(array: Array) -> str:
    """Return the dtype's name in C++, which torch's messages speak of now and then: long int, float, ..."""
    return c_type_name(dtypes.of_numpy(array.dtype))


def type_class_name(given: Array) -> str:
    """Return the name of the class that torch's older interface has for tensors like this."""
    name = scalar_name(given)
    return f"torch.{name}Tensor" if name in _OF_CLASSES else f"CPU{name}Type"


_OF_CLASSES = ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "BFloat16")


def no_kernel(kernel: str, array: Array) -> NotImplementedError:
    """Return torch's own error for an op that has no kernel for the dtype."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(array)}'")


def require_bounds(array: Array) -> None:
    """Raise torch's error for what is held between bounds and has no order: complex numbers."""
    if array.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")


def require_floating(array: Array, kernel: str) -> None:
    """Raise torch's error for an op that has no kernel for integers."""
    if array.dtype.kind in "biu":
        raise no_kernel(kernel, array)


def require_real(array: Array, kernel: str) -> None:
    """Raise torch's error for an op that has no kernel for complex numbers."""
    if array.dtype.kind == "c":
        raise no_kernel(kernel, array)


def require_real_floating(array: Array, kernel: str) -> None:
    """Raise torch's error for an op that has no kernel for integers, nor for complex numbers."""
    if array.dtype.kind in "biuc":
        raise no_kernel(kernel, array)


def require_number(array: Array, kernel: str) -> None:
    """Raise torch's error for an op that has no kernel for truth values, nor for complex numbers."""
    if array.dtype.kind in "bc":
        raise no_kernel(kernel, array)


def require_order(array: Array, name: str) -> None:
    """Raise torch's error for complex numbers, of which none is the larger."""
    if array.dtype.kind == "c":
        raise RuntimeError(f"{name} not implemented for complex tensors.")


def require_width(kernel: str, *arrays: Array) -> None:
    """Raise torch's error for an op that has no kernel for 16-bit floats."""
    for array in arrays:
        if array.dtype.itemsize == 2:
            raise no_kernel(kernel, array)


def require_same_type(input: Array, bias: Array | None) -> None:
    """Raise torch's error for an input and a bias, if any, of different dtypes."""
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(f"Input type ({c_name(input)}) and bias type ({c_name(bias)}) should be the same")


def require_scalar_type(input: Array, other: Array | None) -> None:
    """Raise torch's error for a second tensor, if any, of another dtype."""
    if other is not None and other.dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(other)}")


def require_norm_dtypes(input: Array, *parameters: Array | None) -> None:
    """Raise torch's error unless a norm's parameters have the input's dtype, or are float32 beside 16-bit floats."""
    given = [parameter for parameter in parameters if parameter is not None]
    if not given or given[0].dtype == input.dtype:
        for parameter in given:
            require_scalar_type(input, parameter)
    elif any(parameter.dtype != jnp.float32 for parameter in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    elif input.dtype.itemsize != 2:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def wide(array: Array) -> Array:
    """Return `array` in a dtype that sums well: 16-bit floats as float32, all else as it is."""
    return (
        array.astype(jnp.float32)
        if array.dtype.itemsize == 2 and dtypes.of_numpy(array.dtype).is_floating_point
        else array
    )


def as_one_float(*arrays: Array | None) -> list[Array]:
    """Cast floating arrays to the widest of their dtypes; None stays None."""
    common = jnp.result_type(*[x.dtype for x in arrays if x is not None])
    return [None if x is None else x.astype(common) for x in arrays]  # type: ignore[misc]  # None where None came


def size_text(shape: Dims) -> str:
    """Return a shape as torch prints it."""
    return f"torch.Size({list(shape)})"


def spread(value: int | Sequence[Any], count: int, name: str) -> tuple[Any, ...]:
    """Return one int for each of `count` spatial dimensions, from one int for all or from a tuple."""
    listed = (value,) if isinstance(value, int) else tuple(value)
    if len(listed) == 1:
        return listed * count
    if len(listed) != count:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values, but got {list(listed)}"
        )
    return listed


def require_parts(input: Array, dim: int, index: Array, source: Array, name: str) -> None:
    """Raise torch's errors where `source` has not, along `dim`, one part like those of `input` for each place."""
    if index.ndim > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {scalar_name(index)} "
            f"and size: {list(index.shape)}"
        )
    if index.dtype.name not in ("int32", "int64"):
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {scalar_name(index)}")
    if input.dtype != source.dtype:
        raise RuntimeError(
            f"{name}_(): self ({scalar_name(input)}) and source ({scalar_name(source)}) must have the same scalar type"
        )
    if 0 < dim >= source.ndim:
        raise RuntimeError(
            f"{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {source.ndim}"
        )
    if index.size != (source.shape[dim] if source.ndim else 1):
        if not source.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise RuntimeError(
            f"{name}_(): Number of indices ({index.size}) should be equal to source.size(dim): ({source.shape[dim]}), "
            f"for dim: {dim}"
        )
    is_whole = 0 in (input.ndim, source.ndim)  # a number has no dimension to leave out
    kept = [x.shape if is_whole else x.shape[:dim] + x.shape[dim + 1 :] for x in (input, source)]
    if kept[0] != kept[1]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )
