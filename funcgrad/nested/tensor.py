"""NestedTensor in the jagged layout: the rows of all entries one after the other, and where each entry begins.

A Tensor whose value is that of its `values`; most functions of it are the same functions of the values. What a
function does otherwise stands in HANDLERS by its name, which the other files of this room fill.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from funcgrad._base.layouts import jagged
from funcgrad._base.size import Size
from funcgrad._tensor.aliases import View
from funcgrad._tensor.overriding import Handlers, Without, name_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.raggedness import Raggedness, RaggedSize

HANDLERS = Handlers()
handles = HANDLERS.of


class NestedTensor(Tensor):
    """A batch of tensors that differ in one dimension. Shape: (B, *, D, ...), values (total, D, ...)."""

    _raggedness: Raggedness
    _ragged_idx: int

    @staticmethod
    def _made(values: Tensor, raggedness: Raggedness, ragged_idx: int = 1) -> NestedTensor:
        """Return the nested tensor of these values, with their history."""
        self: NestedTensor = object.__new__(NestedTensor)
        self._variable, self._slot = values._current(), None
        self._alias = values._alias.again() if type(values._alias) is View else None
        self._made_in_inference, self._writes = values._made_in_inference, 0
        self._raggedness, self._ragged_idx = raggedness, ragged_idx
        return self

    def _like(self, values: Tensor) -> NestedTensor:
        """Return an equally ragged tensor of other values."""
        return NestedTensor._made(values, self._raggedness, self._ragged_idx)

    def _plain(self) -> Tensor:
        """Return the values, to be read."""
        return Tensor._of(self._current())

    def _shared(self) -> Tensor:
        """Return the values under another name for the same storage: what is written to them is seen here."""
        with Without("asks_classes"):
            shared: Tensor = self._of_class(Tensor)
        shared._slot = None
        return shared

    def _inner(self, dim: int, name: str = "") -> int:
        """Return a dimension's place among those of the values. RuntimeError for the batch, if a name is given."""
        dim = dim_in(dim, self.ndim)
        if dim == 0 and name:
            raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
        return dim - 1

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a function of torch's by the handler of its name."""
        handler = HANDLERS.get(name_of(func))
        with Without("asks_classes"):
            if handler is None:
                refuse(func)
            return handler(func, *args, **(kwargs or {}))

    # What it is

    @property
    def is_nested(self) -> bool:
        """True."""
        return True

    @property
    def layout(self) -> Any:
        """torch.jagged."""
        return jagged

    @property
    def shape(self) -> Size:
        """(B, *, ...), with a symbol in the place of the ragged size."""
        sizes: list[Any] = [self._raggedness.batch_size, *self._current().value.aval.shape]
        sizes[self._ragged_idx] = self._raggedness.symbol
        return Size(sizes)

    @property
    def ndim(self) -> int:
        """How many dimensions it has, the batch's and the ragged one's included."""
        return len(self._current().value.aval.shape) + 1

    def dim(self) -> int:
        """Return how many dimensions it has."""
        return self.ndim

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or one size."""
        return self.shape if dim is None else self.shape[dim_in(dim, self.ndim)]

    def numel(self) -> int:
        """Return the number of elements of the values."""
        return self._current().value.aval.shape.numel()

    def stride(self, dim: int | None = None) -> Any:
        """Return how far apart neighbours lie, the batch's as a multiple of the ragged size."""
        inner: Any = self._shared().stride()
        strides = (self._raggedness.symbol * inner[self._ragged_idx - 1], *inner)
        return strides if dim is None else strides[dim_in(dim, self.ndim)]

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Tell whether the values are contiguous and without holes."""
        return self._raggedness.lengths is None and self._shared().is_contiguous()

    def is_same_size(self, other: Tensor) -> bool:
        """Tell whether another tensor has this very shape, the raggedness included."""
        return self.shape == other.shape

    def values(self) -> Tensor:
        """Return the rows of all entries. Shape: (total, ...)."""
        return self._shared()

    def offsets(self) -> Tensor:
        """Return where each entry begins, and where the last one ends. Shape: (B + 1,)."""
        return self._raggedness.offsets

    def lengths(self) -> Tensor | None:
        """Return the lengths of entries with holes between them; None where there are no holes. Shape: (B,)."""
        return self._raggedness.lengths

    @property
    def _values(self) -> Tensor:  # type: ignore[override]  # torch's name of a tensor of this class
        return self._shared()

    @property
    def _offsets(self) -> Tensor:
        return self._raggedness.offsets

    @property
    def _lengths(self) -> Tensor | None:
        return self._raggedness.lengths

    @property
    def _max_seqlen(self) -> int:
        return self._raggedness.longest

    @property
    def _min_seqlen(self) -> int:
        return int(self._raggedness.sizes.min(initial=self._raggedness.longest))

    def _get_max_seqlen(self) -> int:
        return self._max_seqlen

    def _get_min_seqlen(self) -> int:
        return self._min_seqlen

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """Return the entries. RuntimeError for another dimension than the batch's."""
        if dim_in(dim, self.ndim) != 0:
            raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
        values, at = self._shared(), self._ragged_idx - 1
        bounds = zip(self._raggedness.starts.tolist(), self._raggedness.sizes.tolist(), strict=True)
        return tuple(values.narrow(at, start, size) for start, size in bounds)

    def __len__(self) -> int:
        return self._raggedness.batch_size

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind())

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self._plain())

    @property
    def grad(self) -> Tensor | None:
        """The gradient, equally ragged."""
        with Without("asks_classes"):
            found = super().grad
        return None if found is None else self._like(found) if not found.is_nested else found

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        with Without("asks_classes"):
            self._gather_in(self._current()).grad = value._plain() if isinstance(value, NestedTensor) else value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        size = ", ".join(map(str, self.shape))
        history = f"grad_fn={self.grad_fn!r}, " if self.grad_fn is not None else ""
        leaf = "requires_grad=True, " if self.requires_grad and not history else ""
        return (
            f"NestedTensor(size=({size}), offsets={self.offsets()!r}, {history}{leaf}contiguous={self.is_contiguous()})"
        )

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> NestedTensor:
        copied = self._like(self._plain().detach().clone())
        memo[id(self)] = copied
        if self.requires_grad:
            copied.requires_grad_()
        return copied

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """Return a dense tensor, `padding` in the gaps, as large as the longest entry, or of `output_size`."""
        with Without("asks_classes"):
            padded: Tensor = HANDLERS["to_padded_tensor"](None, self, padding, output_size)
        return padded

    def tolist(self) -> NoReturn:
        """Refuse: entries have no common shape. RuntimeError, always."""
        raise RuntimeError(".tolist() is not supported for tensor subclasses, got NestedTensor")

    def numpy(self, **options: Any) -> NoReturn:
        """Refuse: entries have no common shape. RuntimeError, always."""
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")


def refuse(func: Any) -> NoReturn:
    """Refuse a function that nested tensors do not have, as torch does. NotImplementedError, always."""
    raise NotImplementedError(
        f"aten.{name_of(func)}: not supported for NestedTensor in the jagged layout; see values(), unbind() or "
        "to_padded_tensor()"
    )


def dim_in(dim: int, count: int) -> int:
    """Return a dimension counted from the first. IndexError where there is none such."""
    if not -count <= dim < count:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    return dim % count


__all__ = ["HANDLERS", "NestedTensor", "RaggedSize", "Raggedness", "dim_in", "handles", "refuse"]
