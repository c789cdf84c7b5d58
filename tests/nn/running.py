"""Running a case in torch or here, and describing all that can be compared: repr, weights, results, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.cases import Case, inputs_of


def described(torch: Any, case: Case) -> dict[str, Any]:
    """Make the case's layer from seed 0, call it and differentiate the sum of its results' squares.

    torch: torch itself, or funcgrad. Returns repr, and arrays by name: "state.weight", "result.0", "grad.weight", ...
    """
    torch.manual_seed(0)
    layer = case.make(torch.nn)
    found: dict[str, Any] = {"repr": repr(layer)}
    for name, tensor in layer.state_dict().items():
        found[f"state.{name}"] = numbers(tensor)
    inputs = [x if x is None else torch.tensor(x) for x in inputs_of(case)]
    for x in inputs:
        if x is not None and x.is_floating_point() and not bool((x.abs() == 1).all()):  # signs are labels
            x.requires_grad_()
    results = flat(layer(*inputs))
    total = sum((result * result).sum() for result in results)
    found.update({f"result.{i}": numbers(result) for i, result in enumerate(results)})
    if total.requires_grad:
        total.backward()
    for i, x in enumerate(inputs):
        if x is not None and x.grad is not None:
            found[f"grad.input{i}"] = numbers(x.grad)
    for name, parameter in layer.named_parameters():
        if parameter.grad is not None:
            found[f"grad.{name}"] = numbers(parameter.grad)
    for name, buffer in layer.named_buffers():
        found[f"after.{name}"] = numbers(buffer)
    return found


def flat(results: Any) -> list[Any]:
    """Return all tensors of nested tuples."""
    if isinstance(results, (tuple, list)):
        return [tensor for part in results if part is not None for tensor in flat(part)]
    return [results]


def numbers(tensor: Any) -> np.ndarray[Any, Any]:
    """Return a tensor's numbers."""
    return np.array(tensor.detach().numpy())


def assert_alike(ours: dict[str, Any], torchs: dict[str, Any], tolerance: float = 2e-5) -> None:
    """Compare two descriptions: the same names, the same repr, the same shapes and dtypes, numbers within tolerance."""
    assert ours["repr"] == torchs["repr"]
    assert sorted(ours) == sorted(torchs)
    for name, expected in torchs.items():
        if name != "repr":
            assert ours[name].dtype == expected.dtype, name
            np.testing.assert_allclose(ours[name], expected, rtol=tolerance, atol=tolerance, err_msg=name)
