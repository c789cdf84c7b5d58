"""Derivatives of functions in every form, for torch and for funcgrad alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "jacobian": lambda t, f, x, y: f.jacobian(_pair, (x, y)),
    "jacobian, vectorized": lambda t, f, x, y: f.jacobian(_pair, (x, y), vectorize=True),
    "jacobian, forward": lambda t, f, x, y: f.jacobian(_pair, (x, y), vectorize=True, strategy="forward-mode"),
    "jacobian of one": lambda t, f, x, y: f.jacobian(lambda a: a.sin(), x),
    "hessian": lambda t, f, x, y: f.hessian(_scalar, (x, y)),
    "hessian, vectorized": lambda t, f, x, y: f.hessian(_scalar, (x, y), vectorize=True),
    "hessian of one": lambda t, f, x, y: f.hessian(lambda a: (a**3).sum(), x),
    "vjp": lambda t, f, x, y: f.vjp(_pair, (x, y), (y + 1, x.sum())),
    "jvp": lambda t, f, x, y: f.jvp(_pair, (x, y), (x, y)),
    "vhp": lambda t, f, x, y: f.vhp(_scalar, (x, y), (x, y)),
    "hvp": lambda t, f, x, y: f.hvp(_scalar, (x, y), (x + 1, y)),
    "independent": lambda t, f, x, y: f.jacobian(lambda a, b: a * 2, (x, y)),
    "through the jacobian": lambda t, f, x, y: _through(t, f, x),
    "dual numbers": lambda t, f, x, y: _dual(t, x),
    "a batch of gradients": lambda t, f, x, y: _batch(t, x),
}
ERRORS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "no gradients": lambda t, f, x, y: f.jacobian(lambda a: t.ones(2), x, strict=True),
    "no vector": lambda t, f, x, y: f.vjp(lambda a: a, x),
    "no scalar": lambda t, f, x, y: f.hessian(lambda a: a, x),
    "no tensor": lambda t, f, x, y: f.vjp(lambda a: 1, x),
    "another shape": lambda t, f, x, y: f.jvp(lambda a: a, x, t.ones(5)),
    "several results": lambda t, f, x, y: f.hvp(lambda a: (a, a), x, x),
    "no level": lambda t, f, x, y: t.autograd.forward_ad.make_dual(x, x),
}


def _pair(a: Any, b: Any) -> Any:
    return a.sin() * b, (a * a).sum()


def _scalar(a: Any, b: Any) -> Any:
    return (a.exp() * b.sin()).sum()


def _through(torch: Any, functional: Any, x: Any) -> Any:
    x = x.clone().requires_grad_()
    functional.jacobian(lambda a: a.sin(), x, create_graph=True).sum().backward()
    return x.grad


def _dual(torch: Any, x: Any) -> Any:
    forward_ad = torch.autograd.forward_ad
    torch.manual_seed(1)
    layer = torch.nn.Linear(3, 2).double()
    with forward_ad.dual_level():
        moving = forward_ad.make_dual(x, x + 1)
        curve = forward_ad.unpack_dual((moving * moving).sin().sum())
        assert forward_ad.unpack_dual(x).tangent is None
        return *curve, forward_ad.unpack_dual(layer(moving)).tangent


def _batch(torch: Any, x: Any) -> Any:
    x = x.clone().requires_grad_()
    batch = torch.eye(3, dtype=torch.float64)
    return torch.autograd.grad(x.sin() * 2, x, batch, is_grads_batched=True)


def found(torch: Any, name: str) -> list[Any]:
    """Return all tensors of a case's result as nested lists of numbers."""
    x = torch.tensor([0.3, -0.5, 1.2], dtype=torch.float64)
    y = torch.tensor([[0.1, 0.7, -1.1], [2.0, 0.4, -0.6]], dtype=torch.float64)
    return _flat(CASES[name](torch, torch.autograd.functional, x, y))


def raised(torch: Any, name: str) -> list[str]:
    """Return the kind of error and the beginning of its message."""
    x = torch.tensor([0.3, -0.5, 1.2], dtype=torch.float64)
    try:
        ERRORS[name](torch, torch.autograd.functional, x, x)
    except (RuntimeError, TypeError, ValueError) as error:
        return [type(error).__name__, str(error)[:60]]
    raise AssertionError(f"{name} raised nothing")


def _flat(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [numbers for part in result for numbers in _flat(part)]
    return [result.detach().tolist()]
