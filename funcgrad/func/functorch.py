"""functorch, as torch.func was called at first: its transformations, and modules as functions of tuples."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.func.batching import vmap
from funcgrad.func.derivatives import grad, grad_and_value, jvp, vjp
from funcgrad.func.jacobians import hessian, jacfwd, jacrev
from funcgrad.func.modules import (
    functional_call,
    functionalize,
    replace_all_batch_norm_modules_,
    require_alike,
    stack_module_state,
)
from funcgrad.func.rearranging import rearrange
from funcgrad.nn.module import Module

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functional_call", "functionalize",
    "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers",
    "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


class FunctionalModuleWithBuffers(Module):
    """A module without a state of its own: call it with the parameters, the buffers and the module's arguments."""

    def __init__(self, model: Module) -> None:
        super().__init__()
        self.stateless_model = model
        self.param_names = tuple(name for name, _ in model.named_parameters())
        self.buffer_names = tuple(name for name, _ in model.named_buffers())

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with this state."""
        state = dict(zip(self.param_names, params, strict=True)) | dict(zip(self.buffer_names, buffers, strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without a state of its own: call it with the parameters and the module's arguments."""

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with these parameters."""
        return super().forward(params, (), *args, **kwargs)


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """Return (function, parameters): function(parameters, *args) is what a copy of the model computes.

    disable_autograd_tracking: the parameters require no gradients. RuntimeError: the model has buffers.
    """
    if next(model.buffers(), None) is not None:
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    made = FunctionalModule(copy.deepcopy(model))
    return made, _parameters(made, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return (function, parameters, buffers): function(parameters, buffers, *args) is what a copy computes."""
    made = FunctionalModuleWithBuffers(copy.deepcopy(model))
    return made, _parameters(made, disable_autograd_tracking), tuple(made.stateless_model.buffers())


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return (function, parameters, buffers) of models of one class, each tensor stacked, for `vmap` over the models.

    Shape: each (number of models, *shape). RuntimeError: no models, several classes, or some in training mode only.
    """
    require_alike("combine_state_for_ensemble", models)
    functions, *states = zip(*map(make_functional_with_buffers, models), strict=True)
    params, buffers = (tuple(fg.stack(list(each)).detach() for each in zip(*state, strict=True)) for state in states)
    return functions[0], params, buffers


def _parameters(made: FunctionalModuleWithBuffers, without_grad: bool) -> tuple[Tensor, ...]:
    params = tuple(made.stateless_model.parameters())
    for param in params if without_grad else ():
        param.requires_grad_(False)
    return params
