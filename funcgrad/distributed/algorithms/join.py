"""torch.distributed.algorithms.join: training where processes have other numbers of inputs."""

from __future__ import annotations

from funcgrad._base.joining import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
