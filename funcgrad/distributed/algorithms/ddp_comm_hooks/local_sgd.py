"""Local SGD: means of gradients over all processes at first, then over small groups, or each its own."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.algorithms.ddp_comm_hooks.default_hooks import mean
from funcgrad.distributed.groups import new_subgroups
from funcgrad.futures import Future
from funcgrad.nn.gradient_buckets import GradBucket


class PostLocalSGDState:
    """When means become local: after `start_localSGD_iter` passes.

    process_group: None for all processes. subgroup: over which means are taken then, None for the processes of this
    machine. post_local_gradient_allreduce: False for no means then.
    """

    __slots__ = ("iter", "post_local_gradient_allreduce", "process_group", "start_localSGD_iter", "subgroup")

    def __init__(
        self, process_group: Any, subgroup: Any, start_localSGD_iter: int,  # noqa: N803 - torch's own name
        post_local_gradient_allreduce: bool = True,
    ) -> None:  # fmt: skip
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter, self.iter = start_localSGD_iter, 0
        self.post_local_gradient_allreduce = post_local_gradient_allreduce

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a pass at its last bucket."""
        self.iter += bucket.is_last()


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Tensor]:  # noqa: N802 - torch's own name
    """Take the mean of gradients over all processes, later over those of the subgroup, or not at all.

    Source: Lin et al. 2020, https://arxiv.org/abs/1808.07217.
    """
    buffer = bucket.buffer()
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(state.process_group, buffer)
    if not state.post_local_gradient_allreduce:
        found = Future()
        found.set_result(buffer)
        return found
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups()
    return mean(state.subgroup, buffer)


__all__ = ["PostLocalSGDState", "post_localSGD_hook"]
