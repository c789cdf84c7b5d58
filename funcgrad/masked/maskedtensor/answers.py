"""What functions of masked tensors do: those of each element keep the mask, reductions leave out what is masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base.dtypes import bool_
from funcgrad._tensor import functions as torch
from funcgrad._tensor.elementwise import ELEMENTWISE, IN_PLACE
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.overriding import name_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.masked import functions as masked
from funcgrad.masked.maskedtensor.core import HANDLERS, MaskedTensor, handles, made_of

_SHAPING = (
    "T", "broadcast_to", "chunk", "clone", "contiguous", "detach", "diagonal", "expand", "expand_as", "flatten", "flip",
    "__getitem__", "index_select", "mT", "movedim", "narrow", "permute", "repeat", "reshape", "roll", "select", "split",
    "squeeze", "swapaxes", "t", "tile", "transpose", "unbind", "unflatten", "unsqueeze", "view", "view_as",
)  # fmt: skip
_REDUCTIONS = ("amax", "amin", "argmax", "argmin", "mean", "norm", "prod", "std", "sum", "var")


def _data(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return type(given)(map(_data, given))
    return given.get_data() if isinstance(given, MaskedTensor) else given


def _mask(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return type(given)(map(_mask, given))
    return given.get_mask() if isinstance(given, MaskedTensor) else given


def _common_mask(tensors: Sequence[MaskedTensor]) -> Tensor:
    """Return the mask that all have. ValueError where they differ."""
    first = tensors[0].get_mask()
    for other in tensors[1:]:
        mask = other.get_mask()
        same = mask is first or (mask.shape == first.shape and (to_host(mask) == to_host(first)).all())
        if not same:
            raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    return first


def _elementwise(func: Any, *args: Any, **kwargs: Any) -> Any:
    mask = _common_mask([x for x in (*args, *kwargs.values()) if isinstance(x, MaskedTensor)])
    result = func(*map(_data, args), **{name: _data(x) for name, x in kwargs.items()})
    moved = mask.to(result.device)
    return made_of(result, moved if moved.shape == result.shape else moved.expand(result.shape))


def _in_place(func: Any, target: MaskedTensor, *args: Any, **kwargs: Any) -> MaskedTensor:
    """Write to the data of what counts. ValueError where masks differ."""
    _common_mask([x for x in (target, *args) if isinstance(x, MaskedTensor)])
    func(target._of_class(Tensor), *map(_data, args), **kwargs)
    return target


for _names, _handler in ((ELEMENTWISE, _elementwise), (IN_PLACE, _in_place)):
    HANDLERS.update(dict.fromkeys(_names, _handler))


@handles("where")
def _where(func: Any, condition: Tensor, input: Any, other: Any) -> MaskedTensor:
    masks = [x.get_mask() if isinstance(x, MaskedTensor) else torch.full_like(condition, True) for x in (input, other)]
    return made_of(func(condition, _data(input), _data(other)), func(condition, *masks))


@handles(*_SHAPING)
def _shaped(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply the function to the data and to the mask."""
    data = func(*map(_data, args), **kwargs)
    mask = func(*map(_mask, args), **kwargs)
    if isinstance(data, (tuple, list)):
        return tuple(made_of(part, counts) for part, counts in zip(data, mask, strict=True))
    return made_of(data, mask)


@handles("cat", "concat", "concatenate", "hstack", "stack", "vstack")
def _joined(func: Any, tensors: Sequence[Any], *args: Any, **kwargs: Any) -> MaskedTensor:
    masks = [x.get_mask() if isinstance(x, MaskedTensor) else torch.ones_like(x, dtype=bool_) for x in tensors]
    return made_of(func(list(map(_data, tensors)), *args, **kwargs), func(masks, *args, **kwargs))


@handles("broadcast_tensors")
def _broadcast_tensors(func: Any, *tensors: Any) -> tuple[Any, ...]:
    given = tensors if isinstance(tensors[0], Tensor) else tensors[0]
    data, masks = func(*map(_data, given)), func(*map(_mask, given))
    pairs = zip(given, data, masks, strict=True)
    return tuple(made_of(x, counts) if isinstance(one, MaskedTensor) else x for one, x, counts in pairs)


@handles(*_REDUCTIONS)
def _reduced(func: Any, input: MaskedTensor, *args: Any, dim: Any = None, **kwargs: Any) -> MaskedTensor:
    """Reduce what counts. A result counts if anything did that it is made of."""
    name = name_of(func)
    if name == "norm":
        order = args[0] if args else kwargs.pop("p", 2)
        args = args[1:]
        kwargs["ord"] = 2.0 if order == "fro" else float(order)
    if args:
        dim, *keep = args
        kwargs.update(zip(("keepdim", "dtype"), keep, strict=False))
    keepdim, counts = kwargs.get("keepdim", False), input.get_mask()
    if name in ("std", "var"):
        kwargs["unbiased"] = kwargs.pop("correction", kwargs.get("unbiased", 1)) not in (0, False)
    if name == "norm":
        result = masked.norm(input.get_data(), kwargs.pop("ord"), dim, mask=counts, **kwargs)
    else:
        result = getattr(masked, name)(input.get_data(), dim, mask=counts, **kwargs)
    if name in ("argmax", "argmin"):
        result = result.to(input.get_data().dtype)  # as torch writes them
    return made_of(result, _any(counts, dim, keepdim))


def _any(counts: Tensor, dim: Any, keepdim: bool) -> Tensor:
    return (
        counts.any()
        if dim is None and not keepdim
        else counts.any(tuple(range(counts.ndim)) if dim is None else dim, keepdim)
    )


@handles("all", "any")
def _of_truth(func: Any, input: MaskedTensor, dim: Any = None, keepdim: bool = False) -> MaskedTensor:
    data, counts = input.get_data().to(bool_), input.get_mask()
    chosen = data | ~counts if name_of(func) == "all" else data & counts
    return made_of(func(chosen) if dim is None else func(chosen, dim, keepdim), _any(counts, dim, keepdim))


@handles("softmax", "log_softmax")
def _softmax(func: Any, input: MaskedTensor, dim: int, dtype: Any = None, **kwargs: Any) -> MaskedTensor:
    shares = getattr(masked, name_of(func))(input.get_data(), dim, dtype=dtype, mask=input.get_mask())
    return made_of(shares, input.get_mask())


@handles("item", "__bool__", "is_nonzero")
def _number(func: Any, input: MaskedTensor) -> Any:
    return func(input.get_data())


@handles("backward")
def _backward(func: Any, *args: Any, **kwargs: Any) -> None:
    func(*map(_data, args), **{name: _data(x) for name, x in kwargs.items()})


@handles("grad")
def _grad(func: Any, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    targets = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    found = func(_data(outputs), [_data(x) for x in targets], *map(_data, args), **kwargs)
    pairs = zip(targets, found, strict=True)
    return tuple(made_of(g, x.get_mask()) if isinstance(x, MaskedTensor) and g is not None else g for x, g in pairs)


@handles("tensor", "as_tensor")
def _again(func: Any, data: MaskedTensor, **kwargs: Any) -> MaskedTensor:
    return made_of(data.get_data().detach().clone(), data.get_mask())


@handles("shape", "ndim", "size", "dim", "numel", "nelement", "stride", "is_contiguous", "dtype", "device", "layout")
@handles("requires_grad", "requires_grad_", "is_leaf", "grad_fn", "retain_grad", "output_nr", "is_floating_point")
@handles("is_complex", "is_signed", "element_size", "itemsize", "<lambda>", "register_hook", "storage_offset")
def _itself(func: Any, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)
