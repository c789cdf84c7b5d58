"""StridedNestedTensor: entries that may differ in every size, one after the other in one buffer.

torch's older layout, which its functions know less of. A Tensor whose value is that of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from funcgrad._base.layouts import strided
from funcgrad._base.size import Size
from funcgrad._base.warning import warn_once
from funcgrad._tensor import functions
from funcgrad._tensor.elementwise import ELEMENTWISE, IN_PLACE
from funcgrad._tensor.overriding import Handlers, Without, name_of
from funcgrad._tensor.tensor import Tensor
from funcgrad.nested.derivatives import DERIVATIVES
from funcgrad.nested.padding import resized
from funcgrad.nested.tensor import dim_in

_HANDLERS = Handlers()
_handles = _HANDLERS.of


_PROTOTYPE = (
    "The PyTorch API of nested tensors is in prototype stage and will change in the near future. We recommend "
    "specifying layout=torch.jagged when constructing a nested tensor, as this layout receives active development, has "
    "better operator coverage, and works with torch.compile."
)


class StridedNestedTensor(Tensor):
    """A batch of tensors with as many dimensions each. Shape: buffer (the numbers of all elements' entries,)."""

    _sizes: tuple[Size, ...]

    @staticmethod
    def _made(buffer: Tensor, sizes: Sequence[Size]) -> StridedNestedTensor:
        """Return the nested tensor of a buffer, with its history. Warns once: torch means to change these."""
        warn_once(_PROTOTYPE)
        self: StridedNestedTensor = object.__new__(StridedNestedTensor)
        self._variable, self._slot, self._alias = buffer._current(), None, None
        self._made_in_inference, self._writes = buffer._made_in_inference, 0
        self._sizes = tuple(sizes)
        return self

    def _plain(self) -> Tensor:
        """Return the buffer, to be read."""
        return Tensor._of(self._current())

    def _like(self, buffer: Tensor) -> StridedNestedTensor:
        """Return a tensor of the same sizes with another buffer."""
        return StridedNestedTensor._made(buffer, self._sizes)

    def _parts(self) -> list[Tensor]:
        """Return the entries."""
        counts = [size.numel() for size in self._sizes]
        pieces = self._plain().split(counts) if counts else ()
        return [piece.reshape(size) for piece, size in zip(pieces, self._sizes, strict=True)]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a function of torch's by the handler of its name."""
        name = name_of(func)
        handler = _HANDLERS.get(name) or DERIVATIVES.get(name) or (_elementwise if name in ELEMENTWISE else None)
        handler = handler or (_in_place if name in IN_PLACE else None)
        if handler is None:
            raise NotImplementedError(
                f"Could not run 'aten::{name}' with arguments from the 'NestedTensorCPU' backend: nested tensors in "
                "the strided layout do not have it; see unbind(), to_padded_tensor(), and layout=torch.jagged"
            )
        with Without("asks_classes"):
            return handler(func, *args, **(kwargs or {}))

    # What it is

    @property
    def is_nested(self) -> bool:
        """True."""
        return True

    @property
    def layout(self) -> Any:
        """torch.strided."""
        return strided

    @property
    def shape(self) -> NoReturn:
        """Refuse: entries have no common shape. RuntimeError, always; see size(dim)."""
        raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")

    @property
    def ndim(self) -> int:
        """How many dimensions it has, the batch's included."""
        return 1 + (len(self._sizes[0]) if self._sizes else 0)

    def dim(self) -> int:
        """Return how many dimensions it has."""
        return self.ndim

    def size(self, dim: int | None = None) -> Any:
        """Return one size. RuntimeError for one in which entries differ, and for all of them."""
        if dim is None:
            return self.shape
        place = dim_in(dim, self.ndim)
        if place == 0:
            return len(self._sizes)
        found = {size[place - 1] for size in self._sizes}
        if len(found) > 1:
            raise RuntimeError(f"Given dimension {place} is irregular and does not have a size.")
        return found.pop()

    def numel(self) -> int:
        """Return the number of elements of all entries."""
        return sum(size.numel() for size in self._sizes)

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Tell that the entries lie one after the other."""
        return True

    def values(self) -> Tensor:
        """Return the buffer. Shape: (numel(),)."""
        return self._plain()

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """Return the entries. RuntimeError for another dimension than the batch's."""
        if dim_in(dim, self.ndim) != 0:
            raise RuntimeError("NestedTensor can only be unbound along dimension 0")
        with Without("asks_classes"):
            return tuple(self._parts())

    def to_padded_tensor(self, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
        """Return a dense tensor as large as the largest entry in each dimension, or of `output_size`.

        RuntimeError where that is smaller than an entry.
        """
        with Without("asks_classes"):
            largest = [max(sizes) for sizes in zip(*self._sizes, strict=True)]
            size = largest if output_size is None else list(output_size[1:])
            if any(wanted < found for wanted, found in zip(size, largest, strict=True)):
                raise RuntimeError(
                    "Value in output_size is less than NestedTensor padded size. Truncation is not supported."
                )
            return functions.stack([resized(part, size, padding) for part in self._parts()])

    def _nested_tensor_size(self) -> Tensor:
        return functions.tensor([list(size) for size in self._sizes])

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind())

    @property
    def grad(self) -> Tensor | None:
        """The gradient, of the same sizes."""
        with Without("asks_classes"):
            found = super().grad
        return None if found is None else self._like(found)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        with Without("asks_classes"):
            plain = value._plain() if isinstance(value, StridedNestedTensor) else value
            self._gather_in(self._current()).grad = plain

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        with Without("asks_classes"):
            parts = [part.detach().requires_grad_(self.requires_grad) for part in self._parts()]
            inside = ",\n".join("  " + repr(part).replace("\n", "\n  ") for part in parts)
            end = f", grad_fn=<{type(self.grad_fn).__name__}>" if self.grad_fn is not None else ""
            end = end or (", requires_grad=True" if self.requires_grad else "")
        return f"nested_tensor([\n{inside}\n]{end})"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


def strided_from_parts(parts: Sequence[Tensor]) -> StridedNestedTensor:
    """Return the nested tensor of entries, with their history. RuntimeError where they differ in dimensions."""
    for place, part in enumerate(parts):
        if part.ndim != parts[0].ndim:
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. "
                f"Found dimension {part.ndim} for Tensor at index {place} and dimension {parts[0].ndim} for Tensor at "
                f"index {place - 1}."
            )
    buffer = functions.cat([part.reshape(-1) for part in parts]) if parts else functions.empty(0)
    return StridedNestedTensor._made(buffer, [part.shape for part in parts])


def _elementwise(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function of each element to the buffers. RuntimeError where sizes differ."""
    sizes = next(x._sizes for x in (*args, *kwargs.values()) if isinstance(x, StridedNestedTensor))
    plain = [_buffer(func, x, sizes) for x in args]
    result = func(*plain, **{name: _buffer(func, x, sizes) for name, x in kwargs.items()})
    return StridedNestedTensor._made(result, sizes) if isinstance(result, Tensor) else result


def _in_place(func: Any, target: StridedNestedTensor, *args: Any, **kwargs: Any) -> StridedNestedTensor:
    shared = target._of_class(Tensor)
    func(shared, *(_buffer(func, x, target._sizes) for x in args), **kwargs)
    return target


def _buffer(func: Any, x: Any, sizes: Sequence[Size]) -> Any:
    if isinstance(x, StridedNestedTensor):
        if x._sizes != tuple(sizes):
            raise RuntimeError(f"{name_of(func).strip('_')} does not support broadcasting when given a NestedTensor")
        return x._plain()
    if isinstance(x, Tensor) and x.ndim:
        raise RuntimeError("Expected both self and other to be nested, but got a nested self and non-nested other")
    return x


def _each(input: StridedNestedTensor, change: Callable[[Tensor], Tensor]) -> StridedNestedTensor:
    return strided_from_parts([change(part) for part in input._parts()])


def _of_entry(input: StridedNestedTensor, dim: int, name: str) -> int:
    """Return a dimension as the entries count it. RuntimeError for the batch."""
    place = dim_in(dim, input.ndim)
    if place == 0:
        raise RuntimeError(f"{name}(): not supported for nested tensors along dimension 0")
    return place - 1


@_handles("linear", "layer_norm", "rms_norm", "embedding", "one_hot")
def _layer(func: Any, input: StridedNestedTensor, *args: Any, **kwargs: Any) -> StridedNestedTensor:
    return _each(input, lambda part: func(part, *args, **kwargs))


@_handles("softmax", "log_softmax")
def _softmax(func: Any, input: StridedNestedTensor, dim: int, *args: Any, **kwargs: Any) -> StridedNestedTensor:
    inner = _of_entry(input, dim, name_of(func))
    return _each(input, lambda part: func(part, inner, *args, **kwargs))


@_handles("sum")
def _sum(func: Any, input: StridedNestedTensor, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
    if dim is None:
        return func(input._plain(), **kwargs)
    place = dim if isinstance(dim, int) else dim[0]
    if dim_in(place, input.ndim) != input.ndim - 1:
        raise RuntimeError("NestedTensor only allows reduction of the last dimension for now.")
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    return _each(input, lambda part: func(part, -1, True, **kwargs))


@_handles("matmul", "__matmul__", "bmm")
def _matmul(func: Any, input: Any, other: Any) -> StridedNestedTensor:
    if not (isinstance(input, StridedNestedTensor) and isinstance(other, StridedNestedTensor)):
        one, two = ("nested" if isinstance(x, StridedNestedTensor) else "non-nested" for x in (input, other))
        raise RuntimeError(f"Expected both to be nested, but got a {one} self and {two} other")
    pairs = zip(input._parts(), other._parts(), strict=True)
    return strided_from_parts([a.matmul(b) for a, b in pairs])


@_handles("scaled_dot_product_attention")
def _attention(func: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> StridedNestedTensor:
    given = zip(query._parts(), key._parts(), value._parts(), strict=True)
    return strided_from_parts([func(*(x.unsqueeze(0) for x in one), *args, **kwargs).squeeze(0) for one in given])


@_handles("transpose")
def _transpose(func: Any, input: StridedNestedTensor, dim0: int, dim1: int) -> StridedNestedTensor:
    one, other = (_of_entry(input, dim, "transpose") for dim in (dim0, dim1))
    return _each(input, lambda part: part.transpose(one, other))


@_handles("mT")
def _matrix_transpose(func: Any, input: StridedNestedTensor) -> StridedNestedTensor:
    return _each(input, lambda part: part.mT)


@_handles("reshape", "view")
def _reshape(func: Any, input: StridedNestedTensor, *sizes: Any) -> StridedNestedTensor:
    shape: Sequence[int] = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if shape[0] not in (-1, len(input)):
        raise RuntimeError(f"{name_of(func)}: cannot change the implicit batch dimension of nested tensors")

    def changed(part: Tensor) -> Tensor:
        inner: list[int] = list(shape[1:])
        keeps = inner.count(-1) > 1
        return part.reshape([part.shape[i] if size == -1 and keeps else size for i, size in enumerate(inner)])

    return _each(input, changed)


@_handles("squeeze", "unsqueeze")
def _squeeze(func: Any, input: StridedNestedTensor, dim: int) -> StridedNestedTensor:
    place = dim_in(dim, input.ndim + (name_of(func) == "unsqueeze"))
    if place == 0:
        raise RuntimeError(f"{name_of(func)}(): not supported for nested tensors along dimension 0")
    return _each(input, lambda part: func(part, place - 1))


@_handles("chunk")
def _chunk(func: Any, input: StridedNestedTensor, chunks: int, dim: int = 0) -> tuple[StridedNestedTensor, ...]:
    if dim_in(dim, input.ndim) != input.ndim - 1:
        raise RuntimeError("Chunk for nested tensors is currently only supported for the last dimension.")
    pieces = [func(part, chunks, -1) for part in input._parts()]
    return tuple(strided_from_parts(parts) for parts in zip(*pieces, strict=True))


@_handles("cat", "concat", "concatenate")
def _cat(func: Any, tensors: Sequence[Any], dim: int = 0) -> StridedNestedTensor:
    if dim != 0:
        raise RuntimeError("cat(): nested tensors in the strided layout are joined along dimension 0 only")
    return strided_from_parts([part for x in tensors for part in (x._parts() if x.is_nested else x.unbind())])


@_handles("__getitem__", "select")
def _get_item(func: Any, input: StridedNestedTensor, *index: Any) -> Tensor:
    if name_of(func) == "select":
        dim, place = index
        first, rest = (place, ()) if dim_in(dim, input.ndim) == 0 else (None, ())
    else:
        first, *rest = index[0] if isinstance(index[0], tuple) else (index[0],)
    if not isinstance(first, int):
        raise NotImplementedError("nested tensors in the strided layout are indexed by the number of an entry first")
    if not -len(input) <= first < len(input):
        raise IndexError(f"index {first} is out of bounds for dimension 0 with size {len(input)}")
    entry = input._parts()[first]
    return entry[tuple(rest)] if rest else entry


@_handles("unbind")
def _unbind(func: Any, input: StridedNestedTensor, dim: int = 0) -> tuple[Tensor, ...]:
    return input.unbind(dim)


@_handles("is_same_size")
def _is_same_size(func: Any, input: StridedNestedTensor, other: Any) -> bool:
    return isinstance(other, StridedNestedTensor) and input._sizes == other._sizes


@_handles("requires_grad_", "retain_grad", "requires_grad", "dtype", "device", "grad_fn", "is_leaf", "output_nr")
@_handles(
    "is_floating_point", "is_complex", "is_signed", "element_size", "itemsize", "<lambda>", "hash", "storage_offset"
)
def _itself(func: Any, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)
