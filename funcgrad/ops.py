"""torch.ops: the functions that torch dispatches to, by their own names, torch.ops.aten.add.Tensor(x, y)."""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

from funcgrad import sparse
from funcgrad._tensor import functions
from funcgrad._tensor.functions import Tensor, lookup
from funcgrad._tensor.packets import PACKETS, Packet, packet
from funcgrad.library.operators import OPERATORS
from funcgrad.nn import aten_kernels, functional, plain
from funcgrad.random import functions as random


class _Aten:
    """Finds aten's functions among those under `ops.aten`, the plain ones, nn.functional's and Tensor's methods."""

    def __getattr__(self, name: str) -> Packet:
        for find in _HOMES:
            try:
                function = find(name)
            except AttributeError:
                continue
            found = packet(name)
            found.function = function
            return found
        if name in PACKETS:
            return PACKETS[name]
        raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")


def _public(name: str) -> Any:
    """Find what makes tensors, `zeros` and `randn`, and other functions that are written out."""
    found = getattr(functions if name in functions.__all__ else random, name)
    if name.startswith("_") or not isinstance(found, FunctionType):
        raise AttributeError(name)
    return found


_ROOMS = (plain, functional, Tensor)
_HOMES = (
    partial(getattr, aten_kernels),
    lookup("ops.aten"),
    lookup(""),
    *(partial(getattr, home) for home in _ROOMS),
    _public,
)
packet("_sparse_addmm").function = sparse.addmm
packet("_sparse_mm_reduce_impl")  # by name alone: what it returns beside the product, sparse.mm does not compute
aten = _Aten()
__all__ = ["aten", "load_library"]


class _Namespace:
    """The operators that a script defined under one name (`library`)."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if f"{self._name}::{name}" not in OPERATORS:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return OPERATORS[f"{self._name}::{name}"]


def load_library(path: Any) -> None:
    """Refuse: compiled operators are written against PyTorch's C++. Raises OSError, as for a file that is not there."""
    raise OSError(f"Could not load this library: {path}: funcgrad runs no operators that were compiled for PyTorch")


def __getattr__(name: str) -> _Namespace:
    if name.startswith("_") and not any(known.startswith(f"{name}::") for known in OPERATORS):
        raise AttributeError(f"module 'torch.ops' has no attribute {name!r}")
    return _Namespace(name)
