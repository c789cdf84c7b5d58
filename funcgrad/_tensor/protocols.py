"""What Python and numpy ask of a tensor: its numbers, truth, length, iteration, printing, copying, pickling, arrays."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Iterator
from typing import Any

import jax.core
import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import scalar_type_name
from funcgrad._base.errors import BatchIsRead
from funcgrad._ops.strides import Order, order_of
from funcgrad._program.faults import raise_fault
from funcgrad._program.record import array_of, numbers_of
from funcgrad._program.value import LiftedValue, MetaValue
from funcgrad._program.waiting import on_host
from funcgrad._tape.levels import FLOW, ITEM, tangent_of, wrapped_in
from funcgrad._tape.modes import thread
from funcgrad._tape.variable import Names, Variable
from funcgrad._tensor import printing
from funcgrad._tensor.aliases import View, cell_of
from funcgrad._tensor.arguments import is_conjugate, is_negative
from funcgrad._tensor.call import call
from funcgrad._tensor.creation import empty_strided
from funcgrad._tensor.data import from_data
from funcgrad._tensor.indexing import get_item, set_item
from funcgrad._tensor.interop import host_numbers, to_host, to_jax
from funcgrad._tensor.mirrors import array_with
from funcgrad._tensor.pieces import as_one_call
from funcgrad._tensor.placement import device_of
from funcgrad._tensor.registry import METHODS, method
from funcgrad._tensor.tensor import Tensor
from funcgrad._tensor.warned import warn_of_lost_history

METHODS["jax"] = METHODS["__jax_array__"] = to_jax
METHODS["__getitem__"] = get_item
METHODS["__setitem__"] = set_item


@method()
def item(self: Tensor) -> Any:
    """Return the one number in this tensor as a Python number; waits until it is computed."""
    value, count = self._current().value, self.shape.numel()
    if count != 1 and not isinstance(value, LiftedValue):
        raise RuntimeError(f"a Tensor with {count} elements cannot be converted to Scalar")
    if type(value) is MetaValue:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    numbers = host_numbers(value)
    try:
        found = on_host(numbers_of(value)) if numbers is None else numbers
    except BatchIsRead as error:
        raise type(error)(ITEM) from None
    if count != 1:
        raise RuntimeError(f"a Tensor with {count} elements cannot be converted to Scalar")
    number = found.item()
    raise_fault()
    return number


@method()
def tolist(self: Tensor) -> Any:
    """Return the numbers as nested Python lists; of a 0-d tensor, the number."""
    return to_host(self).tolist()


def _number(self: Tensor) -> Any:
    if self.shape.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return item(self)


def _real_number(self: Tensor, kind: str) -> Any:
    """Return the one number; of a complex one the real part, RuntimeError where there is an imaginary one."""
    number = _number(self)
    if type(number) is not complex:
        return number
    if number.imag != 0:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return number.real


@method("__float__")
def as_float(self: Tensor) -> float:
    """Return the one number as a float."""
    if self.requires_grad and thread.grad:
        warn_of_lost_history()
    return float(_real_number(self, "double"))


@method("__int__")
def as_int(self: Tensor) -> int:
    """Return the one number as an int, cut off towards zero."""
    return int(_real_number(self, "int64_t"))


@method("__complex__")
def as_complex(self: Tensor) -> complex:
    """Return the one number as a complex number."""
    return complex(_number(self))


@method("__bool__")
def as_bool(self: Tensor) -> bool:
    """Tell whether the one number in this tensor is not zero."""
    count = self.shape.numel()
    if count != 1:
        word = "no values" if count == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {word} is ambiguous")
    try:
        return bool(item(self))
    except BatchIsRead as error:
        raise type(error)(FLOW) from None


@method("__index__")
def as_index(self: Tensor) -> int:
    """Let a tensor of one integer stand where Python wants an int."""
    if self.dtype.is_floating_point or self.dtype.is_complex or self.shape.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))


# Containers


@method("__len__")
def length(self: Tensor) -> int:
    """Return the size of the first dimension."""
    if not self.shape:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


@method("__iter__")
def iterate(self: Tensor) -> Iterator[Tensor]:
    """Go over the first dimension, a view at a time."""
    if not self.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(as_one_call([get_item(self, i) for i in range(self.shape[0])], "UnbindBackward0"))


@method("__reversed__")
def backwards(self: Tensor) -> Tensor:
    """Return a copy with the first dimension turned around."""
    return self.flip(0) if self.shape else self


@method("__contains__")
def contains(self: Tensor, element: Any) -> bool:
    """Tell whether any element equals `element`."""
    if isinstance(element, (Tensor, int, float, complex)):
        equal: Any = element == self
        return bool(equal.any().item())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


@method("__delitem__")
def delete_item(self: Tensor, index: Any) -> None:
    """Refuse: a tensor keeps its shape."""
    raise TypeError("Tensor does not support deleting items")


# Text


@method("__repr__")
def represent(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """Print as torch prints; within a function that is transformed, what stands for it outside (vmap: the batch).

    tensor_contents: what is written in the place of the numbers.
    """
    variable = self._current()
    wrapped = wrapped_in(variable)
    if wrapped is not None:
        around, below = wrapped
        return f"{around}\n{textwrap.indent(repr(Names.wrap(below)), '    ')}\n)"
    fn = self.grad_fn
    where = device_of(variable.aval.placement)
    is_plain = "_prints_plainly" in vars(type(self))
    name = "tensor" if is_plain else type(self).__name__
    if isinstance(variable.value.array, jax.core.Tracer):
        return f"tensor(traced {variable.aval})"
    if where.type == "meta":
        facts = ["device='meta'", f"size={tuple(self.shape)}"]
        facts += [] if self.dtype is dtypes.get_default_dtype() else [f"dtype={self.dtype}"]
        maker = None if fn is None else type(fn).__name__
        facts += [f"grad_fn=<{maker}>"] if maker else ["requires_grad=True"] if self.requires_grad else []
        return printing.with_suffixes(f"{name}(...", facts, len(name) + 1, 0)
    tangent = tangent_of(variable)
    text = printing.format_tensor(
        to_host(self),
        dtype=variable.aval.dtype,
        requires_grad=self.requires_grad,
        grad_fn_name=None if fn is None else type(fn).__name__,
        device=None if where.type == "cpu" else str(where),
        default_dtype=dtypes.get_default_dtype(),
        name=name,
        tangent=None if tangent is None else format(Names.wrap(tangent)),
        contents=tensor_contents,
    )
    is_parameter = "_is_param" in self.__dict__ or getattr(type(self), "_mark", "") == "_is_param"
    return f"Parameter({text})" if is_parameter and not is_plain else text


@method("__format__")
def formatted(self: Tensor, spec: str) -> str:
    """Format a 0-d tensor as its number, unless it is of a subclass."""
    is_number = type(self) is Tensor and not self.shape
    return item(self).__format__(spec) if is_number else object.__format__(self, spec)


@method("__pos__", "positive")
def positive(self: Tensor) -> Tensor:
    """Return this very tensor. RuntimeError for truth values."""
    if self.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


# Copies


@method("__copy__")
def copied(self: Tensor) -> Tensor:
    """Return another leaf that shares the storage, and whatever else stands on the object."""
    alias = self.detach()
    other = type(self)._leaf(alias._current(), False)
    other._alias = alias._alias
    other.__dict__.update(self.__dict__)
    return other.requires_grad_() if self.requires_grad else other


@method("__deepcopy__")
def deep_copied(self: Tensor, memo: dict[int, Any]) -> Any:
    """Return a leaf of its own, `.grad` and attributes copied too; tensors that shared storage still share theirs."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    if is_conjugate(self) or is_negative(self):  # is resolved by being copied
        made = type(self)._leaf(self.detach().clone().resolve_conj().resolve_neg()._current(), self.requires_grad)
    else:
        made = _copied_view(self, memo) if self._base is not None else _copied_leaf(self, memo)
    memo[id(self)] = made
    if self._slot is not None and self._slot.grad is not None:
        made.grad = copy.deepcopy(self._slot.grad, memo)
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def _copied_leaf(self: Tensor, memo: dict[int, Any]) -> Any:
    made = type(self)._leaf(self._materialize()._current().copied(), self.requires_grad)
    if self._alias is not None:
        made._alias = memo.setdefault(id(self._alias), cell_of(made))
        made._current()
    return made


def _copied_view(self: Tensor, memo: dict[int, Any]) -> Tensor:
    view = self._alias
    assert type(view) is View
    base = copy.deepcopy(view.base.detach() if not view.base.is_leaf else view.base, memo)
    made = call(view.op, (base, *map(_named, view.inputs)), view.statics)
    return made.requires_grad_() if self.requires_grad else made.detach()


def _named(given: Any) -> Any:
    return Tensor._of(given) if isinstance(given, Variable) else given


@method("__reduce_ex__")
def reduce_ex(self: Tensor, protocol: int) -> tuple[Any, ...]:
    """Pickle the numbers, their order in memory, dtype and requires_grad; of a part of a storage, only that."""
    if self.device.type == "meta":
        kind = self.dtype, tuple(self.shape), self.stride()
        return rebuilt_on_meta, (type(self), kind, self.requires_grad, dict(self.__dict__))
    plain, is_turned = self.detach(), is_conjugate(self)
    array = to_host(plain.conj() if is_turned else plain)
    order = order_of(tuple(self.shape), self.stride())
    return rebuilt, (type(self), array, self.requires_grad, dict(self.__dict__), order, is_turned)


def rebuilt(
    kind: Any, array: np.ndarray[Any, Any], requires_grad: bool, extra: dict[str, Any], order: Order = None,
    is_turned: bool = False,
) -> Tensor:  # fmt: skip
    """Return the tensor that was pickled. is_turned: it was marked as the conjugate of the array."""
    variable = from_data(array, None, None, False)._current()
    variable.value.aval = variable.value.aval.in_order(order)
    made = kind._leaf(variable, requires_grad and not is_turned)
    if is_turned:
        made = made.conj().detach().requires_grad_(requires_grad)
    made.__dict__.update(extra)
    return made


def rebuilt_on_meta(kind: Any, known: tuple[Any, Any, Any], requires_grad: bool, extra: dict[str, Any]) -> Tensor:
    """Return the tensor without numbers that was pickled."""
    dtype, size, stride = known
    made = kind._leaf(empty_strided(size, stride, dtype=dtype, device="meta")._current(), requires_grad)
    made.__dict__.update(extra)
    return made


# Arrays


@method()
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray[Any, Any]:
    """Return a numpy array that shares its numbers with the tensor: what is written to either shows in both.

    Raises RuntimeError for a tensor that requires grad where history is kept, unless `force`.
    """
    if self.requires_grad and thread.grad and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if not force and (is_conjugate(self) or is_negative(self)):
        bit, which = ("negative", "neg") if is_negative(self) else ("conjugate", "conj")
        raise RuntimeError(
            f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{which}().numpy() instead."
        )
    if not self.dtype.numpy.isbuiltin == 1:
        raise TypeError(f"Got unsupported ScalarType {scalar_type_name(self.dtype)}")
    if type(self._current().value) is MetaValue:
        raise TypeError(
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return array_with(self)


@method("__array__")
def as_array(self: Tensor, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
    """Give numpy the numbers: shared, or a copy where it asks for one (`np.array(t)`)."""
    array = numpy(self)
    if copy:
        return array.astype(array.dtype if dtype is None else dtype)
    return array if dtype is None else array.astype(dtype, copy=False)


@method("__array_wrap__")
def wrapped(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """Make a tensor of what a numpy function computed from one: np.exp(tensor) is a tensor. Truth becomes uint8."""
    found = np.asarray(array)
    return from_data(found.astype(np.uint8) if found.dtype == bool else found, None, None, False)


@method("__dlpack__")
def to_dlpack(self: Tensor, **options: Any) -> Any:
    """Give the array to another library without copying it."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return to_jax(self).__dlpack__(**options)


@method("__dlpack_device__")
def dlpack_device(self: Tensor) -> Any:
    """Say where the array is, in dlpack's numbers."""
    return array_of(self._current().value).__dlpack_device__()  # type: ignore[attr-defined]  # not in jax's stub
