"""Whose XLA client it is: it is set up once in a process, and is of no use in those that are forked from it."""

from __future__ import annotations

import os

import jax

from funcgrad._base.errors import ForkedProcessError
from funcgrad._program import cache
from funcgrad._program.heap import keep_freed_memory


class _Process:
    """Whether XLA's client is this process's own; and whether it is the parent's, whose threads stay there."""

    is_set_up = False
    is_forked = False

    @classmethod
    def note_fork(cls) -> None:
        """In a forked child: take note of whose client it is."""
        cls.is_set_up, cls.is_forked = False, True


def check_process() -> None:
    """Refuse to touch XLA in a forked child: its threads did not come along, and the call would hang."""
    if _Process.is_set_up:  # asking for the process's number takes longer than recording an instruction
        return
    if _Process.is_forked:
        raise ForkedProcessError(
            "a forked child process cannot use tensors: XLA's threads stay in the parent. Start workers as threads "
            "(DataLoader's default) or with the 'spawn' method: multiprocessing.set_start_method('spawn')."
        )
    computes_on_cpu()


def computes_on_cpu() -> bool:
    """Tell whether programs run on a CPU. To ask sets XLA's client up, which is the parent's in a forked child."""
    is_on_cpu = jax.default_backend() == "cpu"
    if not (_Process.is_set_up or _Process.is_forked):
        _Process.is_set_up = True
        os.register_at_fork(after_in_child=_Process.note_fork)
        cache.set_up()
        if is_on_cpu:
            keep_freed_memory()
        elif jax.config.values["jax_default_matmul_precision"] is None:
            # JAX's own default rounds what is multiplied: to TF32 on a GPU, which is off by 3e-4 and not by 3e-7
            jax.config.update("jax_default_matmul_precision", "highest")
    return is_on_cpu


def has_own_cpu() -> bool:
    """Tell whether programs run on a CPU, and in this process: not in one that was forked from XLA's."""
    return not _Process.is_forked and computes_on_cpu()
