"""How a tensor is written out: torch's layout, number formats and suffixes, to the letter, from numpy alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from funcgrad._base import dtypes


@dataclass
class _Options:
    """What `set_printoptions` changes."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: dict[str | None, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
OPTIONS = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print: a profile ("default", "short", "full") first, then each option given.

    As in torch, `sci_mode` is set by every call: leaving it out makes the choice automatic again.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = _PROFILES.get(profile, {}) | {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the present options, as `set_printoptions` takes them."""
    return asdict(OPTIONS)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Set print options for the length of a `with` block; the arguments are those of `set_printoptions`."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def format_tensor(
    array: np.ndarray[Any, Any],
    *,
    dtype: dtypes.dtype,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    device: str | None = None,
    default_dtype: dtypes.dtype,
    is_parameter: bool = False,
    indent: int = 0,
    name: str = "tensor",
    tangent: str | None = None,
    contents: str | None = None,
) -> str:
    """Write `array` as torch's repr writes the tensor that it is the value of.

    `device` is what to show, None for the default one; `grad_fn_name` is shown as `grad_fn=<name>`. `name` is
    the class of a Tensor subclass, `tangent` how its derivative in forward mode is written, `contents` what stands in
    the place of the numbers. `indent` is the column at which the text will start.
    """
    prefix = f"{name}("
    column = indent + len(prefix)
    suffixes = [] if device is None else [f"device='{device}'"]
    suffixes += _shape_and_dtype(array, dtype, default_dtype)
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    numbers = format_values(array, column) if contents is None else contents
    text = with_suffixes(prefix + numbers, suffixes, column, indent)
    if not is_parameter:
        return text
    return "Parameter containing:\n" + (text if name == "tensor" else f"Parameter({text})")


def format_values(array: np.ndarray[Any, Any], column: int) -> str:
    """Write the numbers in brackets, for a text whose first bracket stands at `column`."""
    if array.size == 0:
        return "[]"
    elided = (False,) * array.ndim
    if array.size > OPTIONS.threshold:
        if array.ndim and not OPTIONS.edgeitems:
            return "[...]"
        array, elided = _edges(array, OPTIONS.edgeitems)
    cells, width = _formatted(array)
    return cells[0] if array.ndim == 0 else _Layout(cells, array.shape, elided, width).block(0, column)


def _shape_and_dtype(array: np.ndarray[Any, Any], dtype: dtypes.dtype, default_dtype: dtypes.dtype) -> list[str]:
    """Return the size and dtype suffixes: what the numbers themselves do not tell."""
    if array.size == 0:
        show_size, implied = array.ndim != 1, (default_dtype,)
    else:
        show_size = not OPTIONS.edgeitems
        implied = (default_dtype, default_dtype.to_complex(), dtypes.int64, dtypes.bool_)
    size = [f"size={tuple(array.shape)}"] if show_size else []
    return size if dtype in implied else [*size, f"dtype={dtype!r}"]


def with_suffixes(text: str, suffixes: Sequence[str], column: int, indent: int, *, breaks: bool = False) -> str:
    """Append the suffixes and the closing bracket, each suffix on a new line where the last one is full.

    breaks: the first one on a new line in any case.
    """
    newline = text.rfind("\n")
    # torch counts two characters more than the line has: where the line breaks depends on it.
    length = len(text) - newline + 1 + (indent if newline < 0 else 0)
    for suffix in suffixes:
        if breaks or length + len(suffix) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * column + suffix
            length, breaks = column + len(suffix), False
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def _edges(array: np.ndarray[Any, Any], edge: int) -> tuple[np.ndarray[Any, Any], tuple[bool, ...]]:
    """Return the array without the middle of its long axes, and which axes those are."""
    elided = tuple(length > 2 * edge for length in array.shape)
    if not any(elided):
        return array, elided
    ends = np.r_[0:edge, -edge:0]
    kept = (ends if is_long else np.arange(n) for n, is_long in zip(array.shape, elided, strict=True))
    return array[np.ix_(*kept)], elided


class _Layout:
    """Brackets, commas and line breaks around cells that are written already."""

    __slots__ = ("cells", "elided", "shape", "strides", "width")

    def __init__(self, cells: list[str], shape: tuple[int, ...], elided: tuple[bool, ...], width: int) -> None:
        self.cells, self.shape, self.elided, self.width = cells, shape, elided, width
        self.strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def block(self, axis: int, column: int, start: int = 0) -> str:
        """Write the part of the array whose cells begin at `start`, from `axis` inwards."""
        length, stride = self.shape[axis], self.strides[axis]
        if axis == len(self.shape) - 1:
            return self._row(self.cells[start : start + length], self.elided[axis], column)
        blocks = [self.block(axis + 1, column + 1, start + i * stride) for i in range(length)]
        if self.elided[axis]:
            blocks.insert(length // 2, "...")
        gap = ",".ljust(len(self.shape) - axis, "\n") + " " * (column + 1)
        return f"[{gap.join(blocks)}]"

    def _row(self, cells: list[str], elided: bool, column: int) -> str:
        if elided:
            cells.insert(len(cells) // 2, " ...")
        per_line = max(1, math.floor((OPTIONS.linewidth - column) / self.width))
        lines = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
        gap = ",\n" + " " * (column + 1)
        return f"[{gap.join(lines)}]"


def _formatted(array: np.ndarray[Any, Any]) -> tuple[list[str], int]:
    """Return each number's text, padded to one width, and the columns that it takes with its comma."""
    flat = array.reshape(-1)
    if array.dtype.kind == "c":
        real, real_width = _formatted_floats(flat.real.astype(np.float64))
        imag, imag_width = _formatted_floats(flat.imag.astype(np.float64))
        return [_complex(a, b.lstrip()) for a, b in zip(real, imag, strict=True)], real_width + imag_width + 3
    if array.dtype.kind in "iub":
        texts = [str(value) for value in flat.tolist()]
        width = max(map(len, texts))
    else:
        texts, width = _formatted_floats(flat.astype(np.float64))
    return [text.rjust(width) for text in texts], width + 2


def _complex(real: str, imag: str) -> str:
    return f"{real}{imag}j" if imag.startswith("-") else f"{real}+{imag}j"


def _formatted_floats(values: np.ndarray[Any, Any]) -> tuple[list[str], int]:
    """Return padded texts and their width, which the nonzero finite values alone decide."""
    regular = values[np.isfinite(values) & (values != 0)]
    if regular.size == 0:
        return [_whole(value) for value in values.tolist()], 1
    whole = bool(np.all(regular == np.ceil(regular)))
    if _wants_exponent(np.abs(regular)):
        spec = f".{OPTIONS.precision}e"
    elif whole:
        width = max(len(_whole(value)) for value in regular.tolist())
        return [_whole(value).rjust(width) for value in values.tolist()], width
    else:
        spec = f".{OPTIONS.precision}f"
    width = max(len(format(value, spec)) for value in regular.tolist())
    return [format(value, spec).rjust(width) for value in values.tolist()], width


def _wants_exponent(magnitudes: np.ndarray[Any, Any]) -> bool:
    if OPTIONS.sci_mode is not None:
        return OPTIONS.sci_mode
    least, most = float(magnitudes.min()), float(magnitudes.max())
    return most / least > 1000.0 or most > 1.0e8 or least < 1.0e-4


def _whole(value: float) -> str:
    """Write a whole number with the point that tells it from an integer."""
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
