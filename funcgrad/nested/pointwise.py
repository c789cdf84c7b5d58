"""Functions of nested tensors that treat each element alone: the same functions of the values."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.elementwise import ELEMENTWISE, IN_PLACE
from funcgrad._tensor.overriding import name_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.derivatives import DERIVATIVES
from funcgrad.nested.padding import from_rectangle
from funcgrad.nested.tensor import HANDLERS, NestedTensor, handles


def pointwise(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Return func of the values, equally ragged. RuntimeError where the arguments are not."""
    nested = [x for x in (*args, *kwargs.values()) if isinstance(x, NestedTensor)]
    first = nested[0]
    plain = [_operand(func, x, first, args) for x in args]
    named = {name: _operand(func, x, first, args) for name, x in kwargs.items()}
    result = func(*plain, **named)
    if isinstance(result, tuple):
        return tuple(first._like(x) for x in result)
    return first._like(result)


def in_place(func: Any, target: NestedTensor, *args: Any, **kwargs: Any) -> NestedTensor:
    """Write func of the values to them; return the tensor itself."""
    given = (target, *args)
    func(target._shared(), *(_operand(func, x, target, given) for x in args), **kwargs)
    return target


def _operand(func: Any, x: Any, first: NestedTensor, args: tuple[Any, ...]) -> Any:
    """Return an argument as the values meet it: a nested one's values, a dense one repeated for each row."""
    if isinstance(x, NestedTensor):
        if x is not first and x.shape != first.shape and not _broadcasts(x, first):
            raise _unlike(func, args)
        return x._plain()
    if not isinstance(x, Tensor) or not x.ndim or isinstance(func, type):
        return x
    return _spread(func, x, first, args)


def _broadcasts(x: NestedTensor, first: NestedTensor) -> bool:
    is_same = x._raggedness is first._raggedness and x._ragged_idx == first._ragged_idx and x.ndim == first.ndim
    return is_same and all(a == b or 1 in (a, b) for a, b in zip(x.shape, first.shape, strict=True))


def _spread(func: Any, dense: Tensor, first: NestedTensor, args: tuple[Any, ...]) -> Tensor:
    """Return a dense operand for the values. Shape: it broadcasts to (B, longest, ...), or holds a row an entry."""
    ragged, at = first._raggedness, first._ragged_idx
    if dense.ndim > first.ndim:
        raise _unlike(func, args)
    dense = dense.reshape((*(1,) * (first.ndim - dense.ndim), *dense.shape))
    if dense.shape[0] == 1 and dense.shape[at] == 1:
        return dense.squeeze(0)
    if dense.shape[0] not in (1, ragged.batch_size):
        raise _unlike(func, args)
    if dense.shape[at] == 1:
        total = first._plain().shape[at - 1]
        return dense.index_select(0, ragged.entries(total)).squeeze(at).movedim(0, at - 1)
    if dense.shape[0] == 1:
        raise _unlike(func, args)
    sizes = [-1] * dense.ndim
    sizes[at] = ragged.longest
    return from_rectangle(dense.expand(sizes).movedim(at, 1), ragged, at)._plain()


def _unlike(func: Any, args: tuple[Any, ...]) -> RuntimeError:
    shapes = " and ".join(
        f"({', '.join(map(str, x.shape))})" if isinstance(x, NestedTensor) else str(x.shape)
        for x in args
        if isinstance(x, Tensor)
    )
    name = name_of(func).strip("_")
    return RuntimeError(f"cannot call binary pointwise function {name}.Tensor with inputs of shapes {shapes}")


@handles("data")
def _data(func: Any, input: NestedTensor, *new: Any) -> Any:
    if not new:
        return input._like(input._plain().detach())
    func(input, *(x._plain() if isinstance(x, NestedTensor) else x for x in new))
    return None


@handles("requires_grad_", "retain_grad", "requires_grad", "dtype", "device", "grad_fn", "is_leaf", "output_nr")
@handles("is_floating_point", "is_complex", "is_signed", "element_size", "is_pinned", "is_inference", "itemsize")
@handles("hash", "__hash__", "id", "retains_grad", "storage_offset", "_version", "is_set_to", "register_hook")
@handles("<lambda>", "answer", "as_subclass")
def _itself(func: Any, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)


@handles("item")
def _item(func: Any, input: NestedTensor) -> Any:
    return func(input._plain())


@handles("isin", "equal", "allclose")
def _of_values(func: Any, input: NestedTensor, other: Any, *args: Any, **kwargs: Any) -> Any:
    """Compare the values of equally ragged tensors, which torch leaves to its user."""
    if isinstance(other, NestedTensor) and other.shape != input.shape:
        return False
    return func(input._plain(), other._plain() if isinstance(other, NestedTensor) else other, *args, **kwargs)


HANDLERS.update(DERIVATIVES)
for _names_of, _handler in ((ELEMENTWISE, pointwise), (IN_PLACE, in_place)):
    for _name in _names_of - HANDLERS.keys():
        HANDLERS[_name] = _handler
