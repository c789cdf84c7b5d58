"""Names in traced programs: of results, each its own, and of functions, as torch's texts call them."""

from __future__ import annotations

import builtins
import functools
import keyword
import operator
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from funcgrad import fft, linalg, special
from funcgrad._base import dtypes, layouts
from funcgrad._base.rooms import imported
from funcgrad._tensor import functions as torch
from funcgrad._tensor.packets import Overload
from funcgrad.nn import functional
from funcgrad.nn.kernels import KERNELS, OF_TORCH
from funcgrad.random import functions as random

MODULES: tuple[tuple[str, Any, str | None], ...] = (  # torch's name, the module, the prefix of its rows in the table
    ("torch", torch, ""), ("torch", random, None), ("torch.nn.functional", functional, "nn.functional"),
    ("torch._C._nn", functional, None), ("torch.linalg", linalg, "linalg"), ("torch.fft", fft, "fft"),
    ("torch.special", special, "special"),
)  # fmt: skip
_FORBIDDEN = {*keyword.kwlist, *dir(builtins), "torch", "device", "inf", "nan", "NoneType", "self"}


class Namespace:
    """Gives each result a name of its own: `add`, `add_1`, ..."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def create_name(self, candidate: str) -> str:
        """Return a name that nobody has, made of the candidate."""
        name = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if name[0].isdigit():
            name = f"_{name}"
        counted = re.match(r"(.*)_(\d+)$", name)
        base, number = (counted.group(1), int(counted.group(2))) if counted and name in self.used else (name, 0)
        while name in self.used or name in _FORBIDDEN:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        return name


def name_of_target(target: Any) -> str:
    """Return what a node's name is made of: the function's own name in small letters, or the module's path."""
    if isinstance(target, str):
        return target.replace(".", "_")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", getattr(target, "__name__", type(target).__name__)).lower()


@functools.cache
def _torch_names() -> dict[Any, str]:
    found: dict[Any, str] = {}
    for torchs, module, prefix in MODULES:
        if torchs == "torch._C._nn":  # its own few names are below
            continue
        of_table = torch.names_under(prefix) if prefix is not None else []
        for name in sorted({*of_table, *dir(module)}, key=lambda name: (len(name), name)):
            function = None if name.startswith("__") else getattr(module, name, None)
            if isinstance(function, FunctionType) and (name in of_table or not name.startswith("_")):
                own = f"{torchs}.{name}"
                if function not in found or function.__name__ == name:
                    found[function] = own
    for name in OF_TORCH:
        found[getattr(functional, name)] = f"torch.{name}"
    for name in KERNELS:
        found[getattr(functional, name)] = f"torch._C._nn.{name}"
    return found


def torch_name(function: Any) -> str | None:
    """Return torch's dotted name of a function; None for one of somebody else's."""
    return _torch_names().get(function) if isinstance(function, FunctionType) else None


def qualified_name(function: Callable[..., Any]) -> str:
    """Return the dotted name of a function: `torch.relu`, `operator.add`, `__main__.mine`."""
    if isinstance(function, Overload):
        return f"torch.ops.{function}"
    name = function.__name__
    if getattr(operator, name, None) is function:
        return f"operator.{name}"
    if getattr(builtins, name, None) is function:
        return name
    return torch_name(function) or f"{function.__module__}.{name}"


_DTYPES = {found.name: found for found in vars(dtypes).values() if isinstance(found, dtypes.dtype)}


class _Module:
    """What a generated program calls `torch`: the functions and dtypes by torch's dotted names."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        path = f"{self._name}.{name}"
        if path == "torch.ops":
            return imported("funcgrad.ops")
        if self._name == "torch" and isinstance(found := getattr(layouts, name, None), layouts.layout):
            return found
        for torchs, module, _ in MODULES:
            if torchs == self._name and not name.startswith("__") and hasattr(module, name):
                return getattr(module, name)
        if self._name == "torch" and (found := _DTYPES.get(name)) is not None:
            return found
        if any(torchs == path or torchs.startswith(f"{path}.") for torchs, _, _ in MODULES):
            return _Module(path)
        raise AttributeError(f"module '{self._name}' has no attribute '{name}'")


TORCH = _Module("torch")
