"""torch.utils.deterministic: whether `use_deterministic_algorithms` fills empty tensors with what is seen when used."""

from __future__ import annotations

import sys
from types import ModuleType

from funcgrad._tensor import global_settings

__all__ = ["fill_uninitialized_memory"]  # noqa: F822 # pyright: ignore[reportUnsupportedDunderAll]  # a property of the module


class _Settable(ModuleType):
    """This module, whose switch is set by assignment."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether empty tensors are filled while deterministic algorithms are asked for."""
        return global_settings.fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, fills: bool) -> None:
        global_settings.fill_uninitialized_memory(fills)


sys.modules[__name__].__class__ = _Settable
