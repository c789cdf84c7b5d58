"""torch.distributed.tensor.parallel: plans for splitting layers over processes. Here each computes all of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any


class ParallelStyle:
    """How a layer is split; its options are kept."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)


class ColwiseParallel(ParallelStyle):
    """A Linear or Embedding split by its columns."""


class RowwiseParallel(ParallelStyle):
    """A Linear or Embedding split by its rows."""


class SequenceParallel(ParallelStyle):
    """A norm or dropout whose input is split along the sequence."""


class PrepareModuleInput(ParallelStyle):
    """Inputs that are placed before a module is called."""


class PrepareModuleOutput(ParallelStyle):
    """Outputs that are placed after a module was called."""


class PrepareModuleInputOutput(ParallelStyle):
    """Both."""


def parallelize_module(
    module: Any, device_mesh: Any = None, parallelize_plan: ParallelStyle | Mapping[str, ParallelStyle] | None = None,
    **_: Any,
) -> Any:  # fmt: skip
    """Return the module itself: each process holds all of it."""
    return module


def loss_parallel() -> AbstractContextManager[None]:
    """Compute a loss of logits that are split by classes: they are whole."""
    return nullcontext()
