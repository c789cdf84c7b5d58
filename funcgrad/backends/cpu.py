"""torch.backends.cpu: which instructions are used is XLA's choice."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """Return "DEFAULT"."""
    return "DEFAULT"
