"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of all parameters, one after the other. Shape: result (N)."""
    found, device = [], None
    for parameter in parameters:
        device = _check_param_device(parameter, device)
        found.append(parameter.reshape(-1))
    return fg.cat(found)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the elements of `vec`, in the order of `parameters_to_vector`."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start, values, device = 0, vec.detach(), None
    for parameter in parameters:
        device = _check_param_device(parameter, device)
        count = parameter.numel()
        parameter.data = values[start : start + count].reshape(parameter.shape)
        start += count


def _check_param_device(param: Tensor, old_param_device: int | None) -> int:
    """Return the number of the parameter's GPU, -1 without one. TypeError where it is not that of the one before."""
    device = param.get_device() if param.device.type == "cuda" else -1
    if old_param_device not in (None, device):
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
    return device
