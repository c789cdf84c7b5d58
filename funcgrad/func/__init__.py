"""torch.func: transformations of functions, modules as functions, imperative steps as pure functions."""

from __future__ import annotations

from funcgrad.func.batching import vmap
from funcgrad.func.compare import Comparison, compare
from funcgrad.func.derivatives import grad, grad_and_value, jvp, linearize, vjp
from funcgrad.func.export import Exported, ExportError, export, load_state
from funcgrad.func.jacobians import hessian, jacfwd, jacrev
from funcgrad.func.modules import (
    functional_call,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from funcgrad.func.rearranging import rearrange

__all__ = [
    "Comparison", "ExportError", "Exported", "compare", "export", "functional_call", "functionalize", "grad",
    "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "load_state", "rearrange",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
