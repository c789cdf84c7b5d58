"""Batch normalization by the mean and variance of what several processes have, as if it were one batch."""

from __future__ import annotations

from typing import Any

from funcgrad._base import dtypes
from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd import Function


def synchronized_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, eps: float, momentum: Any, group: Any,
) -> Tensor:  # fmt: skip
    """Normalize each channel by its mean and variance over the inputs of all processes of a group.

    Shape: input (N, C, *), of any N in each process, 0 too; result the same. Gradients are those of one batch; those of
    weight and bias are the share of this process. The running statistics move by `momentum`.
    """
    return _SynchronizedBatchNorm.apply(input, weight, bias, running_mean, running_var, eps, momentum, group)


class _SynchronizedBatchNorm(Function):
    @staticmethod
    def forward(
        ctx: Any, input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float,
        momentum: Any, group: Any,
    ) -> Tensor:  # fmt: skip
        """Return the normalized input."""
        exact = _exact(input)
        mean, var, count = _of_all(exact, group)
        invstd = (var + eps).rsqrt()
        if running_mean is not None:
            with no_grad():
                for running, found in ((running_mean, mean), (running_var, var * (count / (count - 1)))):
                    running.copy_((1 - momentum) * running + momentum * found)
        ctx.save_for_backward(input, weight, mean, invstd)
        ctx.count, ctx.group = count, group
        found = (exact - _over(mean, exact)) * _over(invstd, exact)
        found = found if weight is None else found * _over(weight, exact)
        return (found if bias is None else found + _over(bias, exact)).to(input.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Return the gradients; the sums that the input's need are those of all processes."""
        input, weight, mean, invstd = ctx.saved_tensors
        gradient, centred = _exact(gradient), _exact(input) - _over(mean, input)
        sums = fg.stack([_by_channel(gradient, fg.sum), _by_channel(gradient * centred, fg.sum)])
        of_input = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            total, along = ctx.group.stacked(sums).sum(0) / ctx.count
            of_input = gradient - _over(total, input) - centred * _over(along * invstd * invstd, input)
            scale = invstd if weight is None else invstd * weight
            of_input = (of_input * _over(scale, input)).to(input.dtype)
        if weight is not None and ctx.needs_input_grad[1]:
            of_weight = (sums[1] * invstd).to(weight.dtype)
        if ctx.needs_input_grad[2]:
            of_bias = sums[0].to(weight.dtype if weight is not None else input.dtype)
        return of_input, of_weight, of_bias, None, None, None, None, None


def _exact(input: Tensor) -> Tensor:
    """Return a tensor in at least single precision."""
    return input.to(dtypes.float32) if input.dtype in (dtypes.float16, dtypes.bfloat16) else input


def _of_all(input: Tensor, group: Any) -> tuple[Tensor, Tensor, float]:
    """Return the mean and variance of each channel over all processes, and how many numbers a channel has."""
    count = input.numel() // input.shape[1]
    mean = _by_channel(input, fg.sum) / max(count, 1)
    spread = _by_channel((input - _over(mean, input)) ** 2, fg.sum)
    numbers = fg.full_like(mean, count)
    means, spreads, counts = group.stacked(fg.stack([mean, spread, numbers])).unbind(1)
    total = counts.sum(0)
    mean = (means * counts).sum(0) / total
    spread = (spreads + counts * (means - mean) ** 2).sum(0)
    return mean, spread / total, float(total[0])


def _by_channel(input: Tensor, reduce: Any) -> Tensor:
    """Reduce all dimensions but that of the channels."""
    return reduce(input, [dim for dim in range(input.dim()) if dim != 1])


def _over(channels: Tensor, input: Tensor) -> Tensor:
    """Return a number for each channel in a shape that goes with the input's."""
    return channels.reshape(1, -1, *[1] * (input.dim() - 2))
