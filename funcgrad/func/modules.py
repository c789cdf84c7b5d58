"""Modules as functions: their parameters and buffers taken out, stacked, and put in again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.batchnorm import _BatchNorm
from funcgrad.nn.module import Module
from funcgrad.nn.utils import stateless


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and the buffers of models of one class, stacked by name, for `vmap` over `functional_call`.

    Shape: each (number of models, *shape). Raises RuntimeError for no models, for models of different classes, or where
    some are in training mode and some are not.
    """
    require_alike("stack_module_state", models)
    return _stacked([dict(m.named_parameters()) for m in models]), _stacked([dict(m.named_buffers()) for m in models])


def require_alike(name: str, models: Sequence[Module]) -> None:
    """Raise RuntimeError, in the name of a function, for models whose states cannot be stacked, or for none."""
    if not models:
        raise RuntimeError(f"{name}: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(f"{name}: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError(f"{name}: Expected all models to be of the same class.")


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return `func`: values never change here, in-place ops bind names anew, so every function is free of mutation."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for remove=. Valid options are: "
            "'mutations' or 'mutations_and_views'."
        )
    return func


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let all batch norms of a module normalize by the batch alone, without running statistics; return the module."""
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: _leaf([state[name] for state in states]) for name in states[0]}


def _leaf(tensors: list[Tensor]) -> Tensor:
    """Return tensors stacked: a leaf where they are leaves."""
    flags = {tensor.requires_grad for tensor in tensors}
    if len(flags) > 1:
        raise RuntimeError(
            "Expected tensors from each model to have the same .requires_grad: freeze a parameter in all models or none"
        )
    stacked = fg.stack(tensors)
    return stacked.detach().requires_grad_(flags.pop()) if all(tensor.is_leaf for tensor in tensors) else stacked


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | tuple[Mapping[str, Tensor], ...],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with these tensors, by dotted name, in the places of its own: `nn.utils.stateless.called_with`."""
    given = parameter_and_buffer_dicts
    return stateless.called_with(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)
