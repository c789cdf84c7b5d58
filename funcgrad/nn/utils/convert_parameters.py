"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of all parameters, one after the other. Shape: result (N)."""
    return fg.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the elements of `vec`, in the order of `parameters_to_vector`."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start, values = 0, vec.detach()
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = values[start : start + count].reshape(parameter.shape)
        start += count
