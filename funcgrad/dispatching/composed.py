"""What PyTorch composes of other functions of aten: linear is `t` and `addmm`, x[0] is `select`.

A rule gets `aten`, which calls functions by their schemas, and the public function's arguments. It returns
NotImplemented for arguments that it does not cover: what the function's own schema says, or what it calls, is told.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as Dtype
from funcgrad._base.layouts import contiguous_format, strided
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.tensor import Tensor

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
UNTOLD = {  # they give tensors, and no function of aten is called
    "__get__", "as_subclass", "cpu", "requires_grad_", "resolve_conj", "resolve_neg", "retain_grad",
}  # fmt: skip
_END = 2**63 - 1


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter the rule for public functions of these names."""

    def enter(found: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, found))
        return found

    return enter


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
    return aten.einsum(
        equation, [x for given in operands for x in (given if isinstance(given, (list, tuple)) else [given])]
    )


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


# Places


@rule("__getitem__")
def _get(aten: Any, self: Tensor, index: Any) -> Any:
    found = _selected(aten, self, index)
    if found is None:
        return NotImplemented
    view, places = found
    if places:
        return aten.index(view, places)
    return aten.alias(view) if view is self else view


@rule("__setitem__")
def _set(aten: Any, self: Tensor, index: Any, value: Any) -> Any:
    is_number = not isinstance(value, Tensor)
    if (is_number and not isinstance(value, (int, float, complex))) or not _is_known(index):
        return NotImplemented
    if is_number:
        value = aten.lift_fresh(self.new_tensor(value))
    view, places = _selected(aten, self, index)
    if places:
        aten.index_put_(view, places, value)
    elif is_number:
        aten.fill_(view, value)
    else:
        aten.copy_(view, value)
    return None


def _parts(self: Tensor, index: Any) -> list[Any]:
    parts = list(index) if isinstance(index, tuple) else [index]
    used = sum(_dims_of(part) for part in parts)
    if not any(part is ... for part in parts):
        return parts
    at = next(i for i, part in enumerate(parts) if part is ...)
    return [*parts[:at], *[_ALL] * (self.ndim - used), *parts[at + 1 :]]


_ALL = object()


def _dims_of(part: Any) -> int:
    if part is None or part is ...:
        return 0
    return part.ndim if isinstance(part, Tensor) and part.dtype in (dtypes.bool_, dtypes.uint8) else 1


def _is_known(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    kinds = (int, slice, Tensor, type(None), type(...), list)
    return not any(isinstance(part, bool) or not isinstance(part, kinds) for part in parts)


def _selected(aten: Any, self: Tensor, index: Any) -> Any:
    """Return the view that numbers, slices and None select, and the tensors of places that are left; None: others."""
    if not _is_known(index):
        return None
    view, dim, places = self, 0, []
    for part in _parts(self, index):
        if part is None:
            view = aten.unsqueeze(view, dim)
        elif isinstance(part, int):
            view = aten.select(view, dim, part)
            continue
        elif isinstance(part, slice):
            view = _sliced(aten, view, dim, part, is_alone=not isinstance(index, tuple))
        elif part is not _ALL:
            tensor = aten.lift_fresh(self.new_tensor(part, dtype=dtypes.int64)) if isinstance(part, list) else part
            places += [None] * (dim - len(places)) + [tensor]
            dim += _dims_of(part) - 1
        dim += 1
    return view, places


def _sliced(aten: Any, view: Tensor, dim: int, part: slice, is_alone: bool) -> Any:
    whole = (part.start, part.stop, part.step) == (None, None, None)
    if whole and not is_alone:
        return view
    ends = (0 if part.start is None else int(part.start), _END if part.stop is None else int(part.stop))
    return aten.slice(view, dim, *ends, 1 if part.step is None else int(part.step))


@rule("item", "__bool__", "__int__", "__float__", "__index__", "__complex__", "is_nonzero")
def _item(aten: Any, self: Tensor) -> Any:
    aten._local_scalar_dense(self)
    return aten.silently(self)


# Dtypes and making


@rule("to")
def _to(aten: Any, self: Tensor, *args: Any, **kwargs: Any) -> Any:
    if (
        len(args) > 1
        or set(kwargs) - {"copy", "dtype", "non_blocking"}
        or not isinstance((*args, None)[0], (Dtype, type(None)))
    ):
        return NotImplemented if _is_moved(self, args, kwargs) else self
    wanted = kwargs.get("dtype") or (args[0] if args else None)
    if wanted in (None, self.dtype) and not kwargs.get("copy"):
        return self
    return aten._to_copy(self, dtype=wanted)


def _is_moved(self: Tensor, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return not (len(args) == 1 and not kwargs and isinstance(args[0], str) and str(self.device) == args[0])


def _cast(wanted: Dtype) -> Rule:
    def cast(aten: Any, self: Tensor, memory_format: Any = None) -> Any:
        return self if self.dtype == wanted else aten._to_copy(self, dtype=wanted)

    return cast


RULES.update(
    {name: _cast(getattr(dtypes, kind)) for name, kind in (
        ("double", "float64"), ("float", "float32"), ("half", "float16"), ("bfloat16", "bfloat16"), ("long", "int64"),
        ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"), ("bool", "bool_"),
    )}
)  # fmt: skip


@rule("type_as")
def _type_as(aten: Any, self: Tensor, other: Tensor) -> Any:
    return self if self.dtype == other.dtype else aten._to_copy(self, dtype=other.dtype)


@rule("type")
def _type(aten: Any, self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    if not isinstance(dtype, Dtype):
        return NotImplemented
    return self if self.dtype == dtype else aten._to_copy(self, dtype=dtype)


@rule("new_tensor")
def _new_tensor(aten: Any, *args: Any, **kwargs: Any) -> Any:
    return aten.silently(*args, **kwargs)


@rule("tensor")
def _tensor(aten: Any, *args: Any, **kwargs: Any) -> Any:
    made = aten.silently(*args, **kwargs)
    return aten.lift_fresh(made)


@rule("data")
def _data(aten: Any, self: Tensor, *value: Tensor) -> Any:
    return aten.silently(self, *value) if value else aten.detach(self)


@rule("constant_")
def _constant(aten: Any, tensor: Tensor, val: float) -> Any:
    with no_grad():
        return aten.fill_(tensor, val)


# Activations and losses


@rule("softmax")
def _softmax(aten: Any, input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    return NotImplemented if dim is None else aten._softmax(_in_dtype(aten, input, dtype), dim, False)


@rule("log_softmax")
def _log_softmax(aten: Any, input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    return NotImplemented if dim is None else aten._log_softmax(_in_dtype(aten, input, dtype), dim, False)


@rule("softmin")
def _softmin(aten: Any, input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    return NotImplemented if dim is None else aten._softmax(_in_dtype(aten, aten.neg(input), dtype), dim, False)


def _in_dtype(aten: Any, input: Tensor, dtype: Any) -> Tensor:
    if dtype is None or dtype == input.dtype:
        return input
    return aten._to_copy(input, dtype=dtype, layout=strided, device=input.device)


@rule("relu6")
def _relu6(aten: Any, input: Tensor, inplace: bool = False) -> Any:
    return NotImplemented if inplace else aten.hardtanh(input, 0, 6)


@rule("selu")
def _selu(aten: Any, input: Tensor, inplace: bool = False) -> Any:
    return NotImplemented if inplace else aten.elu(input, 1.6732632423543772, 1.0507009873554805)


@rule("logsigmoid")
def _logsigmoid(aten: Any, input: Tensor) -> Any:
    return aten.log_sigmoid_forward(input)[0]


@rule("dropout")
def _dropout(aten: Any, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    if not training or p == 0:
        return input
    if inplace or p == 1:
        return NotImplemented
    kept = aten.exactly("div_", "Scalar", aten.bernoulli_(aten.empty_like(input), 1 - p), 1 - p)
    return aten.mul(input, kept)


@rule("nll_loss")
def _nll_loss(
    aten: Any, input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None or input.ndim > 2:
        return NotImplemented
    return aten.nll_loss_forward(input, target, weight, reduction, ignore_index)[0]


@rule("cross_entropy")
def _cross_entropy(
    aten: Any, input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None or input.ndim > 2 or input.ndim == 0 or weight is not None:
        return NotImplemented
    dim = input.ndim - 1
    scores = aten._log_softmax(input, dim, False)
    if target.is_floating_point():
        return NotImplemented if label_smoothing else _against_shares(aten, scores, target, dim, reduction)
    loss = aten.nll_loss_forward(scores, target, None, reduction, ignore_index)[0]
    if not label_smoothing:
        return loss
    smooth = _evenly(aten, aten.neg(aten.sum(scores, [dim])), target, ignore_index, reduction)
    smooth = aten.exactly("mul", "Scalar", smooth, label_smoothing / input.shape[dim])
    return aten.add(aten.exactly("mul", "Scalar", loss, 1 - label_smoothing), smooth)


def _against_shares(aten: Any, scores: Tensor, shares: Tensor, dim: int, reduction: str) -> Any:
    found = aten.mul(scores, shares)
    if reduction == "none":
        return aten.neg(aten.sum(found, [dim]))
    whole = aten.neg(aten.sum(found))
    return whole if reduction == "sum" else aten.exactly("div", "Scalar", whole, scores.numel() // scores.shape[dim])


def _evenly(aten: Any, losses: Tensor, target: Tensor, ignore_index: int, reduction: str) -> Any:
    ignored = aten.eq(target, ignore_index)
    losses = aten.masked_fill_(losses, ignored, 0.0)
    if reduction != "mean":
        return losses if reduction == "none" else aten.sum(losses)
    return aten.div(aten.sum(losses), aten.sum(aten.bitwise_not(ignored)))


@rule("l1_loss")
def _l1_loss(
    aten: Any, input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None or weight is not None:
        return NotImplemented
    found = aten.abs(aten.sub(input, target))
    return found if reduction == "none" else getattr(aten, reduction)(found)


# Layers


def _tuple(value: Any, count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value) * (count if len(value) == 1 else 1)


def _convolution(count: int) -> Rule:
    def convolution(
        aten: Any, input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        if isinstance(padding, str) or input.ndim != count + 2:
            return NotImplemented
        sizes = [_tuple(x, count) for x in (stride, padding, dilation)]
        return aten.convolution(input, weight, bias, *sizes, False, [0] * count, groups)

    return convolution


def _transposed(count: int) -> Rule:
    def convolution(
        aten: Any, input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        if input.ndim != count + 2:
            return NotImplemented
        sizes = [_tuple(x, count) for x in (stride, padding, dilation)]
        return aten.convolution(input, weight, bias, *sizes, True, _tuple(output_padding, count), groups)

    return convolution


for _count in (1, 2, 3):
    RULES[f"conv{_count}d"], RULES[f"conv_transpose{_count}d"] = _convolution(_count), _transposed(_count)


@rule("layer_norm")
def _layer_norm(
    aten: Any, input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:  # fmt: skip
    return aten.native_layer_norm(input, _tuple(normalized_shape, 1), weight, bias, eps)[0]


@rule("rms_norm")
def _rms_norm(aten: Any, input: Tensor, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    is_half = input.dtype in (dtypes.float16, dtypes.bfloat16)
    x = aten._to_copy(input, dtype=dtypes.float32) if is_half else input
    number = x.dtype.numpy.type(np.finfo(x.dtype.numpy).eps if eps is None else eps).item()
    dims = [input.ndim - 1 - i for i in range(len(_tuple(normalized_shape, 1)))]
    mean = aten.exactly("add_", "Scalar", aten.mean(aten.pow(x, 2), dims, True), number)
    found = aten.mul(x, aten.rsqrt(mean))
    found = found if weight is None else aten.mul(found, weight)
    return _in_dtype(aten, found, input.dtype)


@rule("group_norm")
def _group_norm(
    aten: Any, input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:  # fmt: skip
    n, c, *sizes = input.shape
    return aten.native_group_norm(input, weight, bias, n, c, math.prod(sizes), num_groups, eps)[0]


@rule("batch_norm")
def _batch_norm(
    aten: Any, input: Tensor, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    if input.device.type != "cpu":
        return NotImplemented
    aten.empty([0], dtype=dtypes.uint8, layout=strided, device=input.device)
    return aten.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@rule("embedding")
def _embedding(
    aten: Any, input: Tensor, weight: Tensor, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    if max_norm is not None:
        return NotImplemented
    place = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return aten.embedding(weight, input, place, scale_grad_by_freq, sparse)


@rule("max_pool2d")
def _max_pool2d(
    aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    steps = [] if stride is None else _tuple(stride, 2)
    sizes = [_tuple(x, 2) for x in (padding, dilation)]
    found = aten.max_pool2d_with_indices(input, _tuple(kernel_size, 2), steps, *sizes, ceil_mode)
    return found if return_indices else found[0]


@rule("avg_pool2d")
def _avg_pool2d(aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, *args: Any, **kwargs: Any) -> Any:
    steps = [] if stride is None else _tuple(stride, 2)
    return aten.avg_pool2d(input, _tuple(kernel_size, 2), steps, *args, **kwargs)


@rule("avg_pool1d")
def _avg_pool1d(
    aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:  # fmt: skip
    window = _tuple(kernel_size, 1)
    sizes = [[1, *window], [1, *(window if stride is None else _tuple(stride, 1))], [0, *_tuple(padding, 1)]]
    found = aten.avg_pool2d(aten.unsqueeze(input, -2), *sizes, ceil_mode, count_include_pad)
    return aten.squeeze(found, -2)


@rule("max_pool1d")
def _max_pool1d(
    aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    window = _tuple(kernel_size, 1)
    sizes = [[1, *window], [1, *(window if stride is None else _tuple(stride, 1))]]
    sizes += [[0, *_tuple(padding, 1)], [1, *_tuple(dilation, 1)]]
    found = aten.max_pool2d_with_indices(aten.unsqueeze(input, -2), *sizes, ceil_mode)
    values, places = (aten.squeeze(x, -2) for x in found)
    return (values, places) if return_indices else values


@rule("adaptive_avg_pool1d")
def _adaptive_avg_pool1d(aten: Any, input: Tensor, output_size: Any) -> Any:
    size = _tuple(output_size, 1)
    return aten.squeeze(aten._adaptive_avg_pool2d(aten.unsqueeze(input, -2), [1, *size]), -2)


@rule("adaptive_avg_pool2d")
def _adaptive_avg_pool2d(aten: Any, input: Tensor, output_size: Any) -> Any:
    sizes = _tuple(output_size, 2)
    if None in sizes:
        return NotImplemented
    if sizes == [1, 1]:
        return aten.mean(input, [-1, -2], True)
    return aten._adaptive_avg_pool2d(input, sizes)


@rule("interpolate")
def _interpolate(
    aten: Any, input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: Any = None, recompute_scale_factor: Any = None, antialias: bool = False,
) -> Any:  # fmt: skip
    if input.ndim != 4 or antialias or recompute_scale_factor or mode not in ("nearest", "bilinear"):
        return NotImplemented
    scales = (
        []
        if size is not None
        else [float(x) for x in ([scale_factor] * 2 if isinstance(scale_factor, (int, float)) else scale_factor)]
    )
    sizes = _tuple(size, 2) if not scales else [int(n * s) for n, s in zip(input.shape[2:], scales, strict=True)]
    if mode == "nearest":
        return aten.upsample_nearest2d(input, sizes, *scales)
    return aten.upsample_bilinear2d(input, sizes, bool(align_corners), *scales)


@rule("pad")
def _pad(aten: Any, input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    if mode != "constant":
        return NotImplemented
    return aten.constant_pad_nd(input, list(pad), 0.0 if value is None else value)


@rule("scaled_dot_product_attention")
def _attention(
    aten: Any, query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    is_whole = query.ndim == 4 and query.device.type == "cpu" and not dropout_p and query.shape[-1] == value.shape[-1]
    if not is_whole or (attn_mask is not None and (attn_mask.requires_grad or attn_mask.dtype == dtypes.bool_)):
        return NotImplemented
    return aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, is_causal, attn_mask=attn_mask, scale=scale
    )[0]
