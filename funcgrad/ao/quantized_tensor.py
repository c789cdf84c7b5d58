"""QuantizedTensor: integers, a scale and a zero point; the number is scale * (integer - zero_point)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.dtypes import float32, of_numpy
from funcgrad._base.quantized_dtypes import per_tensor_affine, qscheme, quantized_dtype
from funcgrad._base.warning import warn_once
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.overriding import Without, arm, name_of
from funcgrad._tensor.printing import format_values, with_suffixes
from funcgrad._tensor.tensor import Tensor

_KEEPING = {  # they move integers, and look at none
    "chunk", "clone", "contiguous", "detach", "expand", "flatten", "getitem", "index_select", "mT", "narrow",
    "permute", "reshape", "select", "split", "squeeze", "t", "T", "transpose", "unbind", "unflatten", "unsqueeze",
    "view", "max", "min", "amax", "amin", "cpu", "cuda",
}  # fmt: skip
_COMPARING = {"eq", "ne", "lt", "le", "gt", "ge", "equal"}
_ITSELF = {
    "shape", "size", "dim", "ndim", "numel", "nelement", "stride", "is_contiguous", "device", "layout", "requires_grad",
    "grad_fn", "is_leaf", "<lambda>", "length", "is_floating_point", "is_complex", "element_size",
}  # fmt: skip


class QuantizedTensor(Tensor):
    """A tensor whose value is that of its integers. Made by `quantize_per_tensor`."""

    _kind: quantized_dtype
    _scale: float
    _zero_point: int

    @property
    def dtype(self) -> quantized_dtype:
        """torch.qint8, torch.quint8 or torch.qint32."""
        return self._kind

    @property
    def is_quantized(self) -> bool:
        """True."""
        return True

    def qscheme(self) -> qscheme:
        """Return that one scale and one zero point serve all elements."""
        return per_tensor_affine

    def q_scale(self) -> float:
        """Return what one step of the integers stands for."""
        return self._scale

    def q_zero_point(self) -> int:
        """Return the integer that stands for 0."""
        return self._zero_point

    def int_repr(self) -> Tensor:
        """Return the integers."""
        return Tensor._of(self._current())

    def dequantize(self) -> Tensor:
        """Return the numbers, in single precision."""
        with Without("asks_classes"):
            return (self.int_repr().to(float32) - self._zero_point) * self._scale

    def _like(self, integers: Tensor) -> QuantizedTensor:
        return made_of(integers, self._kind, self._scale, self._zero_point)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Apply functions that move integers to them, and comparisons to the numbers. NotImplementedError: others."""
        name, first, given = name_of(func).strip("_"), args[0], kwargs or {}
        with Without("asks_classes"):
            if name in _ITSELF:
                return func(*args, **given)
            if name in _KEEPING:
                result = func(first.int_repr(), *args[1:], **given)
                return tuple(map(first._like, result)) if isinstance(result, (tuple, list)) else first._like(result)
            if name == "relu":
                return first._like(first.int_repr().clamp(min=first._zero_point))
            if name in _COMPARING:
                return func(*(x.dequantize() if isinstance(x, QuantizedTensor) else x for x in args), **given)
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'QuantizedCPU' backend: quantised tensors do not "
            "have it; see dequantize() and int_repr()"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> QuantizedTensor:
        return self

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        numbers: np.ndarray[Any, Any] = to_host(self.dequantize())
        suffixes = [f"size={tuple(self.shape)}", f"dtype={self._kind}", f"quantization_scheme={self.qscheme()}"]
        suffixes += [f"scale={self._scale}", f"zero_point={self._zero_point}"]
        return with_suffixes("tensor(" + format_values(numbers, 7), suffixes, 7, 0)

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


def made_of(integers: Tensor, kind: quantized_dtype, scale: float, zero_point: int) -> QuantizedTensor:
    """Return the quantised tensor of integers."""
    self: QuantizedTensor = object.__new__(QuantizedTensor)
    self._variable, self._slot, self._alias = integers._current().detached(), None, None
    self._made_in_inference, self._writes = integers._made_in_inference, 0
    self._kind, self._scale, self._zero_point = kind, scale, zero_point
    return self


_DEPRECATED = (
    "torch.quantize_per_tensor, torch.quantize_per_channel and other quantized tensor creation functions that produce "
    "tensors with dtype torch.quint8, torch.qint8, and torch.qint32 are deprecated and will be removed in a future "
    "PyTorch release. Please see https://github.com/pytorch/pytorch/issues/184982 for more information."
)


def quantize_per_tensor(input: Any, scale: Any, zero_point: Any, dtype: Any) -> Any:
    """Round a tensor to multiples of `scale`, as far as the integers of `dtype` reach, or each of a list.

    RuntimeError where the tensor is not of single precision, or the dtype is none of quantised tensors.
    """
    if isinstance(input, (list, tuple)):
        given = zip(input, scale, zero_point, strict=True)
        return tuple([quantize_per_tensor(x, one.item(), zero.item(), dtype) for x, one, zero in given])
    if not isinstance(dtype, quantized_dtype):
        raise RuntimeError(f"ScalarType {scalar_type_name(dtype)} is not supported in new_qtensor.")
    if input.dtype is not float32:
        raise RuntimeError(f"Quantize only works on Float Tensor, got {scalar_type_name(input.dtype)}")
    warn_once(_DEPRECATED)
    arm()
    step = float(scale.item() if isinstance(scale, Tensor) else scale)
    zero = int(zero_point.item() if isinstance(zero_point, Tensor) else zero_point)
    inverse = float(np.float32(1) / np.float32(step))
    integers = ((input.detach() * inverse).round() + zero).clamp(dtype.lowest, dtype.highest)
    return made_of(integers.to(of_numpy(dtype.integers)), dtype, step, zero)


def quantize_per_tensor_dynamic(input: Tensor, dtype: Any, reduce_range: bool) -> QuantizedTensor:
    """Round a tensor to the integers of `dtype`, which just reach from its least to its greatest number.

    reduce_range: to half as many integers, whose products do not overflow on some processors.
    """
    numbers = to_host(input.detach())
    least, greatest = min(float(numbers.min()), 0.0), max(float(numbers.max()), 0.0)
    lowest, highest = (bound // 2 if reduce_range else bound for bound in (dtype.lowest, dtype.highest))
    scale = (greatest - least) / (highest - lowest) or 0.1
    zero = int(np.clip(np.rint(lowest - least / scale), lowest, highest))
    made: QuantizedTensor = quantize_per_tensor(input, scale, zero, dtype)
    return made


def dequantize(tensors: Any) -> Any:
    """Return the numbers of quantised tensors, and others as they are, in single precision."""
    if isinstance(tensors, Sequence):
        return [dequantize(tensor) for tensor in tensors]
    return tensors.dequantize() if isinstance(tensors, QuantizedTensor) else tensors.to(float32)
