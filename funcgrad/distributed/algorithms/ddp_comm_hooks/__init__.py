"""Hooks that communicate gradients in the place of DistributedDataParallel's mean: plain, compressed, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, member
from functools import partial
from typing import Any

from funcgrad.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks,
    default_hooks,
    local_sgd,
    power_sgd,
)

post_localSGD_hook, powerSGD_hook = local_sgd, power_sgd  # noqa: N816 - torch's own names of the files


def _register(comm_hook: Callable[..., Any], model: Any, state: Any) -> None:
    model.register_comm_hook(state, comm_hook)


def _register_low_rank(model: Any, state: Any, matrix_approximation_rank: int, start_powerSGD_iter: int = 1000) -> None:  # noqa: N803 - torch's own name
    made = power_sgd.PowerSGDState(state, matrix_approximation_rank, start_powerSGD_iter)
    model.register_comm_hook(made, power_sgd.powerSGD_hook)


class DDPCommHookType(Enum):
    """The hooks by their names; the value is a function of the model and of the hook's state that registers it."""

    ALLREDUCE = member(partial(_register, comm_hook=default_hooks.allreduce_hook))
    FP16_COMPRESS = member(partial(_register, comm_hook=default_hooks.fp16_compress_hook))
    BF16_COMPRESS = member(partial(_register, comm_hook=default_hooks.bf16_compress_hook))
    POWER_SGD = member(partial(_register_low_rank, matrix_approximation_rank=1))
    POWER_SGD_RANK2 = member(partial(_register_low_rank, matrix_approximation_rank=2))
    NOOP = member(partial(_register, comm_hook=debugging_hooks.noop_hook))


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Let a model communicate its gradients by a hook; state: the process group, None for all processes."""
    comm_hook_type.value(model=model, state=state)


__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]
