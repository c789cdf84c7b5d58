"""The mean of gradients, in their own precision or in 16 bits. process_group: None for all processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base import dtypes
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.collectives import all_reduce
from funcgrad.distributed.groups import members
from funcgrad.futures import Future
from funcgrad.nn.gradient_buckets import GradBucket

Hook = Callable[[Any, GradBucket], Future]


def mean(process_group: Any, tensor: Tensor) -> Future:
    """Divide a tensor by the number of processes; return the future of the sum over them, written to the tensor."""
    group = members(process_group)
    return future_sum(tensor.div_(group.size()), group)


def future_sum(tensor: Tensor, group: Any) -> Future:
    """Return the future of the sum of all processes' tensors, which is written to the tensor."""
    work = all_reduce(tensor, group=group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda found: found.value()[0])


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """Take the mean of gradients, as without a hook."""
    return mean(process_group, bucket.buffer())


def _compressed(dtype: Any, process_group: Any, bucket: GradBucket) -> Future:
    buffer = bucket.buffer()
    return mean(process_group, buffer.to(dtype)).then(lambda found: buffer.copy_(found.value()))


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """Take the mean of gradients in float16: each is divided by the number of processes, then they are added up."""
    return _compressed(dtypes.float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """Take the mean of gradients in bfloat16; for models on accelerators."""
    return _compressed(dtypes.bfloat16, process_group, bucket)


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook that has another one communicate gradients in float16."""

    def fp16_compress_wrapper_hook(hook_state: Any, bucket: GradBucket) -> Future[Tensor]:
        return _in_half(dtypes.float16, hook, hook_state, bucket)

    return fp16_compress_wrapper_hook


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook that has another one communicate gradients in bfloat16; for models on accelerators."""

    def bf16_compress_wrapper_hook(hook_state: Any, bucket: GradBucket) -> Future[Tensor]:
        return _in_half(dtypes.bfloat16, hook, hook_state, bucket)

    return bf16_compress_wrapper_hook


def _in_half(dtype: Any, hook: Hook, state: Any, bucket: GradBucket) -> Future:
    bucket.set_buffer(bucket.buffer().to(dtype))
    return hook(state, bucket).then(lambda found: bucket.buffer().copy_(found.value()))


__all__ = [
    "allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper",
]  # fmt: skip
