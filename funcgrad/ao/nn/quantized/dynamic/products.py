"""Products with 8-bit weights, as torch's kernels for x86 compute them, integers times integers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from funcgrad._base.dtypes import float32, float64
from funcgrad._base.quantized_dtypes import qint8
from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as torch
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.ao.quantized_tensor import QuantizedTensor, quantize_per_tensor
from funcgrad.nn import functional

_HIGHEST = 127  # inputs are rounded to 7 bits, so that sums of products fit in 16 bits


class Packed(NamedTuple):
    """The weight of a product, and what is added to it."""

    weight: QuantizedTensor
    bias: Tensor | None

    def __deepcopy__(self, memo: dict[int, Any]) -> Packed:
        return self


def packed(weight: Tensor, bias: Tensor | None) -> Packed:
    """Round a weight to 8 bits, on both sides of 0 alike."""
    largest = np.abs(to_host(weight.detach())).max(initial=np.float32(0)).astype(np.float32)
    scale = max(largest / np.float32(127.5), np.finfo(np.float32).eps)
    return Packed(quantize_per_tensor(weight.detach().to(float32), float(scale), 0, qint8), bias)


def linear(input: Tensor, given: Packed) -> Tensor:
    """Return input @ weight.T + bias, the input rounded between its least and its greatest number.

    Shape: input (*, n), weight (m, n), result (*, m), without a history.
    """
    with no_grad():
        numbers = input.detach()
        if not numbers.numel():
            return functional.linear(numbers, given.weight.dequantize(), given.bias)
        least, greatest = numbers.min().to(float64).clamp(max=0), numbers.max().to(float64).clamp(min=0)
        scale = (greatest - least) / _HIGHEST
        scale = torch.where(scale == 0, 0.1, scale)
        zero = (-least / scale).round().clamp(0, _HIGHEST).to(float32)
        integers = ((numbers * (1 / scale).to(float32)).round() + zero).clamp(0, _HIGHEST) - zero
        product = functional.linear(integers, given.weight.int_repr().to(float32))
        result = product * (scale * given.weight.q_scale()).to(float32)
        return result if given.bias is None else result + given.bias.detach()
