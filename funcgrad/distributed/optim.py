"""torch.distributed.optim: optimizers whose state is spread over processes; over one process, not at all."""

from __future__ import annotations

import functools
from typing import Any, cast

from funcgrad._base.world import need
from funcgrad.distributed.groups import GroupMember
from funcgrad.optim.optimizer import Optimizer, StateDict

_NOT_CONSOLIDATED = (
    "Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to=0)` on all ranks "
    "beforehand if you meant to save the global state."
)


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of `optimizer_class`, all of whose state one process holds. It is of that class too."""

    def __new__(cls, params: Any, optimizer_class: Any, *_: Any, **__: Any) -> Any:
        """Return an object of both classes."""
        return object.__new__(_of_both(cls, optimizer_class))

    def __init__(
        self, params: Any, optimizer_class: Any, process_group: Any = None, parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False, **defaults: Any,
    ) -> None:  # fmt: skip
        need()
        members = list(params)
        if not members:
            raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
        super().__init__(members, **defaults)
        self._is_consolidated = False
        self.join_process_group = GroupMember.WORLD if process_group is None else process_group

    @property
    def optim(self) -> Optimizer:
        """The optimizer of this process's share: itself."""
        return self

    @property
    def join_device(self) -> Any:
        """Where the first parameter is."""
        return self.param_groups[0]["params"][0].device

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Let `state_dict` be asked for: all of the state is here already."""
        self._is_consolidated = True

    def state_dict(self) -> StateDict:
        """Return what the optimizer alone would. RuntimeError before `consolidate_state_dict`."""
        if not self._is_consolidated:
            raise RuntimeError(_NOT_CONSOLIDATED)
        return super().state_dict()


@functools.cache
def _of_both(cls: type, optimizer_class: Any) -> type[Optimizer]:
    own = {"__module__": cls.__module__, "step": optimizer_class.step}
    return cast("type[Optimizer]", type(cls.__name__, (cls, optimizer_class), own))
