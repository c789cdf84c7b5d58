"""torch.histogram and torch.histogramdd: what their bins may be, and the named tuples that they return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from funcgrad._base.containers import register_results
from funcgrad._base.cpp_names import c_type_name
from funcgrad._ops.table import TABLE
from funcgrad._tensor.arguments import as_frozen
from funcgrad._tensor.call import call, repr_like_torch, write_out
from funcgrad._tensor.registry import both, function
from funcgrad._tensor.tensor import Tensor


class _Histogram(NamedTuple):
    """What torch calls torch.return_types.histogram."""

    hist: Tensor
    bin_edges: Any

    __repr__ = repr_like_torch


HISTOGRAM = type("histogram", (_Histogram,), {"__module__": "torch.return_types", "__slots__": ()})
HISTOGRAMDD = type("histogramdd", (_Histogram,), {"__module__": "torch.return_types", "__slots__": ()})
register_results(HISTOGRAM)
register_results(HISTOGRAMDD)


def _check_edges(points: Tensor, edges: tuple[Tensor, ...]) -> None:
    """RuntimeError for edges that are not one row of numbers of the input's dtype for each coordinate."""
    for dim, edge in enumerate(edges):
        where, count = f"for dimension {dim}", edge.numel()
        if edge.dtype is not points.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{c_type_name(points.dtype)} and bins {where} with dtype {c_type_name(edge.dtype)}"
            )
        if edge.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {edge.ndim} dimensions in the bins "
                f"tensor {where}"
            )
        if not count:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have at least 1 element, but got {count} elements in the bins "
                f"tensor {where}"
            )


def _check_counts(counts: Sequence[int], range: Any) -> None:
    """RuntimeError for no bins, or for a range that is none."""
    for dim, count in enumerate(counts):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}")
    if range is None:
        return
    if len(range) != 2 * len(counts):
        raise RuntimeError(
            f"torch.histogramdd: for a {len(counts)}-dimensional histogram range should have {2 * len(counts)} "
            f"elements, but got {len(range)}"
        )
    for dim, (low, high) in enumerate(zip(range[::2], range[1::2], strict=True)):
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
            )


def _check_weight(points: Tensor, weight: Tensor | None) -> None:
    """RuntimeError for weights that are not one number of the input's dtype for each point."""
    if weight is None:
        return
    if weight.dtype is not points.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({c_type_name(points.dtype)}), and weight({c_type_name(weight.dtype)})"
        )
    if weight.shape != points.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(points.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )


def _counted(points: Tensor, bins: Any, range: Any, weight: Any, density: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
    edges = tuple(bins)
    if all(isinstance(edge, Tensor) for edge in edges):
        _check_edges(points, edges)
    else:
        _check_counts(edges, range)
        edges = call(TABLE["histogram_edges"], (points,), (tuple(int(n) for n in bins), as_frozen(range)))
        edges = edges if isinstance(edges, tuple) else (edges,)
    return call(TABLE["histogram_counts"], (points, *edges, weight), (density,)), edges


@both()
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """Count the elements (or add their weights) in each of `bins` equal parts of `range`, or between the edges given.

    Returns hist and bin_edges.
    """
    given = (bins,) if isinstance(bins, Tensor) else (int(bins),)
    points, weight = input.reshape(-1, 1), None if weight is None else weight.reshape(-1)
    _check_weight(points, weight)
    hist, edges = _counted(points, given, range, weight, density)
    result = HISTOGRAM(hist, edges[0])
    return result if out is None else HISTOGRAM(*write_out(tuple(out), tuple(result)))


@function()
def histogramdd(
    input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> Any:
    """Count points (*, D), or add weights (*), in boxes: `bins` equal parts of each coordinate, or edges for each.

    Returns hist and a tuple of bin_edges. Raises RuntimeError where bins, weights and input do not fit together.
    """
    size = input.shape[-1]
    given = [bins] * size if isinstance(bins, int) else list(bins)
    if len(given) != size:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    _check_weight(input, weight)
    return HISTOGRAMDD(*_counted(input.reshape(-1, size), given, range, weight, density))
