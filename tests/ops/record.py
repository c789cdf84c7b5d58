"""Records what torch answers to every sample: `python -m tests.ops.record [family ...]` (needs torch)."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
import torch

from tests.ops.calling import (
    RECORDED,
    built,
    cotangent,
    family_names,
    fingerprint,
    flat,
    function_of,
    samples_of,
    tree,
)  # fmt: skip
from tests.ops.samples import Given, Sample


def record(family: str) -> None:
    """Run a family's samples in torch and write `recorded/<family>.npz`."""
    arrays: dict[str, np.ndarray] = {}
    index: dict[str, Any] = {}
    for name, listed in samples_of(family).items():
        for number, sample in enumerate(listed):
            key = f"{name}|{number}"
            index[key] = {"fingerprint": fingerprint(name, sample), **_recorded(name, sample, key, arrays)}
    arrays["index"] = np.frombuffer(json.dumps(index).encode(), dtype=np.uint8)
    RECORDED.mkdir(exist_ok=True)
    np.savez_compressed(RECORDED / f"{family}.npz", **arrays)
    print(f"{family}: {len(index)} samples of {len(samples_of(family))} names")


def to_torch(array: np.ndarray, given: Given) -> torch.Tensor:
    """Return a leaf with these numbers."""
    if given.dtype == "bfloat16":
        tensor = torch.from_numpy(np.array(array, dtype=np.float32)).to(torch.bfloat16)
    else:
        tensor = torch.from_numpy(np.array(array))
    return tensor.requires_grad_(given.grad)


def to_numpy(tensor: Any) -> np.ndarray:
    """Return numbers that an npz file can hold; bfloat16 goes as float32."""
    if not isinstance(tensor, torch.Tensor):
        return np.asarray(tensor)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy(force=True)


def _recorded(name: str, sample: Sample, key: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    leaves: list[torch.Tensor] = []

    def make(array: np.ndarray, given: Given) -> torch.Tensor:
        tensor = to_torch(array, given)
        if given.grad:
            leaves.append(tensor)
        return tensor

    args, kwargs = built(name, sample, make, lambda kind: getattr(torch, kind))
    if name.endswith("_") and not name.endswith("__"):
        args[0] = args[0].clone()
    try:
        results = flat(function_of(torch, name, torch.Tensor)(*args, **kwargs))
    except Exception as error:
        if not sample.fails:
            raise RuntimeError(f"torch refuses {name} {sample}") from error
        return {"error": type(error).__name__, "message": str(error)}
    if sample.fails:
        raise RuntimeError(f"torch does not refuse {name} {sample}")
    for position, result in enumerate(results):
        arrays[f"{key}|result{position}"] = to_numpy(result)
    told = {
        "kinds": [str(r.dtype)[6:] if isinstance(r, torch.Tensor) else f"Python {type(r).__name__}" for r in results],
        "nodes": [tree(r.grad_fn) if isinstance(r, torch.Tensor) else "" for r in results],
    }
    return {**told, "grads": _gradients(name, sample, key, arrays, leaves, results)}


def _gradients(
    name: str, sample: Sample, key: str, arrays: dict[str, np.ndarray], leaves: list[torch.Tensor], results: list[Any]
) -> list[bool]:
    if not sample.gradient:
        return []
    wanted = [(i, r) for i, r in enumerate(results) if isinstance(r, torch.Tensor) and r.requires_grad]
    if not wanted or not leaves:
        return []
    if any("NotImplemented" in tree(r.grad_fn) for _, r in wanted):
        return []
    given = []
    for i, result in wanted:
        numbers = cotangent(name, i, tuple(result.shape), str(result.dtype)[6:])
        given.append(to_torch(numbers, Given(numbers.shape, str(result.dtype)[6:], False)))
    found = torch.autograd.grad([r for _, r in wanted], leaves, given, allow_unused=True)
    for position, gradient in enumerate(found):
        if gradient is not None:
            arrays[f"{key}|grad{position}"] = to_numpy(gradient)
    return [gradient is not None for gradient in found]


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    for chosen in sys.argv[1:] or family_names():
        record(chosen)
