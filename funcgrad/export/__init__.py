"""torch.export: a module, run once, as a graph of aten's functions that holds for tensors of the same shapes.

>>> from funcgrad import nn, ones
>>> program = export(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), (ones(1, 2),))
>>> [node.name for node in program.graph.nodes]
['p_0_weight', 'p_0_bias', 'input', 'linear', 'relu', 'output']
"""

from __future__ import annotations

from typing import Any

from funcgrad._base.rooms import imported
from funcgrad.export.files import load, save
from funcgrad.export.program import ExportedProgram, exported
from funcgrad.export.signature import ExportGraphSignature
from funcgrad.export.sizes import Dim, dims, is_dynamic
from funcgrad.nn.module import Module

__all__ = ["Dim", "ExportGraphSignature", "ExportedProgram", "dims", "export", "load", "save"]


def export(
    mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None,
    strict: bool = False, preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:  # fmt: skip
    """Return the graph of what mod(*args, **kwargs) calls, with its parameters and buffers.

    args, kwargs: examples, in tuples, lists and dicts; numbers and sizes are constants of the graph. strict: accepted.
    ValueError: `mod` is no module. UserError: `args` is no tuple. NotImplementedError: `dynamic_shapes` with sizes that
    differ from call to call. RuntimeError: the module asks for a number of a tensor.
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise imported("funcgrad.standing_in.compiler_errors").UserError(
            f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}\n\n"
            "The error above occurred when calling torch.export.export. If you would like to view some more "
            "information about this error, and get a list of all other errors that may occur in your export call, you "
            "can replace your `export()` call with `draft_export()`."
        )
    if is_dynamic(dynamic_shapes):
        raise NotImplementedError("torch.export: sizes are constants of a graph here; leave dynamic_shapes out")
    return exported(mod, args, dict(kwargs or {}))
