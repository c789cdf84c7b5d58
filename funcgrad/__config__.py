"""torch.__config__: what runs here, for reports of faults."""

from __future__ import annotations

from funcgrad.utils.collect_env import get_pretty_env_info as show

__all__ = ["parallel_info", "show"]


def parallel_info() -> str:
    """Return that threads are XLA's."""
    return "threads: XLA's own\n"
