"""torch.utils.hooks: what registering a hook returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base.rooms import imported
from funcgrad._base.warning import warn
from funcgrad._tape.nodes import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as a hook that is not saved with its tensor, so that nobody is warned of it; returns it."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]  # functions take any attribute
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook of a tensor that is lost where it is saved: those that are not marked."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning"
            )


def __getattr__(name: str) -> Any:
    """Return `BackwardHook`, which stands with the modules."""
    if name == "BackwardHook":
        return imported("funcgrad.nn.hooks").BackwardHook
    raise AttributeError(f"module 'torch.utils.hooks' has no attribute {name!r}")
