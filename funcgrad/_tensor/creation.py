"""Factories: tensors from data, and constants (zeros, full, arange, eye, ...) that cost nothing until they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.layouts import preserve_format, require_format
from funcgrad._base.warning import warn
from funcgrad._ops.creation import arange_count
from funcgrad._ops.strides import dense_strides, order_of
from funcgrad._ops.table import TABLE
from funcgrad._program.record import array_of
from funcgrad._program.trie import Constant, can_be_input, signature_of
from funcgrad._program.value import META, Recipe, aval, constant, meta
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import in_order
from funcgrad._tensor.arguments import as_bool, as_dims, as_dtype, as_int, as_listed_dims, as_spread_dims
from funcgrad._tensor.call import number_of, write_out
from funcgrad._tensor.data import from_data
from funcgrad._tensor.global_settings import is_emptiness_filled
from funcgrad._tensor.interop import from_host, in_dtype, to_host
from funcgrad._tensor.mirrors import tensor_of
from funcgrad._tensor.on_arrays import on_arrays
from funcgrad._tensor.placement import placement
from funcgrad._tensor.refused_numbers import check_filling, number_in
from funcgrad._tensor.strides import in_format
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_copy, warn_of_fixed

_WHOLE = 2**53  # floats below it hold each whole number


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """Return a new leaf with a copy of the data; Python floats become the default dtype, ints int64.

    >>> tensor([[1.0, 2.0]]).shape
    torch.Size([1, 2])
    """
    warn_of_copy(data, "torch.tensor")
    wants = as_bool(requires_grad, "tensor(): argument 'requires_grad'")
    return from_data(data, as_dtype(dtype, "tensor(): argument 'dtype'"), device, wants)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return `data` as a tensor: as it is where it is one of this dtype and device; of numpy's arrays, from_numpy's."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=as_dtype(dtype))
    kind = as_dtype(dtype)
    if isinstance(data, np.ndarray) and (kind is None or kind.numpy == data.dtype):
        warn_of_fixed(data, "NumPy array")
        return tensor_of(data, device)
    return from_data(data, kind, device, False)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """Return `obj` as a tensor; a tensor of this dtype and device as it is, unless a copy is asked for.

    requires_grad: None keeps the history that a tensor has, False drops it. ValueError where nothing may be copied
    (copy=False) of a list or a number, whose numbers lie nowhere yet.
    """
    if copy is False and isinstance(obj, (list, tuple, int, float, complex)):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    found = as_tensor(np.array(obj) if copy and isinstance(obj, np.ndarray) else obj, dtype, device)
    found = found.clone() if copy and found is obj else found
    if requires_grad is False and found.requires_grad:
        return found.detach()
    return found.requires_grad_() if requires_grad else found


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """Return a tensor that shares its numbers with a numpy array: what is written to either shows in both."""
    if not isinstance(ndarray, np.ndarray):
        name = type(ndarray).__name__
        name = f"numpy.{name}" if isinstance(ndarray, np.generic) else name
        raise TypeError(f"expected np.ndarray (got {name})")
    warn_of_fixed(ndarray, "NumPy array")
    return tensor_of(ndarray)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """Return a tensor that shares its numbers with a buffer of bytes that can be written to. Shape: result (n,)."""
    kind = as_dtype(dtype, "frombuffer(): argument 'dtype'")
    try:
        size = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1"
        )
    if count > 0 and offset + count * kind.itemsize > size:
        raise ValueError(
            f"requested buffer length ({count} * {kind.itemsize} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({size} bytes)"
        )
    if count < 0 and (size - offset) % kind.itemsize:
        raise ValueError(
            f"buffer length ({size} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({kind.itemsize})"
        )
    array = np.frombuffer(buffer, kind.numpy, count, offset)
    warn_of_fixed(array, "buffer")
    made = tensor_of(array)
    return made.requires_grad_() if requires_grad else made


def scalar_tensor(s: complex, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Return a 0-d tensor of one number, by default of the default dtype."""
    return from_data(s, as_dtype(dtype) or dtypes.get_default_dtype(), device, requires_grad)


# Constants: a recipe until somebody reads them


def _filled(size: tuple[int, ...], fill: complex, dtype: DType, device: Any, requires_grad: bool) -> Tensor:
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {next(n for n in size if n < 0)}: {list(size)}"
        )
    check_filling(fill, dtype)

    def host() -> np.ndarray[Any, Any]:
        return np.full(size, in_dtype(np.asarray(fill), dtype))

    return _constant(Recipe(TABLE["full"], (fill,), (size, dtype), host), size, dtype, device, requires_grad)


def _constant(recipe: Recipe, size: tuple[int, ...], dtype: DType, device: Any, requires_grad: bool) -> Tensor:
    known = aval(tuple(size), dtype.numpy)
    placed = placement(device)
    if placed is META:
        return Tensor._leaf(Variable(meta(known)), requires_grad)
    value = constant(recipe, known)
    if placed is not None:
        return from_host(to_host(Tensor._of(Variable(value))), device=device, requires_grad=requires_grad)
    if requires_grad:
        array_of(value)
    return Tensor._leaf(Variable(value), requires_grad)


def _of_number(name: str, number: int | None, says: str) -> Any:
    """Return a function that makes tensors of a number; None: of one that means nothing."""

    def made(
        *size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None, **named: Any,
    ) -> Tensor:  # fmt: skip
        sizes = _size(name, size, named)
        if name == "zeros" and min(sizes, default=0) < 0:
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        if memory_format is not None:
            require_format(memory_format, name, len(sizes))
        kind = _float_by_default(dtype, f"{name}(): argument 'dtype'")
        wants = _wants_grad(requires_grad, name)
        result = _filled(sizes, meaningless(kind) if number is None else number, kind, device, wants)
        result = result if memory_format is None else in_format(result, memory_format)
        return result if out is None else write_out(out, result)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"Return a tensor of {says}. Shape: result (*size), given as ints or as one sequence."
    return made


def _size(name: str, size: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, ...]:
    label = f"{name}(): argument 'size' (position 1)"
    if "size" in named and not size:
        size = (named.pop("size"),)
    if named:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(named))}'")
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return as_spread_dims(size, label)


zeros = _of_number("zeros", 0, "zeros")
ones = _of_number("ones", 1, "ones")
empty = _of_number("empty", None, "numbers that mean nothing (zeros; see `utils.deterministic`)")


def meaningless(kind: DType) -> Any:
    """Return what fills empty tensors: 0, or, under deterministic algorithms, what is seen when it is used: NaN."""
    if not is_emptiness_filled():
        return 0
    if kind.is_differentiable:
        return float("nan")
    return True if kind is dtypes.bool_ else int(np.iinfo(kind.numpy).max)


def full(
    size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return a tensor of one number; its dtype is that of the number. Shape: result (*size)."""
    number = _number(fill_value)
    if not isinstance(number, (bool, int, float, complex)):
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {type(number).__name__}")
    sizes = as_listed_dims(size, "full(): argument 'size' (position 1)")
    kind = as_dtype(dtype, "full(): argument 'dtype'") or dtypes.of_number(number)
    made = _filled(sizes, number, kind, device, _wants_grad(requires_grad, "full"))
    return made if out is None else write_out(out, made)


def _float_by_default(dtype: Any, label: str = "argument 'dtype'") -> DType:
    return as_dtype(dtype, label) or dtypes.get_default_dtype()


def _wants_grad(given: Any, name: str) -> bool:
    """Return whether a gradient is wanted; None says no, but not to `tensor`."""
    return given is not None and as_bool(given, f"{name}(): argument 'requires_grad'")


def _like(name: str, number: complex | None) -> Callable[..., Tensor]:
    def like(
        input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, memory_format: Any = None,
    ) -> Tensor:  # fmt: skip
        """Return a tensor of one number with the shape, dtype and device of `input`."""
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        if memory_format is not None:
            require_format(memory_format, name, input.ndim)
        where, kind = input.device if device is None else device, as_dtype(dtype) or input.dtype
        fill = meaningless(kind) if number is None else number
        made = _filled(tuple(input.shape), fill, kind, where, requires_grad)
        return in_format(made, memory_format or preserve_format, input)

    like.__name__ = like.__qualname__ = name
    return on_arrays(like)


zeros_like, ones_like, empty_like = _like("zeros_like", 0), _like("ones_like", 1), _like("empty_like", None)


@on_arrays
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, memory_format: Any = None, **options: Any
) -> Tensor:
    """Return a tensor of one number with the shape, dtype and device of `input`."""
    where = input.device if device is None else device
    made = full(input.shape, fill_value, dtype=as_dtype(dtype) or input.dtype, device=where, **options)
    return in_format(made, memory_format or preserve_format, input)


def empty_strided(size: Any, stride: Any, **options: Any) -> Tensor:
    """Return a tensor of this size whose dimensions lie in memory in the order of these strides, without gaps."""
    sizes, steps = as_dims(size) or (), as_dims(stride) or ()
    if len(sizes) != len(steps):
        raise RuntimeError(f"mismatch in length of strides and shape: {len(steps)} and {len(sizes)}")
    made = empty(size, **options)
    made._variable = in_order(made._variable, order_of(tuple(sizes), tuple(steps)))
    return made


def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """Return a tensor of this size whose dimensions lie in memory in the order of `physical_layout`."""
    sizes, order = as_dims(size) or (), as_dims(physical_layout) or ()
    if len(sizes) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(sizes)} is not equal to len(physical_layout) = {len(order)}"
        )
    for place, dim in enumerate(order):
        if not 0 <= dim < len(sizes):
            raise RuntimeError(f"Dimension out of range: physical_layout has {dim} at {place}, size {len(sizes)} dims")
        if dim in order[:place]:
            raise RuntimeError(f"Duplicate dim not allowed: physical_layout has {dim} twice")
    return empty_strided(sizes, dense_strides(tuple(sizes), tuple(order)), **options)


# Numbers in a row


def arange(
    start: Any = None, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return start, start + step, ... below `end`; int64 for ints, else the default dtype. Shape: result (n,)."""
    first, last = (0, start) if end is None else (0 if start is None else start, end)
    if last is None:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    if end is None and isinstance(start, str):
        raise TypeError("arange(): argument 'end' (position 1) must be Number, not str")
    numbers = [_plain(x, "arange") for x in (first, last, step)]
    if any(type(x) is int and abs(x) >= 2**63 for x in numbers):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    whole = [int(x) if isinstance(x, float) and x.is_integer() and abs(x) < _WHOLE else x for x in numbers]
    kind = as_dtype(dtype) or (dtypes.int64 if all(isinstance(x, int) for x in numbers) else dtypes.get_default_dtype())
    kind = out.dtype if dtype is None and out is not None else kind
    if end is not None and not kind.is_differentiable and all(type(x) is int and can_be_input(x) for x in whole):
        # the same call wherever it starts: a text that is written word by word counts its places so
        begin, last, step = whole
        statics = (begin, arange_count(begin, last, step, kind), step, kind)
        made = _made_by("counted_from", statics, device, requires_grad)
    else:
        made = _made_by("arange", (*whole, kind), device, requires_grad)  # 30.0 as 30: the row is known by its numbers
    return made if out is None else write_out(out, made)


def range(start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Tensor:
    """Return start, start + step, ... up to and with `end` (old; use arange). Shape: result (n,)."""
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    first, last = (0, start) if end is None else (start, end)
    options["dtype"] = as_dtype(options.get("dtype")) or dtypes.get_default_dtype()
    return arange(first, last + step / 2, step, **options)


def _plain(given: Any, name: str) -> Any:
    number = _number(given)
    if not isinstance(number, (bool, int, float, complex)):
        raise TypeError(f"{name}(): a number is expected, not {type(given).__name__}")
    return number


def _number(given: Any) -> Any:
    """Return the number of a tensor that stands for one, or of a scalar of numpy's; anything else as it is."""
    return (
        number_in(given) if isinstance(given, Tensor) else number_of(given) if isinstance(given, np.generic) else given
    )


def _made_by(row: str, statics: tuple[Any, ...], device: Any, requires_grad: bool) -> Tensor:
    """Return the constant that a row without tensor inputs makes of its static arguments."""
    op = TABLE[row]
    values = dict(zip((p.name for p in op.parameters), statics, strict=False))
    inputs = tuple(values[p.name] for p in op.inputs if p.name in values)
    fixed = tuple(values[p.name] for p in op.statics if p.name in values)
    (known,) = signature_of(op, tuple(type(x) if can_be_input(x) else Constant.of(x) for x in inputs), fixed).avals

    recipe = Recipe(op, inputs, fixed, None)
    return _constant(recipe, tuple(known.shape), known.dtype, device, _wants_grad(requires_grad, row))


def linspace(
    start: Any, end: Any, steps: int, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return `steps` numbers evenly from `start` to `end`, both included. Shape: result (steps,)."""
    ends = _ends("linspace", start, end)
    statics = (*ends, _steps("linspace", ends, steps), _kind_between(dtype, ends, out))
    made = _made_by("linspace", statics, device, requires_grad)
    return made if out is None else write_out(out, made)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return base to the power of `steps` numbers evenly from `start` to `end`. Shape: result (steps,)."""
    ends = _ends("logspace", start, end)
    statics = (*ends, _steps("logspace", ends, steps), float(base), _kind_between(dtype, ends, out))
    made = _made_by("logspace", statics, device, requires_grad)
    return made if out is None else write_out(out, made)


def _ends(name: str, start: Any, end: Any) -> list[Any]:
    ranks = {side: x.ndim for side, x in (("start", start), ("end", end)) if isinstance(x, Tensor)}
    if any(ranks.values()):
        got = " and ".join(f"{side} with {rank} dimension(s)" for side, rank in ranks.items())
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {got}.")
    return [_plain(x, name) for x in (start, end)]


def _steps(name: str, ends: list[Any], steps: Any) -> int:
    if isinstance(steps, float):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got "
            f"({', '.join(type(x).__name__ for x in (*ends, steps))}), but expected one with int steps"
        )
    return as_int(steps, f"{name}(): argument 'steps' (position 3)") or 0


def _kind_between(dtype: Any, ends: list[Any], out: Any) -> DType:
    """Return the dtype asked for, else that of `out`, else the default one: complex where an end is."""
    dtype = out.dtype if dtype is None and isinstance(out, Tensor) else dtype
    default = dtypes.get_default_dtype()
    return as_dtype(dtype) or (default.to_complex() if any(isinstance(x, complex) for x in ends) else default)


# Matrices


def eye(
    n: int, m: int | None = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Return ones on the diagonal and zeros elsewhere. Shape: result (n, m)."""
    rows = as_int(n, "eye(): argument 'n' (position 1)")
    columns = rows if m is None else as_int(m, "eye(): argument 'm' (position 2)")
    made = _made_by("eye", (rows, columns, _float_by_default(dtype)), device, requires_grad)
    return made if out is None else write_out(out, made)


def _triangle_indices(name: str, sizes: tuple[Any, Any, Any], dtype: Any, device: Any) -> Tensor:
    labels = ("'row' (position 1)", "'col' (position 2)", "'offset'")
    ints = tuple(as_int(size, f"{name}(): argument {label}") for size, label in zip(sizes, labels, strict=True))
    return _made_by(name, (*ints, dtypes.int64 if dtype is None else as_dtype(dtype)), device, False)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None) -> Tensor:
    """Return the places on and below a diagonal of a (row, col) matrix. Shape: result (2, n), int64."""
    return _triangle_indices("tril_indices", (row, col, offset), dtype, device)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None) -> Tensor:
    """Return the places on and above a diagonal of a (row, col) matrix. Shape: result (2, n), int64."""
    return _triangle_indices("triu_indices", (row, col, offset), dtype, device)
