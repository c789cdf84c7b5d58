"""torch.compiler and torch._dynamo: switches of a compiler that is not needed here, accepted and answered."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from funcgrad._base.rooms import imported
from funcgrad._base.warning import warn
from funcgrad._tensor.creation import as_tensor
from funcgrad._tensor.tensor import Tensor
from funcgrad.compiler_guards import (
    keep_tensor_guards_unsafe,
    skip_all_guards_unsafe,
    skip_guard_on_all_nn_modules_unsafe,
    skip_guard_on_globals_unsafe,
    skip_guard_on_inbuilt_nn_modules_unsafe,
)
from funcgrad.compiling import BACKENDS, REGISTERED, Default, OptimizedModule, compile, under_way
from funcgrad.utils._pytree import tree_map_only

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "compile", "config", "cudagraph_mark_step_begin",
    "disable", "disallow_in_graph", "explain", "forbid_in_graph", "get_default_backend", "graph_break", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "is_inductor_supported", "keep_tensor_guards_unsafe", "list_backends",
    "mark_dynamic", "mark_static", "mark_static_address", "mark_unbacked", "maybe_mark_dynamic",
    "nested_compile_region", "optimize", "reset", "run", "set_default_backend", "set_stance", "skip_all_guards_unsafe",
    "skip_guard_on_all_nn_modules_unsafe", "skip_guard_on_globals_unsafe", "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph", "wrap_numpy",
]  # fmt: skip


class Config(SimpleNamespace):
    """Switches that scripts set; one that nobody has set yet is None, or a group of switches where torch has one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in _GROUPS:
            return None
        group = vars(self)[name] = Config()
        return group

    @contextmanager
    def patch(self, *changes: Any, **switches: Any) -> Iterator[None]:
        """Set switches in a block; a dict of them, or one name and its value, may come by position."""
        wanted = {**(changes[0] if changes and isinstance(changes[0], dict) else {}), **switches}
        if changes and isinstance(changes[0], str):
            wanted[changes[0]] = changes[1]
        before = dict(vars(self))
        vars(self).update(wanted)
        try:
            yield
        finally:
            vars(self).clear()
            vars(self).update(before)


_OF_DEBUGGING = {
    *("aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts", "eager", "eager_debug"),
    *("eager_noexcept", "openxla_eval", "pre_dispatch_eager", "ts"),
}
_GROUPS = ("aot_inductor", "cpp", "cuda", "rocm", "trace", "triton")
config = Config(suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8)


def _as_given(function: Any = None, *_: Any, **__: Any) -> Any:
    return function if callable(function) else _as_given


disable = _disable_dynamo = allow_in_graph = disallow_in_graph = assume_constant_result = _as_given
nested_compile_region = run = _as_given


def forbid_in_graph(fn: Any) -> Any:
    """Return a function, or a list of functions, as given. AssertionError for what cannot be called."""
    if isinstance(fn, (list, tuple)):
        return [forbid_in_graph(x) for x in fn]
    if not callable(fn):
        raise AssertionError("forbid_in_graph applies only to callables")
    return fn


def substitute_in_graph(original_fn: Any, **_: Any) -> Any:
    """Return a decorator that does nothing: the function itself is called, not what stands for it in a graph."""
    if not callable(original_fn) or isinstance(original_fn, type):
        raise TypeError(f"substitute_in_graph expects a function but got {type(original_fn)!r}")
    return _as_given


def wrap_numpy(f: Any) -> Any:
    """Return a function of tensors that calls one of numpy's arrays, whose results become tensors."""

    @functools.wraps(f)
    def wrap(*args: Any, **kwargs: Any) -> Any:
        given, named = tree_map_only(Tensor, lambda x: x.numpy(), (args, kwargs))
        return tree_map_only(np.ndarray, as_tensor, f(*given, **named))

    return wrap


def get_default_backend() -> Any:
    """Return the backend that `compile` takes where it is given none."""
    return Default.backend


def set_default_backend(backend: Any) -> None:
    """Set the backend that `compile` takes where it is given none: a name or a function; None for torch's own."""
    Default.backend = "inductor" if backend is None else backend


def optimize(*_: Any, **__: Any) -> Any:
    """Return a decorator that is `compile`."""
    return compile


def is_compiling() -> bool:
    """Tell whether a graph is written down for a backend of the script's own; else the loop runs as it is written."""
    return bool(under_way.modes)


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """Tell whether a program is exported: a step that is exported runs as it is written."""
    return False


def graph_break(msg: str = "") -> None:
    """Accepted where a graph may end. Unsupported under `fullgraph=True`, for a backend of the script's own."""
    if under_way.modes:
        under_way.modes[-1].end_graph("Call to `torch._dynamo.graph_break()`")


def is_dynamo_supported() -> bool:
    """Tell that `compile` is there."""
    return True


def is_inductor_supported() -> bool:
    """Tell that torch's inductor is not there: XLA compiles."""
    return False


def reset() -> None:
    """Accepted: what XLA has compiled stays right."""


cudagraph_mark_step_begin = reset


def mark_dynamic(tensor: Any, *dims: Any, **_: Any) -> None:
    """Accepted: which sizes vary is seen while the loop runs."""


mark_static = mark_static_address = mark_unbacked = maybe_mark_dynamic = mark_dynamic


@contextmanager
def set_stance(*_: Any, **__: Any) -> Iterator[None]:
    """Accepted."""
    yield


disable_cache_limit = set_stance


class TransformGetItemToIndex(nullcontext[None]):
    """Within it what is mapped by `vmap` may be indexed by tensors without dimensions; here it always may."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return the backends that torch names: `compile` takes them all, and XLA compiles."""
    hidden = _OF_DEBUGGING if exclude_tags == ("debug", "experimental") else ()
    return sorted({*BACKENDS, *REGISTERED} - {"xla", *hidden})


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Any = ()) -> Any:
    """Enter a function of a script's own under its name, for `compile` to take."""
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    REGISTERED[name or compiler_fn.__name__] = compiler_fn
    return compiler_fn


def explain(f: Any, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """Return a function that calls `f` and returns an `ExplainOutput`: the graphs of the call, and why each ends.

    A graph ends where Python asks for numbers, and at `graph_break`. With arguments, tell of the call with these.
    What is compiled, and why, `funcgrad.explain` says.
    """
    explained = imported("funcgrad.graphs_explained").explained

    def inner(*args: Any, **kwargs: Any) -> Any:
        return explained(f, args, kwargs)

    if not extra_args and not extra_kwargs:
        return inner
    warn(
        "explain(f, *args, **kwargs) is deprecated, use explain(f)(*args, **kwargs) instead.  If you don't migrate, we "
        "may break your explain call in the future if your user defined kwargs conflict with future kwargs added to "
        "explain(f).",
        FutureWarning,
    )
    return inner(*extra_args, **extra_kwargs)


def __getattr__(name: str) -> Any:
    """Return `torch._dynamo.exc`, which nobody needs to import there."""
    if name == "exc":
        return imported("funcgrad.standing_in.compiler_errors")
    raise AttributeError(f"module 'torch.compiler' has no attribute {name!r}")


_dynamo = _inductor = eval_frame = utils = sys.modules[__name__]
