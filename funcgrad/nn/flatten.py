"""Layers that only change the shape: Flatten and Unflatten."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module


class Flatten(Module):
    """Join the dimensions from `start_dim` to `end_dim` into one."""

    __constants__ = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the input in its new shape."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split the dimension `dim` into several of the given sizes."""

    __constants__ = ("dim", "unflattened_size")

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            found = type(unflattened_size).__name__
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {found}")
        for place, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} "
                    f"at pos {place}"
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the input in its new shape."""
        dim: Any = self.dim  # what is no int, the function refuses
        return input.unflatten(dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the dimension and the sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
