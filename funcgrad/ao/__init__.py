"""torch.ao: quantisation of models after training, dynamic: weights in 8 bits, inputs rounded as they come."""

from __future__ import annotations

from types import ModuleType

from funcgrad._base.rooms import imported

_ROOMS = ("nn", "quantization")


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS:
        return imported(f"{__name__}.{name}")
    raise AttributeError(f"module 'torch.ao' has no attribute {name!r}")
