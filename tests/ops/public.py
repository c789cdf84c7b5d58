"""Calls funcgrad's functions, methods and in-place methods with samples; nothing is read until all is recorded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import funcgrad
from funcgrad._tensor.front import places
from funcgrad._tensor.interop import from_host, to_host
from tests.ops.calling import built, cotangent, flat, function_of, tree
from tests.ops.samples import Given, Sample


class Answer(NamedTuple):
    """What a call gave, not yet computed: results, gradients of the leaves that want one, graphs of the results."""

    results: list[Any]
    gradients: list[Any]
    graphs: list[str]


def call_public(name: str, sample: Sample, spelled: str | None = None) -> Answer:
    """Call the function `name` (or another spelling of it) with the sample, and backward from its results."""
    leaves: list[Any] = []

    def make(array: np.ndarray, given: Given) -> Any:
        tensor = from_host(array, requires_grad=given.grad)
        if given.grad:
            leaves.append(tensor)
        return tensor

    args, kwargs = built(name, sample, make, lambda kind: getattr(funcgrad, kind))
    spelled = spelled or name
    if spelled.endswith("_") and not spelled.endswith("__"):
        args[0] = args[0].clone()
    results = flat(function_of(funcgrad, spelled, funcgrad.Tensor)(*args, **kwargs))
    graphs = [tree(r.grad_fn) if isinstance(r, funcgrad.Tensor) else "" for r in results]
    return Answer(results, _gradients(name, sample, leaves, results), graphs)


def _gradients(name: str, sample: Sample, leaves: list[Any], results: list[Any]) -> list[Any]:
    wanted = [(i, r) for i, r in enumerate(results) if isinstance(r, funcgrad.Tensor) and r.requires_grad]
    if not sample.gradient or not wanted or not leaves:
        return []
    given = [from_host(cotangent(name, i, tuple(r.shape), r.dtype.name)) for i, r in wanted]
    return list(funcgrad.autograd.grad([r for _, r in wanted], leaves, given, allow_unused=True))


def read(results: list[Any]) -> list[Any]:
    """Return numpy arrays of tensors, and of Python's numbers; None stays None."""
    return [
        to_host(r.detach()) if isinstance(r, funcgrad.Tensor) else None if r is None else np.asarray(r) for r in results
    ]


def has_method(name: str) -> bool:
    """Tell whether the table gives this plain function to Tensor as a method too."""
    return "." not in name and f".{name}" in places() and places().get(name) is places()[f".{name}"]


def has_twin(name: str) -> bool:
    """Tell whether the table gives this plain function an in-place method."""
    return "." not in name and f".{name}_" in places() and places().get(name) is places()[f".{name}_"]
