"""torch.jit for scripts that use it: a loop is compiled as it runs, so what is scripted or traced stays as it is."""

from __future__ import annotations

import copy
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, cast

from funcgrad import serialization
from funcgrad.futures import Future
from funcgrad.jit.arguments import typed
from funcgrad.jit.state import _enabled
from funcgrad.jit.tracing import TracerWarning, as_arguments, check_example, run_example
from funcgrad.nn.module import Module, indented
from funcgrad.serialization.loading import extra_files
from funcgrad.serialization.saving import save_with_files

__all__ = [
    "Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate", "export",
    "fork", "freeze", "fuser", "ignore", "interface", "is_scripting", "is_tracing", "isinstance",
    "last_executed_optimized_graph", "load", "optimize_for_inference", "optimized_execution", "save", "script",
    "script_if_tracing", "script_method", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused",
    "wait",
]  # fmt: skip
_isinstance = isinstance


class Error(Exception):
    """An assertion in a scripted module that does not hold, as in torch; nearly all else keeps its exception."""


class ScriptModule(Module):
    """A module that was scripted or traced, or the base of one that is written to be: it can be saved as a whole."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module. `Error`: an assertion that does not hold; RuntimeError: also an index out of range."""
        try:
            return super().__call__(*args, **kwargs)
        except AssertionError as error:
            raise Error(f"AssertionError: {error}") from error
        except IndexError as error:
            raise RuntimeError(f"The following operation failed in the TorchScript interpreter.\n{error}") from error

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Save the module, its class by name: `jit.load` needs the class where it reads the file."""
        save(self, f, _extra_files)

    @property
    def original_name(self) -> str:
        """The name of the class that was scripted."""
        return type(_plain(self)).__name__

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        plain = _plain(self)
        return super().__reduce_ex__(protocol) if plain is self else (_under_class, (plain, type(self).__name__))


RecursiveScriptModule = ScriptModule


class _BroadcastingList:
    """TorchScript's word for a list, for whose elements one number may stand. It only annotates."""

    def __getitem__(self, element: Any) -> None: ...


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = _BroadcastingList()


class _OfScripted(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return inspect.isfunction(instance) and "_is_scripted" in vars(instance)


class ScriptFunction(metaclass=_OfScripted):
    """Named for isinstance: a scripted function stays a plain function here, that knows that it was scripted."""


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """Return a function that casts its arguments to its annotations, and a module as a `ScriptModule` that does.

    The module shares all that it had. A class is returned as it is.
    """
    if not _enabled:
        return obj
    if inspect.isfunction(obj) and "_is_scripted" not in vars(obj) and example_inputs is None:
        obj = typed(obj)
    return _under_class(obj, "RecursiveScriptModule")


def _get_trace_graph(f: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise RuntimeError: what is traced stays as it is, so there is no graph of it in torch's own language."""
    raise RuntimeError(
        "torch.jit._get_trace_graph: funcgrad traces no graph; torch.utils.flop_counter.FlopCounterMode counts what a "
        "model computes, torch.fx.symbolic_trace draws it"
    )


def _under_class(obj: Any, name: str) -> Any:
    """Return a module under a class of this name; a function, marked, and all else as it is."""
    if inspect.isfunction(obj):
        obj.__dict__["_is_scripted"] = True
    if not _isinstance(obj, Module) or _isinstance(obj, ScriptModule):
        return obj
    scripted = object.__new__(_scripted(type(obj), name))
    scripted.__dict__ = obj.__dict__
    return scripted


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *_: Any,
    example_kwarg_inputs: Any = None,
    **__: Any,
) -> Any:
    """Run the example as often as torch does, and return what `script` returns: nothing is frozen to its path.

    check_trace: whether it is run again, on copies, as it is for each of `check_inputs` if they are given.
    RuntimeError for what cannot be called, or gives no tensors.
    """
    if not _enabled:
        return func
    if not callable(func):
        raise RuntimeError(f"torch.jit.trace: expected a function or a module, but got {type(func).__name__}")
    owner = getattr(func, "__self__", None)
    if _isinstance(owner, Module):
        if func.__name__ != "forward":
            raise AttributeError(
                "trace doesn't support compiling individual module's functions.\nPlease use trace_module"
            )
        func = owner
    if example_kwarg_inputs is None and example_inputs is None and _isinstance(func, Module):
        raise RuntimeError("example_kwarg_inputs should be a dict")
    example = example_kwarg_inputs if example_kwarg_inputs is not None else as_arguments(example_inputs)
    run_example(func, example, strict)
    for inputs in (check_inputs or [example]) if check_trace else ():
        check_example(func, inputs if inputs is example else as_arguments(inputs), check_tolerance)
    return _under_class(func, "TopLevelTracedModule")


def trace_module(
    mod: Any,
    inputs: Any,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *_: Any,
    example_inputs_is_kwarg: bool = False,
    **__: Any,
) -> Any:
    """Run an example for each method that is named, and return what `trace` returns."""
    if not _enabled:
        return mod
    if not _isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not _isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    arguments = (lambda example: example) if example_inputs_is_kwarg else as_arguments
    for name in inputs:
        function = mod if name == "forward" else getattr(mod, name)
        run_example(function, arguments(inputs[name]), strict)
        for checked in (check_inputs or [inputs]) if check_trace else ():
            check_example(function, arguments(checked[name]), check_tolerance)
    return _under_class(mod, "TopLevelTracedModule")


@functools.cache
def _scripted(kind: type[Module], name: str) -> type[ScriptModule]:
    bases: tuple[type, ...] = (ScriptModule,) if kind is Module else (kind, ScriptModule)
    made = types.new_class(name, bases)
    made.__module__ = "torch.jit._script" if name == "RecursiveScriptModule" else "torch.jit._trace"
    made.__repr__ = _shown  # type: ignore[method-assign,assignment]  # in the place of the class's own
    if name == "RecursiveScriptModule" and inspect.isfunction(kind.forward):
        made.forward = typed(kind.forward)  # type: ignore[method-assign]  # which casts its arguments
    made._scripted_from = kind  # type: ignore[attr-defined]  # what `_plain` asks of this class alone
    return cast(type[ScriptModule], made)


def _shown(self: ScriptModule) -> str:
    """Write a module as torch does: of what was scripted the names of classes alone; of what was traced under them."""
    return _tree(_plain(self), None if type(self).__name__ == "TopLevelTracedModule" else "RecursiveScriptModule")


def _tree(module: Module, name: str | None) -> str:
    original = type(_plain(module) if _isinstance(module, ScriptModule) else module).__name__
    below = [f"({key}): {indented(_tree(child, name))}" for key, child in module.named_children()]
    extra = f"original_name={original}"
    inside = "\n  ".join(["", extra, *below]) + "\n" if below else extra
    return f"{name or original}({inside})"


def _plain(module: ScriptModule) -> Module:
    """Return the module of the class that was scripted, sharing all that it has; itself, of a class of one's own."""
    kind = vars(type(module)).get("_scripted_from")
    if kind is None:
        return module
    plain = object.__new__(kind)
    plain.__dict__ = module.__dict__
    return plain


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Save a scripted module whole, and beside it the files of `_extra_files`: their content by name."""
    save_with_files(_plain(m) if _isinstance(m, ScriptModule) else m, f, _extra_files or {})


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """Load what `jit.save` wrote: it runs the pickle in the file, so only load files that you trust.

    _extra_files: its names get the content, in bytes, of the files that were saved beside the module; b"" without.
    """
    loaded = script(serialization.load(f, map_location=map_location, weights_only=False))
    if _extra_files:
        _extra_files.update(extra_files(f, _extra_files))
    return loaded


def _decorator(function: Any = None, **_: Any) -> Any:
    """Return the function itself; with options, a decorator that does."""
    return function if callable(function) else _decorator


ignore = unused = export = script_method = interface = script_if_tracing = _decorator
_overload = _overload_method = _copy_to_script_wrapper = _decorator


def is_scripting() -> bool:
    """Tell whether TorchScript compiles this: never."""
    return False


is_tracing = is_scripting


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:  # noqa: N802 - torch's own spelling
    """Return the value."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Tell whether the object is of a type, or of the origin of a generic one."""
    return _isinstance(obj, typing.get_origin(target_type) or target_type)


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """Return a copy whose parameters and buffers are constants: it has none, and what it gives wants no gradient.

    preserved_attrs: names of what stays as it is. RuntimeError for one that is not scripted, or is in training mode.
    """
    if not _isinstance(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your "
            "'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
            "before freezing."
        )
    frozen = copy.deepcopy(mod)
    for prefix, module in frozen.named_modules():
        for held in (module._parameters, module._buffers):
            for name in [name for name in held if f"{prefix}.{name}".lstrip(".") not in (preserved_attrs or ())]:
                tensor = held.pop(name)
                module.__dict__[name] = tensor.detach() if tensor is not None else None
    return frozen


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """Return the module itself."""
    return mod


def fork(func: Callable[..., Any], *inputs: Any, **options: Any) -> Future:
    """Call the function: what it records runs when XLA finds time, in parallel where it can."""
    done = Future()
    done.set_result(func(*inputs, **options))
    return done


def wait(future: Future) -> Any:
    """Return a future's result."""
    return future.wait()


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Accepted."""
    yield


fuser = optimized_execution


@contextmanager
def strict_fusion() -> Iterator[None]:
    """Accepted."""
    yield


def set_fusion_strategy(strategy: Any) -> None:
    """Accepted: XLA fuses."""


def last_executed_optimized_graph() -> str:
    """Return nothing: `funcgrad.explain` shows what ran."""
    return ""
