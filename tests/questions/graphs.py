"""Walking a backward graph and comparing gradients, as the questions' tests need it."""

from __future__ import annotations

from typing import Any

import numpy as np


def nodes_behind(tensor: Any) -> list[Any]:
    """Return every node that can be reached from a tensor's `grad_fn`."""
    found: dict[int, Any] = {}
    waiting = [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and id(node) not in found:
            found[id(node)] = node
            waiting += [following for following, _ in node.next_functions]
    return list(found.values())


def drawing(node: Any) -> Any:
    """Return a graph as nested tuples (name, what each input came from ...); None for an input without history."""
    if node is None:
        return None
    name = node.name().split("::")[-1]
    return (name, *(drawing(following) for following, _ in node.next_functions)) if node.next_functions else name


def assert_close(first: Any, second: Any) -> None:
    """Assert that two tensors are equal up to float32 rounding."""
    np.testing.assert_allclose(first.detach().numpy(), second.detach().numpy(), rtol=1e-5, atol=1e-6)
