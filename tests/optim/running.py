"""Running the cases of `cases.py` with funcgrad, and torch's recorded numbers for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import funcgrad as torch
from tests.optim import cases

FOLDER = Path(__file__).parent / "recorded"


def recorded(name: str) -> Any:
    """Return what `record.py` wrote."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def parameter(array: Any) -> torch.Tensor:
    """Return a leaf that requires grad: of an array in its dtype, of numbers in float32."""
    return torch.tensor(array, requires_grad=True)


def options_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return recorded options with their tensors."""
    return {k: torch.tensor(v["tensor"]) if isinstance(v, dict) else v for k, v in options.items()}


def give_gradients(name: str, params: list[torch.Tensor], gradients: list[Any]) -> None:
    """Set the gradients of a step as the optimizer wants them."""
    for param, gradient in zip(params, gradients, strict=True):
        param.grad = None if gradient is None else as_given(name, torch.tensor(gradient))


def as_given(name: str, gradient: Any) -> Any:
    """Return a gradient as the optimizer wants it."""
    return gradient.to_sparse(1) if name == "SparseAdam" else gradient


def trajectory(name: str, options: dict[str, Any], dtype: str = "float32") -> tuple[list[list[np.ndarray]], Any, Any]:
    """Return the parameters after each step, the parameters and the optimizer."""
    start, gradients = cases.problem(name, dtype)
    params = [parameter(array) for array in start]
    optimizer = getattr(torch.optim, name)(params, **options_of(options))
    rows = []
    for step in gradients:
        give_gradients(name, params, step)
        optimizer.step()
        rows.append([param.detach().numpy().copy() for param in params])
    return rows, params, optimizer


def assert_close(found: Any, wanted: Any, dtype: str = "float32") -> None:
    """Compare up to a few roundings of the largest number."""
    wanted = np.asarray(wanted)
    largest = np.abs(wanted).max(initial=1e-30)
    tolerance = {"float32": 1e-6, "complex64": 1e-6, "float64": 1e-13}[dtype]
    np.testing.assert_allclose(
        np.asarray(found).reshape(wanted.shape), wanted, rtol=tolerance, atol=tolerance * largest
    )
