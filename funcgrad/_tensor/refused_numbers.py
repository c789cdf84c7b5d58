"""Numbers that torch refuses: at once where the host knows them, else when results of their program are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._base.dtypes import INTEGER
from funcgrad._ops import conditions
from funcgrad._ops.conditions import NONE, Condition
from funcgrad._program.faults import check_when_read
from funcgrad._program.value import CONSTANT, Value
from funcgrad._tensor.aliases import View
from funcgrad._tensor.tensor import Tensor

_SMALL = 1 << 16  # bytes of a constant that is made to be looked at


def require(condition: Condition, numbers: Any, about: Any = None, *options: Any) -> None:
    """Raise the condition's error unless the numbers fulfil it; later, where they are yet to be computed.

    about: the tensor whose shape counts, where it is not that of `numbers`. What is no Tensor, and what JAX traces,
    is left alone.
    """
    if not isinstance(numbers, Tensor):
        return
    value, whole = numbers._current().value, None
    dtype = value.aval.dtype
    applies = dtype.is_floating_point if condition.of_floats else dtype.category == INTEGER
    if type(value) is not Value or not applies:
        return
    other = about._current().value if isinstance(about, Tensor) else None
    shape = tuple((value if other is None else other).aval.shape)
    known = _known(value)
    if known is None and type(numbers._alias) is View:  # of a part it holds what holds of the whole
        whole = _known(numbers._alias.base._variable.value)
    if whole is not None and not condition.wrong(whole, shape, *options).any():
        return
    if known is None:
        if value.aval.shape.numel() and (other is None or type(other) is Value):
            check_when_read(condition, value, other, options)
        return
    wrong = condition.wrong(known, shape, *options)
    if wrong is not NONE and wrong.any():
        place = int(np.argmax(wrong))
        number = known.flat[place].item() if known.size == wrong.size else place
        raise condition.error(number, place, shape, options)


def _known(value: Value) -> np.ndarray[Any, Any] | None:
    """Return the numbers of a Value where the host has them."""
    array = value.array
    if array is None:
        if value.program is not CONSTANT or value.slot.host is None or value.aval.nbytes > _SMALL:
            return None
        return value.slot.host()
    return array if type(array) is np.ndarray else value.slot if type(value.slot) is np.ndarray else None


def check_places(input: Any, dim: Any, index: Any) -> None:
    """RuntimeError for a place that `dim` of the input does not have."""
    if _has(input, dim):
        require(conditions.are_places, index, input, dim)


def check_rows(input: Any, dim: Any, index: Any) -> None:
    """IndexError, as torch's for whole rows, for a place that `dim` of the input does not have."""
    if _has(input, dim):
        require(conditions.are_rows, index, input, dim)


def check_slices(input: Any, dim: Any, index: Any, function: str = "", wraps: bool = False) -> None:
    """IndexError for a place that `dim` of the input does not have. wraps: negative ones count from the end."""
    if _has(input, dim):
        require(conditions.are_slices, index, input, dim, wraps, function)


def check_classes(input: Any, target: Any, ignore_index: Any) -> None:
    """IndexError for a target that is no class of the input."""
    if _has(input, -1):
        require(conditions.are_classes, target, input, ignore_index)


def check_bags(input: Any, weight: Any) -> None:
    """RuntimeError for an index that is no row of an embedding's weight."""
    if _has(weight, 0):
        require(conditions.are_rows_of_bags, input, weight, 0)


def check_divisor(input: Any, other: Any) -> None:
    """RuntimeError, as torch's, for a zero by which integers are divided."""
    if isinstance(input, Tensor) and input.dtype.is_differentiable:
        return
    if type(other) is int and other == 0:
        raise conditions.are_divisors.error(0, 0, (), ())
    if type(input) not in (float, complex):
        require(conditions.are_divisors, other)


def check_probabilities(input: Any, target: Any) -> None:
    """RuntimeError for an input or target of `binary_cross_entropy` outside [0, 1]."""
    require(conditions.are_between_0_and_1, input, None, "input")
    require(conditions.are_between_0_and_1, target, None, "target")


def check_lengths(times: int, width: int | None, inputs: Any, targets: Any) -> None:
    """RuntimeError for lengths of `ctc_loss` beyond those of the input, or of padded targets (None: unpadded)."""
    require(conditions.are_lengths, inputs, None, times)
    if width is not None:
        require(conditions.are_padded_lengths, targets, None, width)


def check_range(input: Any, low: Any, high: Any) -> None:
    """RuntimeError for a histogram from or to what is no number, where it is known."""
    ends: Any = (low, high)
    if low == high == 0 and isinstance(input, Tensor):
        array = input._current().value.array
        ends = (array.min(), array.max()) if type(array) is np.ndarray and array.size else ends
    if not np.isfinite(ends).all():
        raise RuntimeError(f"torch.histc: range of [{ends[0]:g}, {ends[1]:g}] is not finite")
    if ends[0] > ends[1]:
        raise RuntimeError("torch.histc: max must be larger than min")


def _has(input: Any, dim: Any) -> bool:
    """Tell whether there is such a dimension: what is wrong if not, the row says."""
    return isinstance(input, Tensor) and type(dim) is int and -input.ndim <= dim < input.ndim
