"""Functions of one name and several meanings (max, where, split, ...), each a front of one or more rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.size import Size
from funcgrad._ops.table import TABLE
from funcgrad._tensor.call import call, call_in_place
from funcgrad._tensor.front import as_dims, as_int
from funcgrad._tensor.indexing import _slice
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor

FUNCTIONS: dict[str, Any] = {}
BOTH: dict[str, Any] = {}


def both(*names: str) -> Callable[[Any], Any]:
    """Give a function to the plain namespace and to Tensor under these names (its own, without names)."""

    def enter(function: Any) -> Any:
        for name in names or (function.__name__,):
            BOTH[name] = function
        return function

    return enter


def _extreme(word: str, pairwise: str) -> Any:
    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
        """Return the extreme of all elements; of one dimension, with its indices; or of two tensors, element by element."""
        other = dim if isinstance(dim, Tensor) and not isinstance(dim, int) else other
        if other is not None:
            result = call(TABLE[pairwise], (input, other))
        elif dim is None:
            result = call(TABLE[f"{word}_all"], (input,))
        else:
            result = call(TABLE[f"{word}_dim"], (input,), (as_int(dim), keepdim))
        return result if out is None else _into(out, result)

    extreme.__name__ = word
    return extreme


BOTH["max"], BOTH["min"] = _extreme("max", "maximum"), _extreme("min", "minimum")


def _into(out: Any, result: Any) -> Any:
    if isinstance(result, tuple):
        for target, part in zip(out, result, strict=True):
            target.copy_(part)
        return type(result)(*out)
    return out.copy_(result)


def _middle(word: str) -> Any:
    def middle(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
        """Return the median of all elements; with `dim`, those of one dimension and their indices."""
        result = (
            call(TABLE[f"{word}_all"], (input,))
            if dim is None
            else call(TABLE[f"{word}_dim"], (input,), (as_int(dim), keepdim))
        )
        return result if out is None else _into(out, result)

    middle.__name__ = word
    return middle


BOTH["median"], BOTH["nanmedian"] = _middle("median"), _middle("nanmedian")


# Where values decide the shape: the program is run, and recording goes on from what is then known


@both()
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """Return the places of the nonzero elements, a row each; or a tuple with the indices of each dimension."""
    found = np.nonzero(np.atleast_1d(to_host(input)))
    if as_tuple:
        return tuple(from_host(places, dtype=dtypes.int64, device=input.device) for places in found)
    rows = np.stack(found, -1) if input.ndim else np.zeros((len(found[0]), 0))
    return from_host(rows, dtype=dtypes.int64, device=input.device)


def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """Return `input` where the condition holds, else `other`; without them, the places where it holds."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    result = call(TABLE["where"], (condition, input, other))
    return result if out is None else out.copy_(result)


FUNCTIONS["where"] = where


def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    return where(condition, self, other)


@both()
def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """Return the elements where the mask, broadcast, is true. Shape: result (n,)."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = np.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    result = input.expand(shape)[mask.expand(shape)]
    return result if out is None else out.copy_(result)


@both()
def argwhere(input: Tensor) -> Tensor:
    """Return the places of the nonzero elements, a row each."""
    return nonzero(input)


@both()
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the different elements in order; optionally where each element went, and how often each occurs."""
    found = np.unique(to_host(input), return_inverse=True, return_counts=True, axis=dim)
    shape = input.shape if dim is None else (input.shape[dim],)
    parts = [found[0], found[1].reshape(shape), found[2]]
    return _chosen(parts, input, return_inverse, return_counts)


def _chosen(parts: list[Any], input: Tensor, inverse: bool, counts: bool) -> Any:
    tensors = [from_host(np.asarray(parts[0]), device=input.device)]
    tensors += [
        from_host(p, dtype=dtypes.int64, device=input.device) for p, wanted in zip(parts[1:], (inverse, counts), strict=True) if wanted
    ]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


@both()
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the elements without repeats of the one before; optionally where each went, and how often it came in a row."""
    array = to_host(input)
    rows = array.reshape(-1) if dim is None else np.moveaxis(array, dim, 0)
    new = np.ones(len(rows), bool)
    if len(rows) > 1:
        new[1:] = (rows[1:] != rows[:-1]).reshape(len(rows) - 1, -1).any(1)
    kept = rows[new] if dim is None else np.moveaxis(rows[new], 0, dim)
    inverse = np.cumsum(new) - 1
    counts = np.bincount(inverse) if len(rows) else np.zeros(0)
    shape = input.shape if dim is None else (len(rows),)
    return _chosen([kept, inverse.reshape(shape), counts], input, return_inverse, return_counts)


@both()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each integer occurs, or add up its weights. Shape: result (max + 1 or minlength,)."""
    array = to_host(input)
    if array.size and array.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    counted = np.bincount(array, None if weights is None else to_host(weights.detach()), minlength)
    kind = dtypes.int64 if weights is None else (
        weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64
    )
    return from_host(counted, dtype=kind, device=input.device)


@both()
def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether both have the same shape and elements."""
    return input.shape == other.shape and bool((input == other).all().item())


@both()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Tell whether |input - other| <= atol + rtol * |other| everywhere."""
    return bool(input.isclose(other, rtol=rtol, atol=atol, equal_nan=equal_nan).all().item())


@both()
def is_nonzero(input: Tensor) -> bool:
    """Tell whether the one number in this tensor is not zero."""
    return bool(input)


@both()
def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Repeat each element in its place, all as often or each as `repeats` says."""
    if repeats is None:
        return from_host(np.repeat(np.arange(input.shape[0]), to_host(input)), dtype=dtypes.int64)
    if not isinstance(repeats, Tensor):
        return call(TABLE["repeat_interleave"], (input,), (as_int(repeats), dim))
    counts = to_host(repeats)
    whole = input.flatten() if dim is None else input
    along = 0 if dim is None else dim
    places = np.repeat(np.arange(whole.shape[along]), counts if counts.ndim and counts.size > 1 else int(counts))
    return whole.index_select(along, from_host(places, dtype=dtypes.int64))


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Return int64 zeros with a one at each class, in a new last dimension; -1 classes: as many as the largest needs."""
    count = num_classes
    if num_classes == -1:
        count = int(input.max().item()) + 1
    return call(TABLE["one_hot"], (input,), (count,))


FUNCTIONS["nn.functional.one_hot"] = one_hot


# Several views at once


def _piece(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    return call(TABLE["slice"], (input, start), (dim, length, 1))


def _dim(input: Tensor, dim: Any) -> int:
    bound = max(input.ndim, 1)
    number = as_int(dim)
    assert number is not None
    if not -bound <= number < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {number})"
        )
    return number % bound


@both()
def split(input: Tensor, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None) -> tuple[Tensor, ...]:
    """Return views of pieces of one dimension: all of one size but the last, or of the sizes given."""
    given = split_size if split_size_or_sections is None else split_size_or_sections
    dim = _dim(input, dim)
    size = input.shape[dim]
    if isinstance(given, int) or isinstance(given, Tensor):
        step = int(given)
        if step < 0 or (step == 0 and size > 0):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
        sections = [min(step, size - at) for at in range(0, size, step)] if size else [0]
    else:
        sections = list(as_dims(given) or ())
        if sum(sections) != size:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), "
                f"but got split_sizes={sections}"
            )
    starts = np.cumsum([0, *sections]).tolist()
    return tuple(_piece(input, dim, at, n) for at, n in zip(starts, sections, strict=False))


BOTH["split_with_sizes"] = split


@both()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most `chunks` views of equal size (the last may be smaller) of one dimension."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input.shape[_dim(input, dim)]
    step = -(-size // chunks)
    return split(input, step, dim) if size else tuple(input for _ in range(chunks))


@both()
def tensor_split(input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None,
                 sections: Any = None) -> tuple[Tensor, ...]:  # fmt: skip
    """Return views of one dimension: as many as said, nearly equal; or cut at the indices given."""
    given = next(x for x in (indices_or_sections, indices, sections) if x is not None)
    dim = _dim(input, dim)
    size = input.shape[dim]
    given = given.tolist() if isinstance(given, Tensor) else given
    if isinstance(given, int):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        small, larger = divmod(size, given)
        cuts = np.cumsum([small + (i < larger) for i in range(given)])[:-1].tolist()
    else:
        cuts = list(given)
    ends = [*cuts, size]
    return tuple(_slice(input, dim, slice(a, b)) for a, b in zip([0, *cuts], ends, strict=True))


@both()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the views that one dimension is made of."""
    dim = _dim(input, dim)
    return tuple(call(TABLE["select"], (input, i), (dim,)) for i in range(input.shape[dim]))


def _split_along(name: str, dim: int, least: int) -> None:
    def split_along(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """Return views of one dimension: as many equal ones as said, or cut at the indices given."""
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
                "dimensions!"
            )
        return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 and name == "hsplit" else dim)

    split_along.__name__ = name
    BOTH[name] = split_along


_split_along("hsplit", 1, 1)
_split_along("vsplit", 0, 2)
_split_along("dsplit", 2, 3)


# Factories of methods that need a tensor's own name


@both("apply_")
def apply_(self: Tensor, function: Callable[[Any], Any]) -> Tensor:
    """Replace every element by function(element), one Python call each."""
    array = to_host(self.detach())
    return self.copy_(from_host(np.vectorize(function, otypes=[array.dtype])(array)))


@both("fill_")
def fill_(input: Tensor, value: Any) -> Tensor:
    """Make all elements one number."""
    if isinstance(value, Tensor):
        return call_in_place(TABLE["fill_tensor"], (input, value))
    return call_in_place(TABLE["fill"], (input, value))


def broadcast_shapes(*shapes: Sequence[int]) -> Any:
    """Return the shape that all these broadcast to."""
    try:
        return Size(np.broadcast_shapes(*[as_dims(s) or () for s in shapes]))
    except ValueError as error:
        raise RuntimeError(f"Shape mismatch: objects cannot be broadcast to a single shape: {error}") from None


METHODS = {**BOTH, "where": _where_method}
FUNCTIONS.update({k: v for k, v in BOTH.items() if k != "apply_"})
FUNCTIONS["broadcast_shapes"] = broadcast_shapes
