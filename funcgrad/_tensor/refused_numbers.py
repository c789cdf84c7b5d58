"""Numbers that torch refuses: at once where the host knows them, else when results of their program are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._base import promotion
from funcgrad._base.cpp_names import TYPE_NAMES, c_type_name
from funcgrad._base.dtypes import bfloat16, bool_, float16, float32, float64, get_default_dtype
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.errors import NotATensor
from funcgrad._base.info import finfo, iinfo
from funcgrad._base.naming import c_class_name
from funcgrad._base.warning import warn_once
from funcgrad._ops import conditions
from funcgrad._ops.broadcasting import broadcast_shape
from funcgrad._ops.conditions import NONE, Condition
from funcgrad._program.faults import Before, are_waiting, check_when_read, raise_fault
from funcgrad._program.joining import SMALL
from funcgrad._program.record import thread
from funcgrad._program.run import flush
from funcgrad._program.value import Value
from funcgrad._tensor.aliases import View, before_expanding
from funcgrad._tensor.interop import host_numbers
from funcgrad._tensor.tensor import Tensor


def require(
    condition: Condition,
    numbers: Any,
    about: Any = None,
    *options: Any,
    error: Callable[[], Exception] | None = None,
) -> Before | None:
    """Raise the condition's error unless the numbers fulfil it; later, where they are yet to be computed.

    Result: then what `withdraw` takes, else None.

    about: the tensor whose shape counts, where it is not that of `numbers`. error: makes the exception in the place of
    the condition's own. What is no Tensor, what JAX traces, and a first option `dim` that `about` does not have (which
    the row refuses) are left alone.
    """
    if not isinstance(numbers, Tensor) or not (about is None or isinstance(about, Tensor)):
        return None
    if condition.takes_dim and not _has(about, options[0]):
        return None
    if condition.takes_dim and 0 not in numbers.shape:
        numbers = before_expanding(numbers)  # fewer to look at
    value, whole = numbers._current().value, None
    if type(value) is not Value or not condition.is_about(value.aval.dtype):
        return None
    other = None if about is None else about._current().value
    shape = tuple((value if other is None else other).aval.shape)
    known = _known(value)
    if known is None and type(numbers._alias) is View:  # of a part it holds what holds of the whole
        whole = _known(numbers._alias.base._variable.value)
    if whole is not None and not condition.wrong(whole, shape, *options).any():
        return None
    if known is None:
        is_open = value.aval.shape.numel() > 0 and (other is None or type(other) is Value)
        return check_when_read(condition, value, other, options, error) if is_open else None
    wrong = condition.wrong(known, shape, *options)
    if wrong is not NONE and wrong.any():
        place = int(np.argmax(wrong))
        number = known.flat[place].item() if known.size == wrong.size else place
        if are_waiting():
            look()  # at what came before: its error is the first
        raise error() if error else condition.error(number, place, shape, options)
    return None


def is_of_model(numbers: Tensor) -> bool:
    """Tell whether numbers have a history, or wait in a program behind something that has one: what is detached."""
    value, program = numbers._current().value, thread.program
    is_behind = program.history is not None and value.program is program and value.slot >= program.history
    return numbers.requires_grad or is_behind


def look() -> None:
    """Run what is recorded, and raise the error of the first demand on its numbers that is not met."""
    flush()
    raise_fault(waits=True)


def _has(input: Tensor | None, dim: Any) -> bool:
    return input is not None and type(dim) is int and -(count := max(input.ndim, 1)) <= dim < count


def _known(value: Value) -> np.ndarray[Any, Any] | None:
    """Return the numbers of a Value where the host has them, or for the asking: the CPU's own, if they are few.

    What a program computed is of one or the other kind by how it was run, and the next program should not depend on it.
    """
    for numbers in (value.array, value.slot):
        if type(numbers) is np.ndarray:
            return numbers
    return host_numbers(value) if value.aval.nbytes <= SMALL else None


def is_held(number: Any, kind: DType) -> bool:
    """Tell whether a dtype holds a number; a whole one may wrap once around 0, infinity and nan are floats."""
    if kind is bool_ or kind.is_complex or (type(number) is int and abs(number) < 128):
        return True
    if type(number) is complex:
        return not number.imag and is_held(number.real, kind)
    if kind.is_differentiable:
        return not math.isfinite(number) or abs(number) <= finfo(kind).max
    limits = iinfo(kind)
    return (limits.min or -limits.max) <= number <= limits.max


def check_fits(number: Any, like: Any) -> None:
    """RuntimeError for a number beyond what the dtype of `like` holds, as `is_held` tells.

    like: a dtype, or a tensor. What is no number or tensor is left alone.
    """
    kind = like.dtype if isinstance(like, Tensor) else like
    if type(number) in (int, float, complex) and isinstance(kind, DType) and not is_held(number, kind):
        name = f"{kind.name}_t" if kind.name in ("int8", "uint8", "int16", "int64") else c_type_name(kind)
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def check_real(number: Any, like: Any) -> None:
    """RuntimeError for a complex number to be written into a tensor of real ones, truth values too."""
    if type(number) is complex and isinstance(like, Tensor) and not like.dtype.is_complex:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")


def check_one_source(src: Any, input: Any, index: Any) -> None:
    """RuntimeError for a tensor without dimensions as the source of `scatter`, where a number would do: `value`."""
    if not (isinstance(src, Tensor) and isinstance(input, Tensor) and isinstance(index, Tensor)) or src.ndim:
        return
    if src.dtype is not input.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.ndim > 1:
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")


def check_filling(number: Any, like: Any) -> None:
    """RuntimeError for a number with which no tensor of this dtype is filled: 16-bit floats take any, or infinity."""
    kind = like.dtype if isinstance(like, Tensor) else like
    if kind not in (float16, bfloat16):
        check_fits(number, kind)


def check_weight(weight: Any, input: Any) -> None:
    """RuntimeError for a weight beyond the dtype that is computed in: float32 for floats of 16 bits."""
    if isinstance(input, Tensor):
        check_fits(weight, float32 if input.dtype in (float16, bfloat16) else input.dtype)


def check_factor(alpha: Any, input: Any, other: Any) -> None:
    """RuntimeError for a factor that the dtype of the sum does not hold, or True where that is no dtype of booleans."""
    if type(alpha) not in (bool, int, float) or not isinstance(input, Tensor):
        return
    kind = input.dtype if not isinstance(other, Tensor) else promotion.promote_types(input.dtype, other.dtype)
    if type(alpha) is bool and kind is not bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if type(alpha) is int or kind.is_differentiable:
        check_fits(alpha, kind)


def fitting_bounds(low: Any, high: Any, input: Any) -> tuple[Any, Any]:
    """Return the bounds, both numbers or both tensors; beside a number a tensor without dimensions stands for one.

    RuntimeError for a number that does not fit; NotATensor for one beside a tensor that has dimensions or a history.
    """
    is_tensor = isinstance(low, Tensor)
    if is_tensor is not isinstance(high, Tensor) and low is not None and high is not None:
        low, high = number_in(low), number_in(high)
        if (is_tensor := isinstance(low, Tensor)) or isinstance(high, Tensor):
            name, place, number = ("max", 3, high) if is_tensor else ("min", 2, low)
            kind = c_class_name(number)
            raise NotATensor(f"clamp(): argument '{name}' (position {place}) must be Tensor, not {kind}")
    check_bound(low, input)
    check_bound(high, input)
    return low, high


def number_in(given: Any) -> Any:
    """Return the number that a tensor stands for where torch takes one: it has no dimensions and wants no gradient.

    Anything else as it is.
    """
    return given.item() if isinstance(given, Tensor) and not (given.ndim or given.requires_grad) else given


def check_bound(number: Any, input: Any) -> None:
    """RuntimeError for a bound that the dtype which is computed in does not hold: the input's, unless that is wider."""
    if type(number) is int or (isinstance(input, Tensor) and input.dtype.is_differentiable):
        check_fits(number, input)
    elif isinstance(input, Tensor):
        check_fits(number, get_default_dtype())


def check_choice(number: Any, other: Any) -> None:
    """RuntimeError for a number beyond what the numbers hold among which it is to stand; a complex one widens them."""
    if not isinstance(other, Tensor) or type(number) is complex:
        return
    if other.dtype.is_differentiable:
        check_filling(number, other)
    else:
        check_fits(number, get_default_dtype() if type(number) is float else other)


def check_divisor(input: Any, other: Any) -> None:
    """RuntimeError, as torch's, for a zero, or False, by which integers are divided, where there are any."""
    if isinstance(input, Tensor) and (input.dtype.is_differentiable or not input.numel()):
        return
    if (_is_bool(input) and _is_bool(other)) or type(input) in (float, complex):
        return  # the row refuses the first, and the others are no integers
    if type(other) in (int, bool) and not other:
        raise conditions.are_divisors.error(0, 0, (), ())
    if isinstance(other, Tensor) and not other.dtype.is_differentiable:
        require(conditions.are_divisors, other)


def _is_bool(given: Any) -> bool:
    return type(given) is bool or (isinstance(given, Tensor) and given.dtype is bool_)


def check_exponent(input: Any, exponent: Any) -> None:
    """RuntimeError, as torch's, for a negative power of integers, whether the number is known to the program or not."""
    if type(exponent) is int and exponent < 0 and isinstance(input, Tensor) and not input.dtype.is_differentiable:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def check_lengths(times: int, sizes: Sequence[int], inputs: Any, targets: Any) -> None:
    """RuntimeError for lengths of `ctc_loss` beyond the input's, or which do not go with the sizes of the targets."""
    require(conditions.are_lengths, inputs, None, times)
    if len(sizes) == 2:
        require(conditions.are_padded_lengths, targets, None, sizes[1])
    elif len(sizes) == 1:
        require(conditions.are_joined_lengths, targets, None, sizes[0])


def check_scattered(input: Any, mask: Any, source: Any) -> None:
    """RuntimeError for a mask of `masked_scatter` that is true in more places than `source` has elements."""
    if isinstance(mask, Tensor) and isinstance(input, Tensor) and mask.dtype is bool_ and mask.numel():
        times = broadcast_shape(tuple(input.shape), tuple(mask.shape))
        require(conditions.is_small_mask, mask, source, math.prod(times) // mask.numel())


def check_runs(data: Any, lengths: Any, axis: int) -> None:
    """RuntimeError for lengths of `segment_reduce` that are negative, or do not make up the dimension."""
    require(conditions.are_run_lengths, lengths)
    if isinstance(lengths, Tensor) and lengths.ndim == (axis % data.ndim) + 1:
        require(conditions.are_whole_runs, lengths, data, axis)


def check_overlap(
    input: Any, n_fft: int, hop: int | None, width: int | None, window: Any, named: dict[str, Any], length: int | None
) -> None:
    """RuntimeError for a window of `istft` that is 0 where frames should overlap. named: what the message tells too."""
    hop, width = n_fft // 4 if hop is None else hop, n_fft if width is None else width
    if not isinstance(input, Tensor) or not isinstance(window, Tensor) or input.ndim not in (2, 3):
        return
    if not 0 < hop <= width <= n_fft or window.shape != (width,) or 0 in input.shape:
        return
    count, start = input.shape[-1], n_fft // 2 if named["center"] else 0
    end = (count - 1) * hop + n_fft - start if length is None else start + length
    kind = f"{type_of(window)}{{[{width}]}}"
    told = {"n_fft": n_fft, "hop_length": hop, "win_length": width, "window": kind, **named}
    words = ", ".join(f"{name}={int(it) if type(it) is bool else it}" for name, it in told.items())
    shape = f"CPU{type_of(input).removeprefix('torch.').replace('Tensor', 'Type')}{list(input.shape)}"
    frames = conditions.Frames(count, n_fft, hop, width, start, end)
    require(conditions.leave_no_gaps, window, None, frames, f"istft({shape}, {words})")
    if length is not None and length > max((count - 1) * hop + n_fft - start, 0):
        warn_once(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings."
        )


def type_of(tensor: Tensor) -> str:
    """Return what torch calls tensors of this dtype on the CPU: torch.FloatTensor, ..."""
    return f"torch.{TYPE_NAMES.get(tensor.dtype, '')}Tensor"


def check_part(q: Any, input: Any) -> None:
    """Raise RuntimeError for a quantile given as a number below 0 or above 1, or as a tensor of another dtype."""
    has_kernel = isinstance(input, Tensor) and input.dtype in (float32, float64)
    if has_kernel and isinstance(q, Tensor) and q.dtype is not input.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if isinstance(q, (int, float)) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")


def check_variance(var: Any, eps: float) -> None:
    """Raise ValueError for a variance given as a number below 0, RuntimeError for whole numbers that cannot be `eps`.

    TypeError for a whole number.
    """
    if isinstance(var, float) and var < 0:
        raise ValueError("var has negative entry/entries")
    if isinstance(var, int):
        raise TypeError(f"gaussian_nll_loss(): argument 'var' must be Tensor or float, not {type(var).__name__}")
    if isinstance(eps, float) and isinstance(var, Tensor) and not var.dtype.is_differentiable:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {c_type_name(var.dtype)}")


def check_range(input: Any, low: Any, high: Any) -> None:
    """RuntimeError for a histogram from or to what is no number, where it is known."""
    ends: Any = (low, high)
    if low == high and isinstance(input, Tensor):
        array = input._current().value.array
        ends = (array.min(), array.max()) if type(array) is np.ndarray and array.size else ends
    if not np.isfinite(ends).all():
        raise RuntimeError(f"torch.histc: range of [{ends[0]:g}, {ends[1]:g}] is not finite")
    if ends[0] > ends[1]:
        raise RuntimeError("torch.histc: max must be larger than min")
