"""torch.__future__: what converting a module does with its parameters. Here they stay the same objects in any case."""

from __future__ import annotations

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip


class _Switches:
    overwrite = swap = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Accepted: `module.to(...)` binds parameters to other numbers, and they stay the same objects."""
    _Switches.overwrite = bool(value)


def get_overwrite_module_params_on_conversion() -> bool:
    """Return what was asked for."""
    return _Switches.overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Accepted: `module.to(...)` binds parameters to other numbers, and they stay the same objects."""
    _Switches.swap = bool(value)


def get_swap_module_params_on_conversion() -> bool:
    """Return what was asked for."""
    return _Switches.swap
