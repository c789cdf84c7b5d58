"""Classes say torch's names of themselves while funcgrad stands in: <class 'torch.nn.modules.linear.Linear'>."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from funcgrad._base.dtypes import dtype
from funcgrad._tensor.tensor import Tensor
from funcgrad.serialization.names import torch_classes

_ROOMS_NAMED_ALIKE = ("funcgrad.optim", "funcgrad.utils.data", "funcgrad.distributions")
_own_names: dict[Any, str] = {}


def take_torchs_names(module: ModuleType | None = None) -> None:
    """Rename the classes that are known by now: those saved models name, and those of a module that was imported."""
    known = {**torch_classes(), "torch.Tensor": Tensor, "torch.dtype": dtype}
    for name, kind in known.items():
        _rename(kind, name.rpartition(".")[0])
    for kind in list(vars(module).values()) if module is not None else []:
        if isinstance(kind, type) and kind.__module__.startswith(_ROOMS_NAMED_ALIKE):
            _rename(kind, kind.__module__.replace("funcgrad", "torch", 1))


def give_names_back() -> None:
    """Let the classes say their own names again."""
    for kind, name in _own_names.items():
        kind.__module__ = name
    _own_names.clear()


def _rename(kind: Any, module: str) -> None:
    if kind.__module__.startswith("funcgrad"):
        _own_names.setdefault(kind, kind.__module__)
        kind.__module__ = module
