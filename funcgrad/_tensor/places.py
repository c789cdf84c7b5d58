"""Functions that take a place along a dimension: select, narrow and their kin.

The place is checked here: once it has changed, a program sees it as an input only, whose value no row may look at.
"""

from __future__ import annotations

from typing import Any

from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_some_int
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.facts import in_range
from funcgrad._tensor.registry import both, function
from funcgrad._tensor.tensor import Tensor


def _selected(name: str, input: Tensor, dim: Any, index: Any, position: int) -> tuple[int, Any]:
    if isinstance(dim, str):
        raise TypeError(f"{name}(): argument 'dim' must be int, not str: dimensions have no names here")
    if input.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    along, place = in_range(input, dim), as_some_int(index, f"{name}(): argument 'index' (position {position})")
    size = input.shape[along]
    if not -size <= place < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    return along, place


@both()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return the view at `index` of one dimension, which is left out. IndexError beyond its ends."""
    along, place = _selected("select", input, dim, index, 2)
    return call(TABLE["select"], (input, place), (along,))


@function()
def select_copy(input: Tensor, dim: int, index: int, *, out: Any = None) -> Tensor:
    """Return what `select` shows as a tensor of its own."""
    along, place = _selected("select_copy", input, dim, index, 3)
    copied = call(TABLE["select_copy"], (input, place), (along,))
    return copied if out is None else write_out(out, copied)


@both()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int, *, out: Any = None) -> Tensor:
    """Return `input` with `src` at `index` of one dimension. RuntimeError where the shapes differ."""
    along, place = _selected("select_scatter", input, dim, index, 3)
    written = call(TABLE["select_scatter"], (input, src, place), (along,))
    return written if out is None else write_out(out, written)


def _narrowed(input: Tensor, dim: Any, start: Any, length: Any) -> tuple[int, Any, int]:
    if input.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.ndim != 0 or start.dtype.category != dtypes.INTEGER):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    along, first, count = (
        in_range(input, dim),
        as_some_int(start, "narrow(): argument 'start' (position 2)"),
        as_some_int(length, "narrow(): argument 'length' (position 3)"),
    )
    if count < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = input.shape[along]
    if not -size <= first <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {first})")
    first = first + size if first < 0 else first
    if first + count > size:
        raise RuntimeError(f"start ({first}) + length ({count}) exceeds dimension size ({size}).")
    return along, first, count


@both()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Return the view of `length` parts of one dimension from `start` on, which may count from the end."""
    along, first, count = _narrowed(input, dim, start, length)
    return call(TABLE["narrow"], (input, first), (along, count))


@both()
def narrow_copy(input: Tensor, dim: int, start: int, length: int, *, out: Any = None) -> Tensor:
    """Return what `narrow` shows as a tensor of its own."""
    if dim >= max(input.ndim, 1):
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    if isinstance(length, int) and length < 0:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input.shape[dim]}).")
    along, first, count = _narrowed(input, dim, start, length)
    copied = call(TABLE["narrow_copy"], (input, first), (along, count))
    return copied if out is None else write_out(out, copied)
