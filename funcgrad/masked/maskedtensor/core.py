"""MaskedTensor: a tensor, and which of its elements count. What does not count takes no part in any result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from funcgrad._base.dtypes import bool_
from funcgrad._base.warning import warn_once
from funcgrad._tensor import functions
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.overriding import Handlers, Without, arm, name_of
from funcgrad._tensor.tensor import Tensor

HANDLERS = Handlers()
handles = HANDLERS.of


class MaskedTensor(Tensor):
    """A tensor whose value is that of its data; `get_mask` is True where an element counts. Shape: both the same."""

    _mask: Tensor

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
        """Return a new leaf. TypeError, ValueError: data and mask are no tensors of one shape, mask has no bools."""
        _check(data, mask)
        arm()
        made = made_of(data.detach(), mask)
        if requires_grad:
            made.requires_grad_()
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a function of torch's by the handler of its name; TypeError where there is none."""
        handler = HANDLERS.get(name_of(func))
        if handler is None:
            return NotImplemented
        with Without("asks_classes"):
            return handler(func, *args, **(kwargs or {}))

    def get_data(self) -> Tensor:
        """Return the data, with their history, whatever counts."""
        return Tensor._of(self._current())

    def get_mask(self) -> Tensor:
        """Return which elements count."""
        return self._mask

    def to_tensor(self, value: Any) -> Tensor:
        """Return a plain tensor with `value` where an element does not count."""
        with Without("asks_classes"):
            chosen: Tensor = self.get_data().masked_fill(~self._mask, value)
        return chosen

    def is_sparse_coo(self) -> bool:
        """Tell that it is not sparse: layouts are dense here."""
        return False

    @property
    def grad(self) -> Tensor | None:
        """The gradient, masked likewise."""
        with Without("asks_classes"):
            found = super().grad
        return None if found is None else made_of(found, self._mask)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        with Without("asks_classes"):
            self._gather_in(self._current()).grad = value.get_data() if isinstance(value, MaskedTensor) else value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def __len__(self) -> int:
        return self._current().value.aval.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        with Without("asks_classes"):
            return _written(to_host(self.get_data().detach()), to_host(self._mask))

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def tolist(self) -> NoReturn:
        """Refuse: numbers that do not count are none. RuntimeError, always; see to_tensor."""
        raise RuntimeError(".tolist() is not supported for tensor subclasses, got MaskedTensor")

    def numpy(self, **options: Any) -> NoReturn:
        """Refuse: numbers that do not count are none. RuntimeError, always; see to_tensor."""
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")


_PROTOTYPE = (
    "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. Please open a Github "
    "issue for features requests and see our documentation on the torch.masked module for further information about "
    "the project."
)


def made_of(data: Tensor, mask: Tensor) -> MaskedTensor:
    """Return the masked tensor of these data, with their history. Warns once: torch means to change these."""
    warn_once(_PROTOTYPE)
    self: MaskedTensor = object.__new__(MaskedTensor)
    self._variable, self._slot, self._alias = data._current(), None, None
    self._made_in_inference, self._writes = data._made_in_inference, 0
    self._mask = mask
    return self


def _check(data: Any, mask: Any) -> None:
    for name, given in (("data", data), ("mask", mask)):
        if not isinstance(given, Tensor) or isinstance(given, MaskedTensor):
            raise TypeError(f"{name} must be a Tensor")
    if mask.dtype is not bool_:
        raise TypeError("mask must have dtype bool.")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """Return a new masked tensor, a leaf, of copies. TypeError, ValueError: they are no tensors of one shape."""
    _check(data, mask)
    return MaskedTensor(data.detach().clone(), mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """Return a masked tensor of data with their history: gradients of what counts reach them."""
    _check(data, mask)
    arm()
    return made_of(functions.where(mask, data, data.detach()), mask)


def is_masked_tensor(obj: Any, /) -> bool:
    """Tell whether this is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


def _written(data: np.ndarray[Any, Any], mask: np.ndarray[Any, Any]) -> str:
    if not data.ndim:
        return f"MaskedTensor({_number(data.item()) if mask else '--'}, {bool(mask)})"
    return f"MaskedTensor(\n{_block(data, mask, '  ')}\n)"


def _block(data: np.ndarray[Any, Any], mask: np.ndarray[Any, Any], indent: str) -> str:
    if data.ndim > 1:
        inside = ",\n".join(_block(row, counts, indent + "  ") for row, counts in zip(data, mask, strict=True))
        return f"{indent}[\n{inside}\n{indent}]"
    numbers = [_number(x.item()) if counts else "" for x, counts in zip(data, mask, strict=True)]
    width = max(8, *map(len, numbers)) if len(numbers) > 1 else 8
    return f"{indent}[{', '.join(number or '--'.rjust(width) for number in numbers)}]"


def _number(number: Any) -> str:
    return f"{number:8.4f}" if isinstance(number, float) else str(number)
