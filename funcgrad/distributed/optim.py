"""torch.distributed.optim: optimizers whose state is spread over processes; over one process, not at all."""

from __future__ import annotations

from typing import Any


class ZeroRedundancyOptimizer:
    """Return an optimizer of `optimizer_class`: one process holds all of its state."""

    def __new__(cls, params: Any, optimizer_class: Any, *_: Any, **options: Any) -> Any:
        for own in ("process_group", "parameters_as_bucket_view", "overlap_with_ddp"):
            options.pop(own, None)
        return optimizer_class(params, **options)
