"""torch.compile for scripts that call it: every loop is compiled already, so what is given is called as it is."""

from __future__ import annotations

from typing import Any

from funcgrad.nn.module import Module

_OWN = frozenset(("_orig_mod", "_modules", "_parameters", "_buffers"))


def compile(model: Any = None, **options: Any) -> Any:
    """Return a function itself, a module in an `OptimizedModule`; as a decorator with options too."""
    if model is None:
        return compile
    return OptimizedModule(model) if isinstance(model, Module) else model


class OptimizedModule(Module):
    """What torch.compile makes of a module: calls it, shares its parameters, prefixes its state with "_orig_mod."."""

    _orig_mod: Module

    def __init__(self, module: Module) -> None:
        super().__init__()
        self._orig_mod = module
        self.training = module.training

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Call the module."""
        return self._orig_mod(*inputs, **options)

    def __getattr__(self, name: str) -> Any:
        if name in _OWN:
            return super().__getattr__(name)
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if "_modules" in self.__dict__ and "_orig_mod" in self._modules and name != "_orig_mod":
            setattr(self._orig_mod, name, value)
