"""torch.utils: `data`, and what else stands around a loop, each loaded when it is first asked for."""

from __future__ import annotations

from types import ModuleType

from funcgrad._base.rooms import imported
from funcgrad._tensor.swapping import swap_tensors
from funcgrad.utils import data

__all__ = ["data", "swap_tensors"]
_ROOMS = (
    "_python_dispatch", "_pytree", "backcompat", "benchmark", "checkpoint", "collect_env", "cpp_extension",
    "deterministic", "dlpack", "flop_counter", "hooks", "module_tracker", "tensorboard", "weak",
)  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS:
        return imported(f"{__name__}.{name}")
    raise AttributeError(f"module 'torch.utils' has no attribute {name!r}")
