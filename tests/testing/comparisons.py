"""Pairs that do not agree, for torch and for funcgrad alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PAIRS: dict[str, Callable[[Any], tuple[Any, Any, dict[str, Any]]]] = {
    "one element": lambda t: (t.ones(3), t.tensor([1.0, 2.0, 1.0]), {}),
    "0-d": lambda t: (t.tensor(1.0), t.tensor(2.0), {}),
    "shape": lambda t: (t.ones(2), t.ones(3), {}),
    "dtype": lambda t: (t.ones(2), t.ones(2).double(), {}),
    "integers": lambda t: (t.ones(2).long(), t.tensor([1, 3]), {}),
    "floats": lambda t: (1.0, 1.1, {}),
    "a list": lambda t: ([1.0, 2.0], [1.0, 3.0], {}),
    "keys": lambda t: ({"a": t.ones(1)}, {"b": t.ones(1)}, {}),
    "nan": lambda t: (t.tensor([float("nan")]), t.tensor([float("nan")]), {}),
    "bools": lambda t: (True, False, {}),
    "ints": lambda t: (1, 2, {}),
    "length": lambda t: ([1], [1, 2], {}),
    "tolerances": lambda t: (t.ones(2), t.zeros(2), {"rtol": 0, "atol": 0.5}),
    "a dict": lambda t: ({"a": t.ones(2)}, {"a": t.zeros(2)}, {}),
    "another kind": lambda t: (t.ones(2), [1, 1], {}),
    "message": lambda t: (t.ones(2), t.zeros(2), {"msg": lambda m: f"here: {m}"}),
    "one tolerance": lambda t: (t.ones(2), t.ones(2), {"rtol": 1}),
    "strings": lambda t: ("a", "b", {}),
    "masks": lambda t: (t.tensor([True, False]), t.tensor([True, True]), {}),
    "sparse, elsewhere": lambda t: (t.eye(2)[0].to_sparse(), t.eye(2)[1].to_sparse(), {}),
    "sparse, more": lambda t: (t.ones(2).to_sparse(), t.eye(2)[1].to_sparse(), {}),
    "sparse, values": lambda t: ([t.eye(2)[0].to_sparse()], [(2 * t.eye(2)[0]).to_sparse()], {}),
    "sparse, dimensions": lambda t: (t.eye(2).to_sparse(), t.eye(2).to_sparse(1), {}),
    "rows, values": lambda t: (t.eye(2).to_sparse_csr(), (3 * t.eye(2)).to_sparse_csr(), {}),
    "rows, columns": lambda t: (t.eye(2).to_sparse_csr(), t.eye(2).flip(0).to_sparse_csr(), {}),
    "rows, places": lambda t: (t.eye(2).to_sparse_csr(), t.tensor([[0.0, 0.0], [1.0, 1.0]]).to_sparse_csr(), {}),
    "layout": lambda t: (t.eye(2).to_sparse(), t.eye(2), {}),
    "no layout": lambda t: (t.eye(2).to_sparse(), t.ones(2, 2), {"check_layout": False}),
    "places": lambda t: (t.tensor([[1.0, 2.0]]), t.tensor([[1.0, 2.1]]), {}),
}


def raised(torch: Any, name: str) -> list[str]:
    """Return what assert_close raises for a pair: the kind of error and its message."""
    actual, expected, options = PAIRS[name](torch)
    try:
        torch.testing.assert_close(actual, expected, **options)
    except (AssertionError, TypeError, ValueError) as error:
        return [type(error).__name__, str(error).replace("funcgrad.Tensor", "torch.Tensor")]
    return ["none", ""]
