"""torch.utils.hooks: what registering a hook returns."""

from __future__ import annotations

from funcgrad._tape.nodes import RemovableHandle

__all__ = ["RemovableHandle"]
