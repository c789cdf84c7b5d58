"""torch.distributed.algorithms: joining, hooks that communicate gradients, means of models."""

from __future__ import annotations

from funcgrad.distributed.algorithms import ddp_comm_hooks, join, model_averaging
from funcgrad.distributed.algorithms.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable", "ddp_comm_hooks", "join", "model_averaging"]
