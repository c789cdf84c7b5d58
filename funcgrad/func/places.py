"""Where a step keeps its state: the modules, optimizers, schedulers and tensors that its names lead to, with paths."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module
from funcgrad.optim.lr_scheduler.scheduler import LRScheduler
from funcgrad.optim.optimizer import Optimizer

_DEPTH = 6


class Places:
    """What a step can reach by name: by path, every object once, under the first name that leads to it."""

    def __init__(self, step: Callable[..., Any]) -> None:
        self.modules: dict[str, Module] = {}
        self.optimizers: dict[str, Optimizer] = {}
        self.schedulers: dict[str, Any] = {}
        self.tensors: dict[str, Tensor] = {}
        self._seen: set[int] = set()
        self._owners: list[tuple[str, Any]] = []
        for name, found in _names_of(step):
            self._enter(name, found, 0)
        self.paths = self._tensor_paths()

    def _enter(self, name: str, found: Any, depth: int) -> None:
        if id(found) in self._seen or depth > _DEPTH:
            return
        kind = next((rooms for base, rooms in self._kinds() if isinstance(found, base)), None)
        if kind is not None:
            self._seen.add(id(found))
            kind[name] = found
            if isinstance(found, (Module, Tensor, Optimizer)):
                return
        if isinstance(found, (types.FunctionType, types.MethodType, functools.partial)):
            self._seen.add(id(found))
            inner = _names_of(found)
        elif isinstance(found, dict):
            inner = iter([(f"{name}/{key}", value) for key, value in found.items()])
        elif isinstance(found, (list, tuple)):
            inner = iter([(f"{name}/{i}", value) for i, value in enumerate(found)])
        elif _is_the_users(found):
            self._seen.add(id(found))
            inner = iter([(f"{name}/{key}", value) for key, value in vars(found).items()])
        else:
            return
        for path, value in inner:
            self._enter(path, value, depth + 1)

    def _kinds(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        yield Module, self.modules
        yield Optimizer, self.optimizers
        yield LRScheduler, self.schedulers
        yield Tensor, self.tensors

    def _tensor_paths(self) -> dict[str, Tensor]:
        """Return all parameters, buffers and tensors by path, each once."""
        paths: dict[str, Tensor] = {}
        known: set[int] = set()
        for name, module in self.modules.items():
            for inner, tensor in (*module.named_parameters(), *module.named_buffers()):
                if id(tensor) not in known:
                    known.add(id(tensor))
                    paths[f"{name}/{inner.replace('.', '/')}"] = tensor
        for name, tensor in self.tensors.items():
            if id(tensor) not in known:
                known.add(id(tensor))
                paths[name] = tensor
        for name, optimizer in self.optimizers.items():
            for i, parameter in enumerate(p for group in optimizer.param_groups for p in group["params"]):
                if id(parameter) not in known:
                    known.add(id(parameter))
                    paths[f"{name}/params/{i}"] = parameter
        return paths

    def short_names(self) -> dict[int, str]:
        """Return, by id, what a parameter is called inside an optimizer's state: without the only module's name."""
        only = f"{next(iter(self.modules))}/" if len(self.modules) == 1 else ""
        return {id(tensor): path.removeprefix(only) for path, tensor in self.paths.items()}


def _names_of(step: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a function's free names, globals, defaults and bound object stand for."""
    if isinstance(step, functools.partial):
        yield from _names_of(step.func)
        yield from ((f"args/{i}", value) for i, value in enumerate(step.args))
        yield from step.keywords.items()
        return
    if isinstance(step, types.MethodType):
        yield from vars(step.__self__).items() if hasattr(step.__self__, "__dict__") else ()
        yield from _names_of(step.__func__)
        return
    if not isinstance(step, types.FunctionType):
        yield from vars(step).items() if hasattr(step, "__dict__") else ()
        yield from _names_of(type(step).__call__) if isinstance(type(step).__call__, types.FunctionType) else ()
        return
    if (step.__module__ or "").partition(".")[0] in ("funcgrad", "jax", "numpy"):
        return
    for name, cell in zip(step.__code__.co_freevars, step.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue  # a name that is not bound yet
    for code in _codes(step.__code__):
        for name in code.co_names:
            if name in step.__globals__ and not isinstance(step.__globals__[name], (types.ModuleType, type)):
                yield name, step.__globals__[name]
    defaults = (*(step.__defaults__ or ()), *(step.__kwdefaults__ or {}).values())
    yield from ((f"default/{i}", value) for i, value in enumerate(defaults))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _is_the_users(found: Any) -> bool:
    """Tell whether to look inside an object: one of a class that a script wrote, or that gathers modules."""
    module = type(found).__module__
    if not hasattr(found, "__dict__") or isinstance(found, (type, types.ModuleType)):
        return False
    return module.startswith("funcgrad.amp") or module.partition(".")[0] not in _FOREIGN


_FOREIGN = ("builtins", "numpy", "jax", "jaxlib", "funcgrad", "collections", "functools", "types", "random", "os")
