"""What optimizers refuse, in torch's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor.sparse.tensor import SparseTensor
from funcgrad._tensor.tensor import Tensor


def require(condition: Any, message: str) -> None:
    """Raise ValueError unless the condition holds."""
    if not condition:
        raise ValueError(message)


def require_lr(lr: Any, words: str = "Invalid learning rate") -> None:
    """Refuse a learning rate below 0, or a tensor that is not one number."""
    require(not isinstance(lr, Tensor) or lr.numel() == 1, "Tensor lr must be 1-element")
    number: Any = lr
    require(0.0 <= number, f"{words}: {lr}")  # noqa: SIM300 - TypeErrors name both types in this order


def require_from_zero(**named: Any) -> None:
    """Refuse what is below 0: `weight_decay=-1` gives "Invalid weight_decay value: -1"."""
    for name, value in named.items():
        require(0.0 <= value, f"Invalid {name} value: {value}")  # noqa: SIM300 - as above


def require_betas(betas: Any) -> None:
    """Refuse a pair that is not within [0, 1)."""
    for i in (0, 1):
        require(0.0 <= betas[i] < 1.0, f"Invalid beta parameter at index {i}: {betas[i]}")


def dense_gradients(params: Sequence[Tensor], refusal: str = "") -> list[Any]:
    """Return the gradients, of dense parameters as dense ones. RuntimeError, where that is refused, for sparse ones."""
    grads: list[Any] = [param.grad for param in params]
    if SparseTensor not in map(type, grads):
        return grads
    is_sparse = [
        isinstance(g, SparseTensor) and not isinstance(p, SparseTensor) for p, g in zip(params, grads, strict=True)
    ]
    if refusal and any(is_sparse):
        raise RuntimeError(refusal)
    return [grad.to_dense() if sparse else grad for grad, sparse in zip(grads, is_sparse, strict=True)]


def require_one_way(foreach: Any, fused: Any, differentiable: Any) -> None:
    """Refuse options of torch's that exclude each other. Else they are accepted: every step is one program."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
