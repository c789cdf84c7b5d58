"""A function of single entries can be run for all entries of a batch at once, by the level that vmap uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from funcgrad._tape.levels import BatchLevel, thread
from funcgrad._tensor.tensor import Tensor


def over_entries(function: Callable[..., Tensor], is_batched: Sequence[bool]) -> Callable[..., Tensor]:
    """Return `function` for a batch: of the tensors marked in `is_batched` it sees one entry of the first dimension.

    Shape: result (batch, *result of one entry). The other tensors are seen whole.
    """

    def of_batch(*args: Tensor) -> Tensor:
        level = BatchLevel(next(len(x) for x, batched in zip(args, is_batched, strict=True) if batched), "error")
        entries = [
            Tensor._of(level.lift(x._current())) if batched else x for x, batched in zip(args, is_batched, strict=True)
        ]
        thread.batches.append(level)
        try:
            with level.running():
                result = function(*entries)
        finally:
            thread.batches.pop()
        if level.is_own(result._current()):
            return Tensor._of(level.lower(result._current()))
        return result.expand(level.size, *result.shape)

    return of_batch
