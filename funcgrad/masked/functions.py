"""Masked functions: what is left out gets the number that changes nothing (0 in a sum), then the plain function runs.

Of all: mask is True where an element counts, of the input's shape or one that broadcasts to it (None: all count); dim
is one dimension or several, None or () all; dtype is what the input is cast to first. Where nothing counts the result
is the function of no numbers: 0 for a sum, NaN for a mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.info import iinfo
from funcgrad._base.layouts import strided
from funcgrad._tensor import functions as fg
from funcgrad._tensor.arguments import as_dims, as_dtype
from funcgrad._tensor.functions import lookup
from funcgrad._tensor.tensor import Tensor

Dim = int | tuple[int, ...] | None
_of_table = lookup("")
_linalg = lookup("linalg")


def _chosen(input: Tensor, mask: Tensor | None, instead: Any) -> Tensor:
    """Return the input with `instead` where the mask is False."""
    if mask is None:
        return input
    return _of_table("where")(_mask_of(input, mask), input, instead)


def _input_mask(input: Tensor, *args: Any, mask: Tensor | None = None, **options: Any) -> Tensor:
    """Return which elements a call of a masked function counts, in the input's shape."""
    return fg.ones(input.shape, dtype=dtypes.bool_, device=input.device) if mask is None else _mask_of(input, mask)


def _output_mask(op: Callable[..., Tensor], input: Tensor, *args: Any, **options: Any) -> Tensor:
    """Return which of the results of a call of a masked function are made of any element at all."""
    counted = _input_mask(input, mask=options.get("mask"))
    if op.__name__ in ("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"):
        return counted
    place = 1 if op.__name__ == "norm" else 0
    dim = options.get("dim", args[place] if len(args) > place else None)
    return counted.sum(_dims(input, dim), bool(options.get("keepdim"))) > 0


def _mask_of(input: Tensor, mask: Tensor) -> Tensor:
    if mask.ndim > input.ndim:
        raise IndexError("expected a mask that broadcasts to the input, but it has more dimensions than the input")
    whole = mask if mask.layout is strided else mask.to_dense()
    return whole.to(dtypes.bool_).expand(input.shape)


def _as(input: Tensor, dtype: Any) -> Tensor:
    return input if dtype is None else input.to(as_dtype(dtype))


def _summable(input: Tensor, dtype: Any) -> Tensor:
    """Cast to `dtype`; without one, small integers and truth values to int64."""
    if dtype is None and not input.dtype.is_differentiable:
        dtype = dtypes.int64
    return _as(input, dtype)


def _dims(input: Tensor, dim: Dim) -> tuple[int, ...]:
    given = as_dims(dim, "argument 'dim'")
    return given if given else tuple(range(input.ndim))


def _end(name: str, kind: DType, highest: bool) -> Any:
    """Return the least (or greatest) number of a dtype: infinite where it has that."""
    if kind is dtypes.bool_:
        raise NotImplementedError(f"identity of {name} on torch.bool input")
    if kind.is_floating_point:
        return float("inf") if highest else -float("inf")
    if kind.is_complex and name == "logsumexp":
        return -float("inf")
    info = iinfo(kind)
    return info.max if highest else info.min


def _without(name: str, input: Tensor, mask: Tensor | None, highest: bool) -> Tensor:
    return input if mask is None else _chosen(input, mask, _end(name, input.dtype, highest))


def sum(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Add what counts; 0 where nothing does."""
    counted = _chosen(_summable(input, dtype), mask, 0)
    return counted.sum(_dims(input, dim), keepdim, dtype=counted.dtype)


def prod(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Multiply what counts; 1 where nothing does."""
    result = _chosen(_summable(input, dtype), mask, 1)
    dims = _distinct(input, dim)
    for d in sorted(dims, reverse=True):
        result = result.prod(d, keepdim)
    return result


def _distinct(input: Tensor, dim: Dim) -> list[int]:
    """Return dimensions counted from the front. IndexError beyond the last; RuntimeError for one given twice."""
    bound, dims = max(input.ndim, 1), []
    for d in _dims(input, dim):
        if not -bound <= d < bound:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {d})"
            )
        if d % bound in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        dims.append(d % bound)
    return dims


def mean(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return the mean of what counts; NaN where nothing does. ValueError for integers without `dtype`."""
    if dtype is None and not input.dtype.is_differentiable:
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype}"
        )
    if mask is None:
        return _as(input, dtype).mean(_dims(input, dim), keepdim)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, dim, keepdim, mask)


def _count(input: Tensor, dim: Dim, keepdim: bool, mask: Tensor | None) -> Tensor:
    counted = fg.ones(input.shape, dtype=dtypes.int64, device=input.device)
    return _chosen(counted, mask, 0).sum(_dims(input, dim), keepdim)


def amax(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return the greatest of what counts; -infinity, or an integer dtype's least number, where nothing does."""
    return _without("amax", _as(input, dtype), mask, False).amax(_dims(input, dim), keepdim)


def amin(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return the least of what counts; infinity, or an integer dtype's greatest number, where nothing does."""
    return _without("amin", _as(input, dtype), mask, True).amin(_dims(input, dim), keepdim)


def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return the place of the greatest of what counts, in the flattened input without `dim`; 0 where nothing does.

    As torch's, it has the input's dtype.
    """
    given = _as(input, dtype)
    return _without("argmax", given, mask, False).argmax(dim, keepdim).to(given.dtype)


def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return the place of the least of what counts, in the flattened input without `dim`; 0 where nothing does.

    As torch's, it has the input's dtype.
    """
    given = _as(input, dtype)
    return _without("argmin", given, mask, True).argmin(dim, keepdim).to(given.dtype)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return the median of what counts, NaNs aside; NaN where nothing does, ValueError then for integers."""
    given = _as(input, dtype)
    wide = given if given.dtype.is_floating_point else given.to(dtypes.float32)
    along = _dims(input, dim)[0] if input.ndim else 0
    found = _of_table("nanmedian")(_chosen(wide, mask, float("nan")), along, keepdim).values
    if given.dtype.is_floating_point:
        return found
    if found.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.to(given.dtype)


def norm(
    input: Tensor, ord: float | None = 2.0, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the `ord`-norm of what counts."""
    order = 2.0 if ord is None else ord
    given = _as(input, dtype)
    instead: float = 0 if order >= 0 else float("inf")
    return _linalg("vector_norm")(_chosen(given, mask, instead), order, _dims(input, dim), keepdim)


def var(
    input: Tensor, dim: Dim = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the variance of what counts: the squared distances from the mean over their number less `correction`."""
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    fewer = int(unbiased is None or unbiased) if correction is None else correction
    if dtype is None and not input.dtype.is_differentiable:
        dtype = dtypes.get_default_dtype()
    if input.dtype is dtypes.bool_:
        input = input - input  # refused, with torch's words for it
    given = _as(input, dtype)
    total = sum(given, dim, keepdim=True, mask=mask)
    distance = given - total / _count(input, dim, True, mask)
    squares = sum(distance * distance.conj(), dim, keepdim=keepdim, mask=mask)
    return (squares / (_count(input, dim, keepdim, mask) - fewer).clamp(min=0)).to(given.dtype)


def std(
    input: Tensor, dim: Dim = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return the square root of the variance of what counts."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


def logsumexp(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return log(sum(exp(x))) of what counts, in the input's dtype."""
    given = _as(input, dtype)
    return _without("logsumexp", given, mask, False).logsumexp(_dims(input, dim), keepdim).to(given.dtype)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return log(exp(input) + exp(other)), of each what its mask counts."""
    one, two = _as(input, dtype), _as(other, dtype)
    return _of_table("logaddexp")(
        _without("logaddexp", one, input_mask, False), _without("logaddexp", two, other_mask, False)
    )


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Return the sum up to each place of what counts."""
    counted = _chosen(_as(input, dtype), mask, 0)
    return counted.cumsum(dim, dtype=counted.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Return the product up to each place of what counts."""
    counted = _chosen(_as(input, dtype), mask, 1)
    return counted.cumprod(dim, dtype=counted.dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Return the softmax of what counts, 0 elsewhere; NaN where nothing counts."""
    return _without("amax", _as(input, dtype), mask, False).softmax(dim)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Return the logarithm of the softmax of what counts, -infinity elsewhere."""
    return _without("amax", _as(input, dtype), mask, False).log_softmax(dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Return the softmax of the negated input, of what counts."""
    return (-_without("amin", _as(input, dtype), mask, True)).softmax(dim)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:  # fmt: skip
    """Return what counts, divided by its `ord`-norm or `eps`, whichever is greater; 0 elsewhere."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _chosen(_as(input, dtype), mask, 0) / length.clamp(min=eps)
