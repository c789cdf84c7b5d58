"""Functions of sparse tensors that treat each element alone: what maps 0 to 0, sums, products with what is dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._ops.table import TABLE
from funcgrad._tensor.aliases import write
from funcgrad._tensor.call import call, write_out
from funcgrad._tensor.sparse.making import to_sparse
from funcgrad._tensor.sparse.pattern import Pattern
from funcgrad._tensor.sparse.tensor import HANDLERS, SparseTensor, handles, like, refuse, sharing, sparse, type_name
from funcgrad._tensor.tensor import Tensor

_KEEP_ZERO = (
    "abs", "absolute", "angle", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh", "ceil",
    "conj_physical", "deg2rad", "erf", "erfinv", "expm1", "fix", "floor", "frac", "isinf", "isnan", "isneginf",
    "isposinf", "log1p", "nan_to_num", "rad2deg", "relu", "round", "sgn", "sign", "signbit", "sin", "sinh",
    "sqrt", "square", "tan", "tanh", "threshold_backward", "trunc", "__abs__",
)  # fmt: skip
_LINEAR = (  # values that meet need not be added up before
    "neg", "negative", "__neg__", "positive", "__pos__", "clone", "conj", "resolve_conj", "resolve_neg",
    "float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool", "cpu", "cuda", "type_as",
    "real", "imag", "pin_memory",
)  # fmt: skip

_WRITE_VALUES = ("neg", "negative", "div", "divide", "true_divide", "floor_divide")  # torch makes new ones elsewhere


@handles(*_KEEP_ZERO)
def _each(func: Any, self: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    if not isinstance(self._pattern, Pattern):
        return self._with(func(self._plain(), *args, **kwargs))
    values, pattern = self._coalesced()
    return sparse(func(values, *args, **kwargs), pattern)


@handles("pow", "__pow__")
def _pow(func: Any, self: SparseTensor, exponent: Any) -> SparseTensor:
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    return _each(func, self, exponent)


@handles(*_LINEAR)
def _of_values(func: Any, self: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    plain = self._plain()
    args = tuple(x._plain() if isinstance(x, SparseTensor) else x for x in args)
    result = func(plain, *args, **kwargs)
    return self if result is plain else self._with(result)


@handles("detach")
def _detach(func: Any, self: SparseTensor) -> SparseTensor:
    return sharing(self._values(), self._pattern)


@handles("data")
def _data(func: Any, self: SparseTensor, *new: SparseTensor) -> Any:
    if not new:
        return sharing(self._values(), self._pattern)
    self._check_writable()
    _bind(self, new[0], self._version)
    return None


@handles("to")
def _to(func: Any, self: SparseTensor, *args: Any, **kwargs: Any) -> Any:
    args = tuple(x._plain() if isinstance(x, SparseTensor) else x for x in args)
    return _of_values(func, self, *args, **{k: v for k, v in kwargs.items() if k != "memory_format"})


@handles("type")
def _type(func: Any, self: SparseTensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    return type_name(self) if dtype is None else _of_values(func, self, dtype, *args, **kwargs)


@handles("contiguous")
def _contiguous(func: Any, self: SparseTensor, memory_format: Any = None) -> SparseTensor:
    if self.is_sparse:
        raise RuntimeError("unsupported memory format option Contiguous")
    return self


@handles("requires_grad_", "retain_grad", "requires_grad", "dtype", "device", "grad_fn", "is_leaf", "output_nr")
@handles("is_floating_point", "is_complex", "is_signed", "element_size", "is_pinned", "is_inference", "itemsize")
@handles("hash", "__hash__", "id", "retains_grad", "_version", "register_hook", "is_conj", "is_neg", "backward")
@handles("<lambda>", "answer", "as_subclass", "_is_view", "is_same_size", "result_type", "detach_")
def _itself(func: Any, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)


@handles("grad")
def _grad(func: Any, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    found = func(outputs, inputs, *args, **kwargs)
    if found is None:  # a property was set
        return None
    return tuple(
        x._gradient(g) if isinstance(x, SparseTensor) and isinstance(g, Tensor) else g
        for x, g in zip(given, found, strict=True)
    )


@handles("dim", "ndimension")
def _dim(func: Any, self: SparseTensor) -> int:
    return self.ndim


@handles("size")
def _size(func: Any, self: SparseTensor, dim: int | None = None) -> Any:
    return self.shape if dim is None else self.shape[dim]


@handles("numel", "nelement")
def _numel(func: Any, self: SparseTensor) -> int:
    return self.shape.numel()


@handles("is_contiguous", "is_shared")
def _no(func: Any, self: SparseTensor, *args: Any, **kwargs: Any) -> bool:
    return False


@handles("stride")
def _stride(func: Any, self: SparseTensor, dim: int | None = None) -> Any:
    return (0,) * self.ndim if dim is None else 0


@handles("item", "__float__", "__int__", "__bool__", "is_nonzero")
def _item(func: Any, self: SparseTensor) -> Any:
    if self.shape.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.shape.numel()} elements cannot be converted to Scalar")
    return func(self._plain().sum())


@handles("data_ptr")
def _data_ptr(func: Any, self: SparseTensor) -> int:
    raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


@handles("storage", "untyped_storage", "_typed_storage")
def _storage(func: Any, self: SparseTensor) -> Any:
    raise NotImplementedError("Cannot access storage of SparseTensorImpl")


# Products and quotients


def _is_number(x: Any) -> bool:
    return not isinstance(x, Tensor) or (not isinstance(x, SparseTensor) and x.ndim == 0)


@handles("mul", "multiply", "__mul__", "__rmul__")
def _mul(func: Any, self: Any, other: Any) -> SparseTensor:
    if not isinstance(self, SparseTensor):
        self, other = other, self
    if _is_number(other):
        return scaled(self, other)
    if isinstance(other, SparseTensor):
        return _same_layout(self, _product(self, other))
    values, pattern = self._by_coordinates()
    dense = other.expand(tuple(self.shape)) if other.shape != self.shape else other
    met = call(TABLE["values_at"], (dense, pattern.indices), ("MulBackward0",))
    return _same_layout(self, sparse(values * met, pattern))


def scaled(input: SparseTensor, factor: Any) -> SparseTensor:
    """Return the tensor times a number."""
    return input._with(input._plain() * factor)


def _product(one: SparseTensor, other: SparseTensor) -> SparseTensor:
    """Multiply what both store. RuntimeError: their sizes differ."""
    _require_same(one, other, "mul")
    (a, left), (b, right) = one._coalesced(), other._coalesced()
    if left is right or np.array_equal(left.flat, right.flat):
        return sparse(a * b, left)
    _, mine, its = np.intersect1d(left.flat, right.flat, assume_unique=True, return_indices=True)
    values = a.index_select(0, like(left.indices, mine)) * b.index_select(0, like(left.indices, its))
    return sparse(values, Pattern.of(one.shape, left.places[:, mine], left))


@handles("div", "divide", "true_divide", "__truediv__", "floor_divide", "__floordiv__")
def _div(func: Any, self: Any, other: Any, **rounding: Any) -> SparseTensor:
    if not isinstance(self, SparseTensor) or not _is_number(other):
        shape = list(getattr(other, "shape", ()))
        raise RuntimeError(
            f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {shape} for divisor)"
        )
    if rounding.get("rounding_mode") or "floor" in func.__name__:
        return _each(func, self, other, **rounding)
    return self._with(func(self._plain(), other, **rounding))


# Sums


@handles("add", "__add__", "__radd__")
def _add(func: Any, self: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    return given_to(out, added(self, other, alpha, "add"))


@handles("sub", "subtract", "__sub__")
def _sub(func: Any, self: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    return given_to(out, added(self, other, -alpha, "sub"))


def added(self: Any, other: Any, alpha: Any = 1, name: str = "add") -> Tensor:
    """Return self + alpha * other. RuntimeError for a sparse self and a dense other, or other sizes."""
    if not isinstance(self, SparseTensor):
        values, pattern = other._by_coordinates()
        dense: Tensor = self + alpha * call(TABLE["sparse_to_dense"], (values, pattern.indices), (tuple(pattern.size),))
        return dense
    if not isinstance(other, SparseTensor):
        raise RuntimeError(f"{name}(sparse, dense) is not supported. Use {name}(dense, sparse) instead.")
    _require_same(self, other, name)
    if self._pattern is other._pattern:
        return self._with(self._plain() + alpha * other._plain())
    (a, left), (b, right) = self._by_coordinates(), other._by_coordinates()
    b = alpha * b
    if np.array_equal(left.flat, right.flat):
        return _same_layout(self, sparse(a + b, left))
    places = np.concatenate([left.places, right.places], 1)
    both = sparse(call(TABLE["cat"], (a, b), (0,)), Pattern.of(self.shape, places, left, is_coalesced=False))
    return _same_layout(self, both.coalesce() if left.is_sorted and right.is_sorted else both)


def _require_same(one: SparseTensor, other: SparseTensor, name: str) -> None:
    if one.shape != other.shape:
        raise RuntimeError(
            f"{name}: expected 'self' and 'other' to have same size, but self has size {_sizes(one)} while other has "
            f"size {_sizes(other)} (FYI: op2-op1 broadcasting is not supported for sparse tensors)"
        )


def _sizes(x: SparseTensor) -> str:
    return f"[{', '.join(map(str, x.shape))}]"


def _same_layout(model: SparseTensor, found: SparseTensor) -> SparseTensor:
    """Return a result in the layout of the tensor that it was made of."""
    if model.is_sparse:
        return found
    pattern = model._pattern
    if not isinstance(pattern, Pattern) and found._pattern is pattern.coordinates:
        return model._with(found._plain().view(model._plain().shape))
    return to_sparse(found, layout=model.layout, blocksize=getattr(pattern, "block", None) or None)


# In place


def _become(self: SparseTensor, new: SparseTensor) -> SparseTensor:
    """Bind this name to another sparse value: who shared the values keeps the old ones."""
    self._check_writable()
    _bind(self, new, self._version + 1)
    return self


def _bind(self: SparseTensor, new: SparseTensor, version: int) -> None:
    self._variable, self._alias, self._pattern = new._current(), None, new._pattern
    self._writes = version


def _in_place(name: str) -> Any:
    writes_values = name in _KEEP_ZERO or name in _WRITE_VALUES

    def changed(func: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        result = HANDLERS[name](getattr(Tensor, name), self, *args, **kwargs)
        if isinstance(self, SparseTensor):
            if not writes_values or result._pattern is not self._pattern:
                return _become(self, result)
            self._check_writable()
            write(self, result._current())
            return self
        return self.copy_(HANDLERS["to_dense"](None, result) if isinstance(result, SparseTensor) else result)

    return changed


for _name in (*_KEEP_ZERO, "neg", "negative", "mul", "multiply", "div", "divide", "true_divide", "add", "sub",
              "subtract", "floor_divide"):  # fmt: skip
    if not _name.startswith("__"):
        handles(f"{_name}_")(_in_place(_name))
for _operator, _name in (("__imul__", "mul"), ("__itruediv__", "div"), ("__iadd__", "add"), ("__isub__", "sub")):
    handles(_operator)(_in_place(_name))


@handles("copy_")
def _copy_(func: Any, self: Any, src: Any, non_blocking: bool = False) -> Any:
    if not isinstance(self, SparseTensor) or not isinstance(src, SparseTensor):
        raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                           f"{_kind(self)} and src type = {_kind(src)}")  # fmt: skip
    return _become(self, src._with(src._plain().to(self.dtype)))


def given_to(out: Any, result: Any) -> Any:
    """Return a result, written to `out` where that is given."""
    if out is None:
        return result
    return _copy_(None, out, result) if isinstance(out, SparseTensor) else write_out(out, result)


def _kind(x: Any) -> str:
    return type_name(x) if isinstance(x, SparseTensor) else str(x.type())


@handles("zero_")
def _zero_(func: Any, self: SparseTensor) -> SparseTensor:
    return _become(self, HANDLERS["zeros_like"](None, self))


@handles("any")
def _any(func: Any, self: SparseTensor) -> Tensor:
    return func(self._plain())  # type: ignore[no-any-return]  # a tensor


@handles("rand_like", "randn_like", "ones_like")
def _likeness(func: Any, self: SparseTensor, **options: Any) -> SparseTensor:
    if self.is_sparse:
        refuse(func, (self,))
    return self._with(func(self._plain(), **options))


@handles("dropout")
def _dropout(func: Any, input: SparseTensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    return input._with(func(input._plain(), p, training)) if training and p else input


@handles("svd_lowrank", "pca_lowrank", "lobpcg")
def _of_dense(func: Any, self: SparseTensor, *args: Any, **kwargs: Any) -> Any:
    return func(HANDLERS["to_dense"](None, self), *args, **kwargs)
