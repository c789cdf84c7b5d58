"""Arithmetic, products of matrices, and shapes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from funcgrad._base.layouts import contiguous_format, strided
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.composed.rules import RULES, Rule, rule

# Arithmetic


@rule("__rsub__")
def _reversed_difference(aten: Any, self: Tensor, other: Any) -> Any:
    return aten.rsub(self, other)


@rule("__rtruediv__")
def _reversed_quotient(aten: Any, self: Tensor, other: Any) -> Any:
    return aten.mul(aten.reciprocal(self), other)


@rule("__rpow__")
def _reversed_power(aten: Any, self: Tensor, other: Any) -> Any:
    return aten.pow(other, self)


@rule("square")
def _square(aten: Any, input: Tensor) -> Any:
    return aten.pow(input, 2)


@rule("isfinite")
def _is_finite(aten: Any, input: Tensor) -> Any:
    if not input.is_floating_point():
        return NotImplemented
    return aten.mul(aten.ne(aten.abs(input), math.inf), aten.eq(input, input))


@rule("where")
def _where(aten: Any, condition: Tensor, *sides: Any) -> Any:
    if len(sides) != 2:
        return NotImplemented
    tensors = [x for x in sides if isinstance(x, Tensor)]
    if not tensors:
        return NotImplemented
    like = tensors[0]
    found = [
        x if isinstance(x, Tensor)
        else aten.scalar_tensor(x, dtype=like.dtype, layout=strided, device=like.device)
        for x in sides
    ]  # fmt: skip
    return aten.where(condition, *found)


@rule("max")
def _max(aten: Any, input: Tensor, *args: Any, **kwargs: Any) -> Any:
    return aten.maximum(input, args[0]) if args and isinstance(args[0], Tensor) else NotImplemented


@rule("min")
def _min(aten: Any, input: Tensor, *args: Any, **kwargs: Any) -> Any:
    return aten.minimum(input, args[0]) if args and isinstance(args[0], Tensor) else NotImplemented


def _deviation(name: str) -> Rule:
    def spread(
        aten: Any, input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *,
        correction: Any = None,
    ) -> Any:  # fmt: skip
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        dims = [dim] if isinstance(dim, int) else dim
        if dims is not None and correction is None:
            correction = 1
        return getattr(aten, name)(
            input, *([] if dims is None else [list(dims)]), correction=correction, keepdim=keepdim
        )

    return spread


RULES.update(std=_deviation("std"), var=_deviation("var"))


@rule("norm")
def _norm(
    aten: Any, input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None
) -> Any:  # fmt: skip
    if p not in ("fro", 2, 2.0, None) or out is not None or dtype is not None:
        return NotImplemented
    if dim is None:
        return aten.linalg_vector_norm(input)
    return aten.linalg_vector_norm(input, 2, [dim] if isinstance(dim, int) else list(dim), keepdim)


@rule("outer")
def _outer(aten: Any, input: Tensor, vec2: Tensor) -> Any:
    return aten.mul(aten.view(input, [input.shape[0], 1]), vec2)


@rule("normalize")
def _normalize(aten: Any, input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    if out is not None:
        return NotImplemented
    norm = aten.linalg_vector_norm(input, p, [dim] if isinstance(dim, int) else list(dim), True)
    return aten.div(input, aten.expand(aten.clamp_min(norm, eps), list(input.shape)))


# Products


@rule("linear")
def _linear(aten: Any, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if weight.ndim != 2:
        return NotImplemented
    if bias is None:
        return _product(aten, input, aten.t(weight))
    if input.ndim == 2:
        return aten.addmm(bias, input, aten.t(weight))
    if input.ndim < 3 or not input.is_contiguous():
        return aten.add(_product(aten, input, aten.t(weight)), bias)
    rows = aten.view(input, [math.prod(input.shape[:-1]), input.shape[-1]])
    found = aten.addmm(bias, rows, aten.t(weight))
    return aten.view(found, [*input.shape[:-1], weight.shape[0]])


@rule("matmul", "__matmul__")
def _matmul(aten: Any, input: Tensor, other: Tensor) -> Any:
    return _product(aten, input, other)


@rule("__rmatmul__")
def _reversed_matmul(aten: Any, self: Tensor, other: Tensor) -> Any:
    return _product(aten, other, self)


def _product(aten: Any, a: Tensor, b: Tensor) -> Any:
    if 0 in (a.ndim, b.ndim):
        return NotImplemented
    if a.ndim <= 2 and b.ndim <= 2:
        if a.ndim == 1 and b.ndim == 1:
            return aten.dot(a, b)
        if b.ndim == 1:
            return aten.mv(a, b)
        if a.ndim == 1:
            return aten.squeeze_(aten.mm(aten.unsqueeze(a, 0), b), 0)
        return aten.mm(a, b)
    return _folded(aten, a, b) if b.ndim <= 2 and a.ndim >= 3 else _batched(aten, a, b)


def _folded(aten: Any, a: Tensor, b: Tensor) -> Any:
    rows = _reshaped(aten, a, [math.prod(a.shape[:-1]), a.shape[-1]])
    if b.ndim == 1:
        return aten._unsafe_view(aten.mv(rows, b), list(a.shape[:-1]))
    return aten._unsafe_view(aten.mm(rows, b), [*a.shape[:-1], b.shape[-1]])


def _batched(aten: Any, a: Tensor, b: Tensor) -> Any:
    if a.ndim < 2 or b.ndim < 2:
        return NotImplemented
    batch = _broadcast(a.shape[:-2], b.shape[:-2])
    count = math.prod(batch)
    sides = []
    for x in (a, b):
        wide = aten.expand(x, [*batch, *x.shape[-2:]])
        sides.append(_reshaped(aten, wide, [count, *x.shape[-2:]]))
    return aten._unsafe_view(aten.bmm(*sides), [*batch, a.shape[-2], b.shape[-1]])


def _broadcast(first: Sequence[int], second: Sequence[int]) -> list[int]:
    count = max(len(first), len(second))
    pairs = zip((1,) * (count - len(first)) + tuple(first), (1,) * (count - len(second)) + tuple(second), strict=True)
    return [b if a == 1 else a for a, b in pairs]


@rule("einsum")
def _einsum(aten: Any, equation: str, *operands: Any) -> Any:
    listed = [x for given in operands for x in (given if isinstance(given, (list, tuple)) else [given])]
    named = equation.replace(" ", "") if isinstance(equation, str) else "."
    if "." in named or len(listed) > 2:  # of more, an order is looked for first
        return aten.einsum(equation, listed)
    given, arrow, result = named.partition("->")
    labels = given.split(",")
    if len(labels) != len(listed) or any(len(x) != y.ndim for x, y in zip(labels, listed, strict=True)):
        return aten.einsum(equation, listed)  # which refuses it
    counts = {label: given.count(label) for label in sorted(set("".join(labels)))}
    kept = result if arrow else "".join(label for label, count in counts.items() if count == 1)
    order = [*kept, *(label for label in counts if label not in kept)]
    sides = [_in_order(aten, x, own, order) for x, own in zip(listed, labels, strict=True)]
    summed = list(range(len(kept), len(order)))
    if len(sides) == 1:
        return aten.sum(sides[0], summed) if summed else sides[0]
    found = _contracted(aten, sides[0], sides[1], summed)
    return aten.view(found, list(found.shape[: len(kept)])) if summed else found


def _in_order(aten: Any, x: Tensor, labels: str, order: Sequence[str]) -> Any:
    """Turn a tensor's dimensions to an order of labels; a label twice is a diagonal, one that lacks has size 1."""
    places: dict[str, int] = {}
    for label in labels:
        if label in places:
            x = aten.diagonal(x, 0, places[label], len(places))
            turned = list(range(x.ndim - 1))
            x = aten.permute(x, [*turned[: places[label]], x.ndim - 1, *turned[places[label] :]])
        else:
            places[label] = len(places)
    for label in order:
        if label not in places:
            x, places[label] = aten.unsqueeze(x, x.ndim), len(places)
    return aten.permute(x, [places[label] for label in order])


def _contracted(aten: Any, left: Tensor, right: Tensor, summed: Sequence[int]) -> Any:
    """Multiply two tensors whose dimensions are in one order, adding up `summed`, which stay with size 1."""
    both = [d for d in summed if left.shape[d] != 1 and right.shape[d] != 1]
    alone = [[d for d in summed if x.shape[d] != 1 and y.shape[d] == 1] for x, y in ((left, right), (right, left))]
    left, right = (aten.sum(x, dims, True) if dims else x for x, dims in zip((left, right), alone, strict=True))
    if not both:
        return aten.mul(left, right)
    rest = [d for d in range(left.ndim) if d not in both]
    shared = [d for d in rest if left.shape[d] != 1 and right.shape[d] != 1]
    lefts = [d for d in rest if d not in shared and left.shape[d] != 1]
    rights = [d for d in rest if d not in shared and d not in lefts]
    sizes = [
        math.prod(x.shape[d] for d in dims)
        for x, dims in ((left, shared), (left, lefts), (left, both), (right, rights))
    ]
    out = [*(left.shape[d] for d in (*shared, *lefts)), *(1 for _ in both), *(right.shape[d] for d in rights)]
    order = [*shared, *lefts, *both, *rights]
    first = _reshaped(aten, aten.permute(left, order), [sizes[0], sizes[1], sizes[2]])
    second = _reshaped(aten, aten.permute(right, [*shared, *both, *rights, *lefts]), [sizes[0], sizes[2], sizes[3]])
    product = aten.view(aten.bmm(first, second), out)
    return aten.permute(product, [order.index(d) for d in range(len(order))])


# Shapes


def _whole_shape(size: Sequence[int], count: int) -> list[int]:
    known = math.prod(n for n in size if n != -1)
    return [count // known if n == -1 and known else n for n in size]


def _reshaped(aten: Any, x: Tensor, size: Sequence[int]) -> Any:
    size = _whole_shape(size, x.numel())
    if _is_view(x, size):
        return aten.view(x, size)
    return aten._unsafe_view(aten.clone(x, memory_format=contiguous_format), size)


def _is_view(x: Tensor, size: Sequence[int]) -> bool:
    """Tell whether each dimension, or a run of them, can be split or joined where it lies."""
    if x.is_contiguous() or x.numel() == 0:
        return True
    runs: list[list[int]] = []  # [elements, stride of the last] of each run that lies in a row
    for n, stride in zip(x.shape, x.stride(), strict=True):
        if n == 1:
            continue
        if runs and runs[-1][1] == n * stride:
            runs[-1] = [runs[-1][0] * n, stride]
        else:
            runs.append([n, stride])
    left = [n for n in size if n != 1]
    for count, _ in runs:
        while count > 1 and left and count % left[0] == 0:
            count //= left.pop(0)
        if count != 1:
            return False
    return not left


@rule("reshape")
def _reshape(aten: Any, input: Tensor, *shape: Any) -> Any:
    size = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return _reshaped(aten, input, list(size))


@rule("view_as", "reshape_as")
def _view_as(aten: Any, input: Tensor, other: Tensor) -> Any:
    return _reshaped(aten, input, list(other.shape))


@rule("expand_as")
def _expand_as(aten: Any, input: Tensor, other: Tensor) -> Any:
    return aten.expand(input, list(other.shape))


@rule("flatten")
def _flatten(aten: Any, input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    if not isinstance(start_dim, int) or not isinstance(end_dim, int):
        return NotImplemented
    start, end = start_dim % max(input.ndim, 1), end_dim % max(input.ndim, 1)
    if start == end and input.ndim:
        return input
    return _reshaped(
        aten, input, [*input.shape[:start], math.prod(input.shape[start : end + 1]), *input.shape[end + 1 :]]
    )


@rule("unflatten")
def _unflatten(aten: Any, input: Tensor, dim: int, sizes: Sequence[int]) -> Any:
    if not isinstance(dim, int):
        return NotImplemented
    dim %= input.ndim
    size = [*input.shape[:dim], *_whole_shape(sizes, input.shape[dim]), *input.shape[dim + 1 :]]
    return aten.view(input, size)


@rule("T")
def _turned(aten: Any, self: Tensor) -> Any:
    return aten.permute(self, list(range(self.ndim))[::-1])


@rule("mT")
def _matrices_turned(aten: Any, self: Tensor) -> Any:
    return aten.transpose(self, -2, -1)


@rule("movedim")
def _moved(aten: Any, input: Tensor, source: Any, destination: Any) -> Any:
    sources, places = ([x] if isinstance(x, int) else list(x) for x in (source, destination))
    at = dict(zip((d % input.ndim for d in places), (s % input.ndim for s in sources), strict=True))
    others = (d for d in range(input.ndim) if d not in at.values())
    return aten.permute(input, [at[d] if d in at else next(others) for d in range(input.ndim)])


@rule("narrow")
def _narrow(aten: Any, input: Tensor, dim: int, start: Any, length: int) -> Any:
    if isinstance(start, Tensor):
        return NotImplemented
    start %= max(input.shape[dim], 1) if start < 0 else start + 1
    return aten.slice(input, dim, start, start + length)


@rule("contiguous")
def _contiguous(aten: Any, input: Tensor, memory_format: Any = contiguous_format) -> Any:
    if input.is_contiguous(memory_format=memory_format):
        return input
    return aten.clone(input, memory_format=memory_format)


@rule("chunk")
def _chunk(aten: Any, input: Tensor, chunks: int, dim: int = 0) -> Any:
    size = -(-input.shape[dim] // chunks)
    return aten.split(input, size, dim) if size else NotImplemented


@rule("split")
def _split(aten: Any, tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    if isinstance(split_size_or_sections, int):
        return aten.split(tensor, split_size_or_sections, dim)
    return aten.split_with_sizes(tensor, list(split_size_or_sections), dim)


@rule("hstack")
def _hstack(aten: Any, tensors: Sequence[Tensor]) -> Any:
    return aten.cat(list(tensors), 0 if tensors[0].ndim == 1 else 1) if tensors[0].ndim else NotImplemented


@rule("vstack", "row_stack")
def _vstack(aten: Any, tensors: Sequence[Tensor]) -> Any:
    return aten.cat(list(tensors)) if tensors[0].ndim > 1 else NotImplemented


@rule("tensor_split")
def _tensor_split(aten: Any, input: Tensor, indices_or_sections: Any, dim: int = 0) -> Any:
    if not isinstance(indices_or_sections, int):
        return NotImplemented
    size, more = divmod(input.shape[dim], indices_or_sections)
    ends = [size * i + min(i, more) for i in range(indices_or_sections + 1)]
    return tuple(aten.slice(input, dim, *pair) for pair in itertools.pairwise(ends))


@rule("repeat_interleave")
def _repeat_interleave(aten: Any, input: Tensor, repeats: Any, dim: Any = None, *, output_size: Any = None) -> Any:
    if not isinstance(repeats, int) or dim is None or output_size is not None:
        return NotImplemented
    dim %= input.ndim
    before, after = list(input.shape[: dim + 1]), list(input.shape[dim + 1 :])
    wide = aten.expand(aten.unsqueeze(input, dim + 1), [*before, repeats, *after])
    whole = [*before[:-1], before[-1] * repeats, *after]
    return aten.view(aten.clone(wide, memory_format=contiguous_format), whole)


@rule("diag")
def _diag(aten: Any, input: Tensor, diagonal: int = 0) -> Any:
    return aten.diagonal_copy(input, diagonal) if input.ndim == 2 else NotImplemented
