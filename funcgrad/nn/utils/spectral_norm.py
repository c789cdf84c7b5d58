"""Spectral normalization by hook: `weight` is `weight_orig` divided by its largest singular value in each call."""

from __future__ import annotations

from typing import Any, TypeVar

from funcgrad._tape.modes import no_grad
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter, is_lazy

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """The hook: it improves the singular vectors by power iteration in training, and computes the weight."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Return the weight with the dimension `dim` as rows and all others as columns."""
        return (
            weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1) if weight.dim() != 2 or self.dim else weight
        )

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """Return the weight divided by u . W v."""
        weight = getattr(module, self.name + "_orig")
        matrix = self.reshape_weight_to_matrix(weight)
        u, v = (getattr(module, self.name + end).detach() for end in ("_u", "_v"))
        if do_power_iteration:
            u, v = self._iterated(matrix.detach(), u, v)
            with no_grad():
                getattr(module, self.name + "_u").copy_(u)
                getattr(module, self.name + "_v").copy_(v)
        return weight / u.dot(matrix.mv(v))

    def _iterated(self, matrix: Tensor, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        for _ in range(self.n_power_iterations):
            v = F.normalize(matrix.t().mv(u), dim=0, eps=self.eps)
            u = F.normalize(matrix.mv(v), dim=0, eps=self.eps)
        return u, v

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Put the original weight and its singular vectors in the place of the parameter `name`, and the hook on it."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. "
                "Make sure to run the dummy forward before applying spectral normalization"
            )
        with no_grad():
            sizes = hook.reshape_weight_to_matrix(weight).shape
            u, v = (F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in sizes)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_VersionMark(hook))
        return hook

    def remove(self, module: Module) -> None:
        """Make the normalized weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        """Compute the weight anew."""
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


class _VersionMark:
    """Writes torch's version mark into the metadata of state dictionaries."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        versions[self.hook.name + ".version"] = self.hook._version


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> M:
    """Divide a weight by its largest singular value. Source: Miyato et al. 2018, https://arxiv.org/abs/1802.05957."""
    SpectralNorm.apply(module, name, n_power_iterations, dim_of_outputs(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Undo `spectral_norm`."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for key, mark in module._state_dict_hooks.items():
        if isinstance(mark, _VersionMark) and mark.hook.name == name:
            del module._state_dict_hooks[key]
            break
    return module


def dim_of_outputs(module: Module) -> int:
    """Return which dimension of a layer's weight counts its outputs."""
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
