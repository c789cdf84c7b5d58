"""torch.compiler and torch._dynamo: switches of a compiler that is not needed here, accepted and answered."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

from funcgrad._base.rooms import imported
from funcgrad._base.warning import warn
from funcgrad.compiling import BACKENDS, REGISTERED, OptimizedModule, compile, under_way

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "compile", "config", "cudagraph_mark_step_begin",
    "disable", "disallow_in_graph", "explain", "graph_break", "is_compiling", "is_dynamo_compiling", "is_exporting",
    "is_inductor_supported", "list_backends", "mark_dynamic", "mark_static", "mark_static_address",
    "mark_unbacked", "maybe_mark_dynamic", "optimize", "reset", "set_stance",
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
