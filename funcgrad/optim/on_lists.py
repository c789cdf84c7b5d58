"""torch.optim._functional: steps of the optimizers on lists of the caller's tensors, for optimizers of one's own.

All are written to in place: parameters, running means, the counts of steps (state_steps: a tensor with one number for
each parameter, the steps before this one). `foreach`, `fused`, `capturable`, `differentiable` and `has_complex` choose
among torch's kernels; here all that is recorded is one program. RuntimeError for counts that are no tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

__all__ = ["adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop", "rprop", "sgd"]


def sgd(
    params: Sequence[Tensor], d_p_list: Sequence[Tensor], momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False, foreach: bool | None = None, fused: bool | None = None,
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None, *, weight_decay: float, momentum: float,
    lr: float, dampening: float, nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    """Take a step of SGD. A buffer of momentum that is None is put into its list."""
    _refuse_scaling(grad_scale, found_inf)
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
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None, has_complex: bool = False,
    decoupled_weight_decay: bool = False, *, amsgrad: bool, beta1: float, beta2: float, lr: float, weight_decay: float,
    eps: float, maximize: bool,
) -> None:  # fmt: skip
    """Take a step of Adam."""
    _refuse_scaling(grad_scale, found_inf)
    for i, (param, grad, count) in enumerate(_counted(params, grads, state_steps, maximize)):
        mean, squares = map(_parts, (exp_avgs[i], exp_avg_sqs[i]))
        grad = _decayed(param, grad, weight_decay, lr if decoupled_weight_decay else None)
        mean.lerp_(grad, 1 - beta1)
        squares.mul_(beta2).add_(grad * grad * (1 - beta2))
        if amsgrad:
            largest = _parts(max_exp_avg_sqs[i])
            squares = largest.copy_(fg.maximum(largest, squares))
        root = squares.sqrt() / (1 - beta2**count).sqrt() + eps
        param.sub_(mean / root * (lr / (1 - beta1**count)))


def adamw(*args: Any, **options: Any) -> None:
    """Take a step of `adam` whose weight decay shrinks the parameters."""
    adam(*args, decoupled_weight_decay=True, **options)


def adadelta(
    params: Sequence[Tensor], grads: Sequence[Tensor], square_avgs: Sequence[Tensor], acc_deltas: Sequence[Tensor],
    state_steps: Sequence[Tensor], capturable: bool = False, foreach: bool | None = None, differentiable: bool = False,
    has_complex: bool = False, *, lr: float, rho: float, eps: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """Take a step of Adadelta."""
    for i, (param, grad, _) in enumerate(_counted(params, grads, state_steps, maximize)):
        squares, deltas = map(_parts, (square_avgs[i], acc_deltas[i]))
        grad = _decayed(param, grad, weight_decay)
        squares.mul_(rho).add_(grad * grad * (1 - rho))
        delta = (deltas + eps).sqrt() / (squares + eps).sqrt() * grad
        deltas.mul_(rho).add_(delta * delta * (1 - rho))
        param.sub_(delta * lr)


def adagrad(
    params: Sequence[Tensor], grads: Sequence[Tensor], state_sums: Sequence[Tensor], state_steps: Sequence[Tensor],
    fused: bool | None = None, grad_scale: Tensor | None = None, found_inf: Tensor | None = None,
    has_sparse_grad: bool = False, foreach: bool | None = None, differentiable: bool = False, has_complex: bool = False,
    *, lr: float, weight_decay: float, lr_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    """Take a step of Adagrad; a sparse gradient moves what it names. RuntimeError where that comes with a decay."""
    _refuse_scaling(grad_scale, found_inf)
    if weight_decay != 0 and any(grad.is_sparse for grad in grads):
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    dense = [grad.to_dense() if grad.is_sparse else grad for grad in grads]
    for i, (param, grad, count) in enumerate(_counted(params, dense, state_steps, maximize)):
        total = _parts(state_sums[i])
        grad = _decayed(param, grad, weight_decay)
        total.add_(grad * grad)
        step = grad / (total.sqrt() + eps) * (lr / (1 + (count - 1) * lr_decay))
        param.sub_(fg.where(grad == 0, 0, step) if grads[i].is_sparse else step)


def adamax(
    params: Sequence[Tensor], grads: Sequence[Tensor], exp_avgs: Sequence[Tensor], exp_infs: Sequence[Tensor],
    state_steps: Sequence[Tensor], foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    capturable: bool = False, has_complex: bool = False, *, eps: float, beta1: float, beta2: float, lr: float,
    weight_decay: float,
) -> None:  # fmt: skip
    """Take a step of Adamax."""
    for i, (param, grad, count) in enumerate(_counted(params, grads, state_steps, maximize)):
        mean, largest = map(_parts, (exp_avgs[i], exp_infs[i]))
        grad = _decayed(param, grad, weight_decay)
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(fg.maximum(largest * beta2, grad.abs() + eps))
        param.sub_(mean / largest * (lr / (1 - beta1**count)))


def asgd(
    params: Sequence[Tensor], grads: Sequence[Tensor], axs: Sequence[Tensor], mus: Sequence[Tensor],
    etas: Sequence[Tensor], state_steps: Sequence[Tensor], foreach: bool | None = None, maximize: bool = False,
    differentiable: bool = False, capturable: bool = False, has_complex: bool = False, *, lambd: float, lr: float,
    t0: float, alpha: float, weight_decay: float,
) -> None:  # fmt: skip
    """Take a step of ASGD."""
    for i, (param, grad, count) in enumerate(_counted(params, grads, state_steps, maximize)):
        average, mu, eta = _parts(axs[i]), mus[i], etas[i]
        grad = _decayed(param, grad, weight_decay)
        param.mul_(1 - eta * lambd).sub_(grad * eta)
        average.add_((param - average) * mu)
        eta.copy_(lr / (1 + lambd * lr * count) ** alpha)
        mu.copy_(1 / (count - t0).clamp(min=1))


def nadam(
    params: Sequence[Tensor], grads: Sequence[Tensor], exp_avgs: Sequence[Tensor], exp_avg_sqs: Sequence[Tensor],
    mu_products: Sequence[Tensor], state_steps: Sequence[Tensor], decoupled_weight_decay: bool = False,
    foreach: bool | None = None, capturable: bool = False, differentiable: bool = False, has_complex: bool = False,
    maximize: bool = False, *, beta1: float, beta2: float, lr: float, weight_decay: float, momentum_decay: float,
    eps: float,
) -> None:  # fmt: skip
    """Take a step of NAdam."""
    for i, (param, grad, count) in enumerate(_counted(params, grads, state_steps, maximize)):
        mean, squares, product = _parts(exp_avgs[i]), _parts(exp_avg_sqs[i]), mu_products[i]
        grad = _decayed(param, grad, weight_decay, lr if decoupled_weight_decay else None)
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (n * momentum_decay)) for n in (count, count + 1))
        product.mul_(mu)
        mean.lerp_(grad, 1 - beta1)
        squares.mul_(beta2).add_(grad * grad * (1 - beta2))
        root = (squares / (1 - beta2**count)).sqrt() + eps
        param.sub_(grad / root * (lr * (1 - mu) / (1 - product)))
        param.sub_(mean / root * (lr * following / (1 - product * following)))


def radam(
    params: Sequence[Tensor], grads: Sequence[Tensor], exp_avgs: Sequence[Tensor], exp_avg_sqs: Sequence[Tensor],
    state_steps: Sequence[Tensor], decoupled_weight_decay: bool = False, foreach: bool | None = None,
    differentiable: bool = False, capturable: bool = False, has_complex: bool = False, maximize: bool = False, *,
    beta1: float, beta2: float, lr: float, weight_decay: float, eps: float,
) -> None:  # fmt: skip
    """Take a step of RAdam, which scales it by the mean of squares once that is known well enough."""
    longest = 2 / (1 - beta2) - 1
    for i, (param, grad, count) in enumerate(_counted(params, grads, state_steps, maximize)):
        mean, squares = map(_parts, (exp_avgs[i], exp_avg_sqs[i]))
        grad = _decayed(param, grad, weight_decay, lr if decoupled_weight_decay else None)
        mean.lerp_(grad, 1 - beta1)
        squares.mul_(beta2).add_(grad * grad * (1 - beta2))
        without_bias = 1 - beta2**count
        length = longest - 2 * count * beta2**count / without_bias
        share = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        scale = (share * without_bias).clamp(min=0).sqrt() / (squares.sqrt() + eps)
        step = mean * (lr / (1 - beta1**count))
        param.sub_(fg.where(length > 5, step * scale, step))


def rmsprop(
    params: Sequence[Tensor], grads: Sequence[Tensor], square_avgs: Sequence[Tensor], grad_avgs: Sequence[Tensor],
    momentum_buffer_list: Sequence[Tensor], state_steps: Sequence[Tensor], foreach: bool | None = None,
    maximize: bool = False, differentiable: bool = False, capturable: bool = False, has_complex: bool = False, *,
    lr: float, alpha: float, eps: float, weight_decay: float, momentum: float, centered: bool,
) -> None:  # fmt: skip
    """Take a step of RMSprop. grad_avgs is read where `centered`, momentum_buffer_list where there is momentum."""
    for i, (param, grad, _) in enumerate(_counted(params, grads, state_steps, maximize)):
        squares = _parts(square_avgs[i])
        grad = _decayed(param, grad, weight_decay)
        squares.mul_(alpha).add_(grad * grad * (1 - alpha))
        spread = squares
        if centered:
            mean = _parts(grad_avgs[i]).lerp_(grad, 1 - alpha)
            spread = squares - mean * mean
        step = grad / (spread.sqrt() + eps)
        if momentum > 0:
            step = _parts(momentum_buffer_list[i]).mul_(momentum).add_(step)
        param.sub_(step * lr)


def rprop(
    params: Sequence[Tensor], grads: Sequence[Tensor], prevs: Sequence[Tensor], step_sizes: Sequence[Tensor],
    state_steps: Sequence[Tensor], foreach: bool | None = None, capturable: bool = False, maximize: bool = False,
    differentiable: bool = False, has_complex: bool = False, *, step_size_min: float, step_size_max: float,
    etaminus: float, etaplus: float,
) -> None:  # fmt: skip
    """Take a step of Rprop. `prevs` gets the gradients, with zeros where their signs have changed."""
    for i, (param, grad, _) in enumerate(_counted(params, grads, state_steps, maximize)):
        before, size = map(_parts, (prevs[i], step_sizes[i]))
        agreement = grad * before
        factor = fg.where(agreement > 0, etaplus, fg.where(agreement < 0, etaminus, agreement.new_ones(())))
        size.copy_((size * factor).clamp(step_size_min, step_size_max))
        grad = fg.where(agreement < 0, 0, grad)
        param.sub_(grad.sign() * size)
        before.copy_(grad)


def _counted(
    params: Sequence[Tensor], grads: Sequence[Tensor], state_steps: Sequence[Tensor], maximize: bool
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield, in real numbers, each parameter, its gradient and the count of its steps, this one counted too."""
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    for param, grad, step in zip(params, grads, state_steps, strict=True):
        turned = _parts(-grad if maximize else grad)
        yield _parts(param), turned, step.add_(1).double()  # in single precision 1 - 0.999 has four digits


def _parts(x: Tensor) -> Tensor:
    """Return a view of the real and imaginary parts, which are averaged each by itself."""
    return fg.view_as_real(x) if x.is_complex() else x


def _decayed(param: Tensor, grad: Tensor, weight_decay: float, lr: float | None = None) -> Tensor:
    """Return the gradient with the weight's decay in it; where there is a rate, shrink the parameter instead."""
    if weight_decay == 0:
        return grad
    if lr is None:
        return grad + param * weight_decay
    param.mul_(1 - lr * weight_decay)
    return grad


def _refuse_scaling(grad_scale: Tensor | None, found_inf: Tensor | None) -> None:
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Expected grad_scale and found_inf to be None")
