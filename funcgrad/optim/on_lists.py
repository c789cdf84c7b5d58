"""torch.optim._functional: steps of SGD and Adam on lists of the caller's tensors, for optimizers of one's own.

All are written to in place: parameters, running means, the count of steps. `foreach`, `fused`, `capturable` and
`differentiable` choose among torch's kernels; here all that is recorded is one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

__all__ = ["adam", "adamw", "sgd"]


def sgd(
    params: Sequence[Tensor], d_p_list: Sequence[Tensor], momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False, foreach: bool | None = None, fused: bool | None = None, *, weight_decay: float,
    momentum: float, lr: float, dampening: float, nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    """Take a step of SGD. A buffer of momentum that is None is put into its list."""
    for i, param in enumerate(params):
        grad = -d_p_list[i] if maximize else d_p_list[i]
        if weight_decay != 0:
            grad = grad + param * weight_decay
        if momentum != 0:
            buffer = momentum_buffer_list[i]
            if buffer is None:
                buffer = momentum_buffer_list[i] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad * (1 - dampening))
            grad = grad + buffer * momentum if nesterov else buffer
        param.sub_(grad * lr)


def adam(
    params: Sequence[Tensor], grads: Sequence[Tensor], exp_avgs: Sequence[Tensor], exp_avg_sqs: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor], state_steps: Sequence[Tensor], foreach: bool | None = None,
    capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    decoupled_weight_decay: bool = False, *, amsgrad: bool, beta1: float, beta2: float, lr: float, weight_decay: float,
    eps: float, maximize: bool,
) -> None:  # fmt: skip
    """Take a step of Adam. state_steps: the steps before this one, a tensor with one number for each parameter."""
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    for i, step in enumerate(state_steps):
        param, grad, mean, squares = map(_parts, (params[i], grads[i], exp_avgs[i], exp_avg_sqs[i]))
        grad = -grad if maximize else grad
        if weight_decay != 0 and decoupled_weight_decay:
            param.mul_(1 - lr * weight_decay)
        elif weight_decay != 0:
            grad = grad + param * weight_decay
        mean.lerp_(grad, 1 - beta1)
        squares.mul_(beta2).add_(grad * grad * (1 - beta2))
        if amsgrad:
            largest = _parts(max_exp_avg_sqs[i])
            squares = largest.copy_(fg.maximum(largest, squares))
        count = step.add_(1).double()  # in single precision 1 - 0.999 has four digits
        root = squares.sqrt() / (1 - beta2**count).sqrt() + eps
        param.sub_(mean / root * (lr / (1 - beta1**count)))


def _parts(x: Tensor) -> Tensor:
    """Return a view of the real and imaginary parts, which are averaged each by itself."""
    return fg.view_as_real(x) if x.is_complex() else x


def adamw(*args: Any, **options: Any) -> None:
    """Take a step of `adam` whose weight decay shrinks the parameters."""
    adam(*args, decoupled_weight_decay=True, **options)
