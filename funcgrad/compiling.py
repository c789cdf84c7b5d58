"""torch.compile for scripts that call it: every loop is compiled already, so what is given is called as it is."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from funcgrad._base.rooms import imported
from funcgrad.nn.module import Module

BACKENDS = {  # torch's own by name: all are taken, and none has anything to do
    *("aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts", "cudagraphs", "eager"),
    *("eager_debug", "eager_noexcept", "inductor", "openxla", "openxla_eval", "pre_dispatch_eager", "ts", "tvm", "xla"),
}
REGISTERED: dict[str, Callable[..., Any]] = {}  # backends of scripts by the names that they gave them
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_OWN = frozenset(("_orig_mod", "dynamo_ctx", "_modules", "_parameters", "_buffers"))


class Default:
    """What compiles where nothing is named: `torch.compiler.set_default_backend` sets it."""

    backend: Any = "inductor"


class UnderWay(threading.local):
    """The captures that are under way in this thread."""

    def __init__(self) -> None:
        self.modes: list[Any] = []


under_way = UnderWay()


def compile(model: Any = None, *, mode: str | None = None, options: Any = None, **switches: Any) -> Any:
    """Return a function itself, a module in an `OptimizedModule`; as a decorator with options too.

    A backend that is a function, or a registered one, is given the graph of what is called, as a GraphModule, and the
    tensors that it is called with; what it returns is called in its place (`funcgrad.capturing` says how).

    Raises RuntimeError for a mode that torch does not know, or for one beside options, and InvalidBackend for a backend
    that it does not know, as torch does.
    """
    if model is None:
        return functools.partial(compile, mode=mode, options=options, **switches)
    backend = switches.get("backend")
    backend = Default.backend if backend is None else backend
    backend = REGISTERED.get(backend, backend) if isinstance(backend, str) else backend
    if isinstance(backend, str) and backend not in BACKENDS:
        raise imported("funcgrad.standing_in.compiler_errors").InvalidBackend(backend)
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode not in (None, *_MODES) and backend in (None, "inductor"):
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if callable(backend) and not switches.get("disable"):
        capturing, fullgraph = imported("funcgrad.capturing"), bool(switches.get("fullgraph"))
        if isinstance(model, Module):
            return capturing.CapturedModule(model, backend, fullgraph)
        return capturing.captured(model, backend, fullgraph)
    return OptimizedModule(model) if isinstance(model, Module) else model


class OptimizeContext:
    """What torch would compile a function with: it is returned as it is."""

    def __call__(self, fn: Any) -> Any:
        return fn


class OptimizedModule(Module):
    """What torch.compile makes of a module: calls it, shares its parameters, prefixes its state with "_orig_mod.".

    What else is asked of it, set or deleted is asked of the module.
    """

    _orig_mod: Module

    def __init__(self, module: Module) -> None:
        super().__init__()
        self._orig_mod = module
        self.dynamo_ctx = OptimizeContext()

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Call the module."""
        return self._orig_mod(*inputs, **options)

    @property
    def training(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride] - it is the module's
        """Whether the module is in training mode."""
        return self._orig_mod.training

    @training.setter
    def training(self, mode: bool) -> None:  # pyright: ignore[reportIncompatibleVariableOverride] - as above
        self._orig_mod.training = mode

    @property
    def _torchdynamo_orig_callable(self) -> Any:
        return self._orig_mod.__call__

    def __getattr__(self, name: str) -> Any:
        if name in _OWN:
            return super().__getattr__(name)
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or hasattr(type(self), name):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in _OWN or name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
