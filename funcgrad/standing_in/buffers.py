"""torch._utils: tensors laid one after another in one flat buffer, and views of such a buffer in their shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

__all__ = ["_flatten_dense_tensors", "_take_tensors", "_unflatten_dense_tensors"]


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Return the elements of all tensors, one after another. Shape: result (sum of their sizes)."""
    return fg.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return views of the buffer in the shapes of the tensors that were laid into it."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Yield the tensors in groups of one type each, of at most `size_limit` bytes where a group has more than one."""
    groups: dict[str, list[Tensor]] = {}
    sizes: dict[str, int] = {}
    for tensor in tensors:
        kind = tensor.type()
        parts = (tensor._indices(), tensor._values()) if tensor.is_sparse else (tensor,)
        size = sum(part.numel() * part.element_size() for part in parts)
        if sizes.get(kind, 0) > 0 and sizes[kind] + size > size_limit:
            full, groups[kind], sizes[kind] = groups[kind], [], 0
            yield full
        groups.setdefault(kind, []).append(tensor)
        sizes[kind] = sizes.get(kind, 0) + size
    yield from groups.values()
