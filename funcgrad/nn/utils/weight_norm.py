"""Weight normalization by hook: each call computes `weight` from its length `weight_g` and direction `weight_v`."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from funcgrad._tensor.functions import lookup
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter, is_lazy

M = TypeVar("M", bound=Module)

weight_of = lookup("")("_weight_norm")


def norm_except_dim(v: Tensor, pow: Any = 2, dim: int = 0) -> Tensor:
    """Return the norms over all dimensions but `dim`, which stay with size 1; over all of them for -1."""
    if dim == -1:
        return v.norm(pow)
    return v.norm(pow, [place for place in range(v.dim()) if place != dim % v.dim()], keepdim=True)


class WeightNorm:
    """The hook: it computes the weight before each forward."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """Return the weight for the present length and direction."""
        return weight_of(getattr(module, self.name + "_v").contiguous(), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Put length and direction in the place of the parameter `name`, and the hook on the module."""
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. "
                "Make sure to run the dummy forward before applying weight normalization"
            )
        hook = WeightNorm(name, dim)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight.detach(), 2, hook.dim)))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the weight anew."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Learn length and direction of a weight apart; torch's older spelling of `parametrizations.weight_norm`.

    Source: Salimans and Kingma 2016, https://arxiv.org/abs/1602.07868.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Undo `weight_norm`."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
