"""torch._C._functorch: what stands for a tensor at a level of a transformation, told apart, made and undone by hand."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from funcgrad._tape.levels import BatchLevel, Level, Lifted, still_lifted, thread
from funcgrad._tape.variable import Variable
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor", "is_gradtrackingtensor", "maybe_get_bdim",
    "maybe_get_level",
]  # fmt: skip


def is_functorch_wrapped_tensor(tensor: Tensor) -> bool:
    """Whether a tensor is at a level of a function that is transformed."""
    return _level_of(tensor) is not None


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether a tensor stands for one entry of a batch, at the innermost of its levels."""
    return isinstance(_level_of(tensor), BatchLevel)


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether a tensor is at a level of grad, vjp or jvp, the innermost of its levels."""
    return is_functorch_wrapped_tensor(tensor) and not is_batchedtensor(tensor)


def maybe_get_level(tensor: Tensor) -> int:
    """Return the number of a tensor's innermost level, the outermost being 1; -1: it is at none; -2: that has ended."""
    level = _level_of(tensor)
    if level is None or level.finished:
        return -1 if level is None else -2
    return thread.running.index(level) + 1 if level in thread.running else 1


def maybe_get_bdim(tensor: Tensor) -> int:
    """Return which dimension of `get_unwrapped` is the batch: always the first; -1 where a tensor is no entry."""
    return 0 if is_batchedtensor(tensor) else -1


def get_unwrapped(tensor: Tensor) -> Tensor:
    """Return what a tensor stands for one level further out. RuntimeError: it is at no level."""
    variable = _current(tensor)
    if type(variable.value) is not Lifted:
        raise RuntimeError("get_unwrapped: expected a tensor of a function that is transformed, got one at no level")
    return Tensor._of(variable.value.below)


def _add_batch_dim(tensor: Tensor, dim: int, level: int) -> Tensor:
    """Return one entry of the batch that is dimension `dim` of a tensor; what is written to it reaches the tensor.

    It may be kept: in a later run at this level, of as many entries, it is an entry of what the tensor is by then.
    """
    entry = enter(batch := level_at(level), tensor, dim)
    whole, _, variable = batch.entered[-1]
    value: Any = variable.value
    value.again = functools.partial(_again, whole, weakref.ref(entry))
    return entry


def _again(whole: Tensor, entry: weakref.ref[Tensor], level: BatchLevel) -> Variable:
    """Return what an entry that was kept stands for at a later level."""
    name = entry()
    if name is not None:
        level.entered.append((whole, name, name._current()))
    return level.lift(whole._current())


def enter(level: BatchLevel, tensor: Tensor, dim: int) -> Tensor:
    """Return one entry of the batch that is dimension `dim` of a tensor, for this run."""
    whole = tensor if dim == 0 else fg.movedim(tensor, dim, 0)
    entry = Tensor._of(level.lift(whole._current()))
    level.entered.append((whole, entry, entry._current()))
    return entry


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """Return all entries, the batch as dimension `out_dim`: alike where nothing of the batch is in them."""
    batch = batch_of(level_at(level), tensor)
    if not -batch.ndim <= out_dim < batch.ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-batch.ndim}, {batch.ndim - 1}], but got {out_dim})"
        )
    return batch if out_dim == 0 else fg.movedim(batch, 0, out_dim)


def batch_of(level: BatchLevel, entry: Tensor) -> Tensor:
    """Return all entries, the batch as the first dimension."""
    variable = still_lifted(entry._current())
    if level.is_own(variable):
        return Tensor._of(level.lower(variable))
    return entry.unsqueeze(0).expand(level.size, *entry.shape)


def level_at(number: int) -> BatchLevel:
    """Return the level of vmap with this number. RuntimeError: no function runs there, or it is not vmap's."""
    level = thread.running[number - 1] if 0 < number <= len(thread.running) else None
    if not isinstance(level, BatchLevel):
        raise RuntimeError(f"Expected the number of a level at which vmap runs a function, got {number}")
    return level


def _level_of(tensor: Tensor) -> Level | None:
    value = _current(tensor).value
    return value.level if type(value) is Lifted else None


def _current(tensor: Tensor) -> Variable:
    """Return what a tensor is now: of what left a function that was mapped still an entry, of no other run's."""
    variable = tensor._current()
    value = variable.value
    while type(value) is Lifted and value.level.finished and type(value.level) is not BatchLevel:
        variable = value.below
        value = variable.value
    return variable
