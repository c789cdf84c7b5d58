"""Functions of one name and several meanings (max, where, roll, ...), each a front of one or more rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._ops.conditions import are_below, are_from_0, are_places
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import MISSING, as_bool, as_dims, as_some_dims, as_some_int, require_tensor
from funcgrad._tensor.by_rows import call_by_rows
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.forms import refused_forms
from funcgrad._tensor.indexing import put_at
from funcgrad._tensor.interop import from_host, host_numbers, to_host
from funcgrad._tensor.on_arrays import on_arrays
from funcgrad._tensor.refused_numbers import check_choice, require
from funcgrad._tensor.registry import asks_late, both, function, method
from funcgrad._tensor.selections import places_where
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_bytes, warn_of_few_observations, warn_of_old_name


def _extreme(word: str, pairwise: str) -> Any:
    whole, along, both_of = TABLE[f"{word}_all"], TABLE[f"{word}_dim"], TABLE[pairwise]

    def extreme(
        input: Tensor, dim_or_other: Any = MISSING, keepdim: Any = MISSING, *, dim: Any = MISSING, other: Any = None,
        axis: Any = MISSING, keepdims: Any = MISSING, out: Any = None,
    ) -> Any:  # fmt: skip
        """Return the extreme of all elements; of one dimension, with indices; or of two tensors, element by element."""
        if other is None and isinstance(dim_or_other, (Tensor, jax.Array)) and keepdim is keepdims:
            other = dim_or_other
        dim = dim_or_other if dim is MISSING and axis is MISSING else axis if dim is MISSING else dim
        if other is not None:
            result = call(both_of, (input, other))
        elif dim is MISSING:
            result = call(whole, (input,))
        else:
            keeps = keepdims if keepdim is MISSING else keepdim
            keeps = keeps is not MISSING and _keeps(word, keeps)
            result = call(along, (input,), (as_some_int(dim, f"{word}(): argument 'dim'"), keeps))
        return result if out is None else write_out(out, result, not isinstance(result, tuple), word)

    extreme.__name__ = word
    return extreme


def _middle(word: str) -> Any:
    whole, along = TABLE[f"{word}_all"], TABLE[f"{word}_dim"]

    def middle(
        input: Tensor, dim: Any = MISSING, keepdim: bool = False, *, axis: Any = None, keepdims: Any = None,
        out: Any = None,
    ) -> Any:  # fmt: skip
        """Return the median of all elements; with `dim`, those of one dimension and their indices."""
        dim = dim if axis is None else axis
        if dim is MISSING:
            result = call(whole, (input,))
        else:
            keeps = keepdim if keepdims is None else keepdims
            result = call(along, (input,), (as_some_int(dim, f"{word}(): argument 'dim'"), _keeps(word, keeps)))
        return result if out is None else write_out(out, result, not isinstance(result, tuple), word)

    middle.__name__ = word
    return middle


def _keeps(word: str, given: Any) -> bool:
    return as_bool(given, f"{word}(): argument 'keepdim' (position 2)")


both("max")(_extreme("max", "maximum"))
both("min")(_extreme("min", "minimum"))
both("median")(_middle("median"))
both("nanmedian")(_middle("nanmedian"))


@function()
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """Return `input` where the condition holds, else `other`; without them, the places where it holds."""
    choices = [x for x in (input, other) if x is not None]
    if choices and not (_is_array(condition) and len(choices) == 2 and all(map(_is_number, choices))):
        if asks_late((condition, *choices)):
            return where(condition, *choices)
        raise refused_forms("where", [("", x) for x in (condition, *choices)])
    require_tensor(condition, "where(): argument 'condition' (position 1)")
    if input is None and other is None:
        return places_where(condition)
    warn_of_bytes(condition)
    check_choice(input, other)
    check_choice(other, input)
    result = call(TABLE["where"], (condition, input, other))
    return result if out is None else write_out(out, result, "Expected out type to be {made} but got {given}", "where")


def _is_array(given: Any) -> bool:
    return isinstance(given, (Tensor, jax.Array))


def _is_number(given: Any) -> bool:
    return _is_array(given) or isinstance(given, (bool, int, float, complex, np.generic))


@method("where")
def where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Return the tensor's elements where the condition holds, else those of `other`."""
    return where(condition, self, other)


@method("__invert__")
def invert(self: Tensor) -> Tensor:
    """~self: `bitwise_not`. TypeError for floats."""
    if self.dtype.is_differentiable:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return call(TABLE["bitwise_not"], (self,))


# Questions with a Python answer


@both()
def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether both have the same shape and elements."""
    require_tensor(other, "equal(): argument 'other' (position 2)")
    return input.shape == other.shape and bool((input == other).all().item())


@both()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Tell whether |input - other| <= atol + rtol * |other| everywhere."""
    require_tensor(other, "allclose(): argument 'other' (position 2)")
    return bool(input.isclose(other, rtol=rtol, atol=atol, equal_nan=equal_nan).all().item())


@both()
def is_nonzero(input: Tensor) -> bool:
    """Tell whether the one number in this tensor is not zero."""
    return Tensor.__bool__(input)


# Checks of values


@both()
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Return the covariance of the rows, each observation counted `fweights` times and weighted by `aweights`.

    Shape: input (variables, observations), result (variables, variables). RuntimeError for weights that do not fit.
    """
    count = input.shape[-1] if input.ndim else 1
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            continue
        if weights.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions"
            )
        if weights.dtype.is_differentiable == (name == "fweights"):
            kind = "integral" if name == "fweights" else "floating point"
            given = scalar_type_name(weights.dtype)
            raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {given} dtype")
        if weights.numel() != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                f"{weights.numel()} != {count}"
            )
        numbers = host_numbers(weights._current().value)
        if numbers is not None and (numbers < 0).any():
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is None and aweights is None:
        warn_of_few_observations(input, correction)
    return call(TABLE["cov"], (input, fweights, aweights), (correction,))


@both()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Any = None) -> Tensor:
    """Return input[i][index[i][j]] for dim = 1, and so on. Shape: that of `index`.

    RuntimeError for a place out of range.
    """
    along = as_some_int(dim, "gather(): argument 'dim' (position 1)")
    result = call_by_rows(TABLE["gather"], (input, index), (along, sparse_grad))
    require(are_places, index, input, along)
    return result if out is None else write_out(out, result, False)


@both()
def lu(
    A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None
) -> Any:  # fmt: skip
    """Return L and U in one matrix and the row swaps; with `get_infos` also where each first failed (0: nowhere).

    An older spelling of `linalg.lu_factor`.
    """
    warn_of_old_name("lu")
    factors, pivots, infos = call(TABLE["lu_factor_ex"], (A,), (pivot, False))
    found = (factors, pivots, infos) if get_infos else (factors, pivots)
    return found if out is None else write_out(out, found)


# Repeats and places


@both()
def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Repeat each element in its place, all as often or each as `repeats` says.

    RuntimeError where the result is not as long as `output_size`, if that is given.
    """
    if repeats is None:
        if input.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        return from_host(np.repeat(np.arange(input.shape[0]), to_host(input)), dtype=dtypes.int64)
    if not isinstance(repeats, Tensor):
        times = as_some_int(repeats, "repeat_interleave(): argument 'repeats'")
        result = call(TABLE["repeat_interleave"], (input,), (times, dim))
        length = result.shape[0 if dim is None else dim]
        if output_size not in (None, length):
            raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {length} but got {output_size}")
        return result
    if repeats.dtype.category != dtypes.INTEGER:
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{scalar_type_name(repeats.dtype)}'")
    counts = to_host(repeats)
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    whole = input.flatten() if dim is None else input
    along = 0 if dim is None else dim
    if counts.size not in (1, whole.shape[along]):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and "
            f"input.size({along}) = {whole.shape[along]}"
        )
    places = np.repeat(np.arange(whole.shape[along]), counts.reshape(-1))
    if output_size not in (None, len(places)):
        raise RuntimeError("allocated size does not match required size")
    return whole.index_select(along, from_host(places, dtype=dtypes.int64))


@both()
@on_arrays
def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Shift elements along `dims`; what falls off the end comes in at the front. Without `dims`: of the flat tensor."""
    by = as_some_dims(shifts, "roll(): argument 'shifts' (position 1)")
    along = as_dims(dims, "roll(): argument 'dims' (position 2)") or ()
    return call(TABLE["roll"], (input, *by), (along,))


@function("nn.functional.one_hot")
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Return int64 zeros with a one at each class, in a new last dimension; -1: as many as the largest class needs."""
    require(are_from_0, input)
    label = "one_hot(): argument 'num_classes' (position 2)"
    if num_classes is None or isinstance(num_classes, bool):
        raise TypeError(f"{label} must be int, not {type(num_classes).__name__}")
    count = as_some_int(num_classes, label)
    if count == -1:
        if not input.numel():
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        count = int(input.max().item()) + 1
    elif count:
        require(are_below, input, None, count)
    return call(TABLE["one_hot"], (input,), (count,))


@both()
def index_put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """Return a copy with `values` (broadcast) written, or added, where `input[indices]` would read."""
    return put_at(input.clone(), indices, values, accumulate)


@both("index_put_", "_index_put_impl_")
def index_put_(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """Write, or add, `values` (broadcast) where `input[indices]` reads."""
    input._check_writable()
    return put_at(input, indices, values, accumulate)


@function()
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Return the place in each dimension of places in the flattened tensor. ValueError for a negative size or place."""
    if indices.dtype.category != dtypes.INTEGER:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    indices = indices.to(dtypes.int64)
    sizes = as_dims(shape, "unravel_index(): argument 'shape'") or ()
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [int(n) for n in np.cumprod((1, *sizes[:0:-1]))[::-1]] if sizes else []
    return tuple((indices // step) % size for step, size in zip(steps, sizes, strict=True))
