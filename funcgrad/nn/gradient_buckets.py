"""Gradients in buckets: as many parameters' as fit a limit, in one flat tensor, as hooks that communicate get them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

FIRST_LIMIT, LIMIT = 1 << 20, 25 << 20  # bytes at which the first bucket is full, and each other


class GradBucket:
    """The gradients of some parameters, of one dtype, one after the other in a flat tensor."""

    def __init__(self, index: int, is_last: bool, parameters: Sequence[Tensor], buffer: Tensor) -> None:
        self._index, self._is_last, self._parameters, self._buffer = index, is_last, list(parameters), buffer

    def index(self) -> int:
        """Return which of the buckets this is; number 0 has the gradients that are ready first."""
        return self._index

    def is_last(self) -> bool:
        """Tell whether no bucket comes after this one."""
        return self._is_last

    def buffer(self) -> Tensor:
        """Return the flat tensor."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Put another tensor in the place of the flat one."""
        self._buffer = buffer

    def parameters(self) -> list[Tensor]:
        """Return the parameters."""
        return list(self._parameters)

    def gradients(self) -> list[Tensor]:
        """Return the gradients: views of the flat tensor, of the parameters' shapes."""
        return split(self._buffer, self._parameters)


def split(flat: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """Return the parts of a flat tensor, one after the other, in the shapes of parameters."""
    found, start = [], 0
    for parameter in parameters:
        found.append(flat[start : start + parameter.numel()].view(parameter.shape))
        start += parameter.numel()
    return found


def joined(gradients: Sequence[Tensor]) -> Tensor:
    """Return gradients as one flat tensor of its own memory."""
    return fg.cat([gradient.detach().reshape(-1) for gradient in gradients])


def planned(parameters: Sequence[Tensor], order: Sequence[int], limits: Sequence[float]) -> list[list[int]]:
    """Return which parameters share a bucket: those of one dtype and device, in an order, until it has its limit.

    limits: bytes at which the first bucket of a kind is full, the second, ...; the last holds for all further ones.
    """
    filling: dict[Any, tuple[list[int], int]] = {}
    counts: dict[Any, int] = {}
    full: list[list[int]] = []
    for i in order:
        parameter = parameters[i]
        kind = parameter.dtype, parameter.device
        members, size = filling.pop(kind, ([], 0))
        members.append(i)
        size += parameter.numel() * parameter.element_size()
        if size < limits[min(counts.get(kind, 0), len(limits) - 1)]:
            filling[kind] = members, size
        else:
            full.append(members)
            counts[kind] = counts.get(kind, 0) + 1
    return [*full, *[members for members, _ in filling.values()]]
