"""Runs a script or module as `__main__` as Python itself does, so that it sees no difference but in what torch is."""

from __future__ import annotations

import builtins
import importlib.util
import io
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from funcgrad.standing_in import install
from funcgrad.standing_in.finder import Ready

_PACKAGES = [*Path(__file__).resolve().parents[1:2], *(Path(p) for p in sys.modules["jax"].__path__)]
_HIDDEN = (*(str(folder) + os.sep for folder in _PACKAGES), "<funcgrad row ")
_KEPT: list[ModuleType] = []


class Arguments(list[str]):
    """The script's sys.argv. Python sends it to each child process, where it brings funcgrad into torch's place."""

    def __reduce__(self) -> tuple[Any, ...]:
        return arguments_of_child, (list(self),)


def arguments_of_child(arguments: list[str]) -> list[str]:
    """Let torch mean funcgrad in a child process, before it imports the script; return the arguments."""
    install()
    return Arguments(arguments)


def run_script(path: str, arguments: Sequence[str]) -> int:
    """Run a file as `python path *arguments` does; return the exit status of an uncaught exception, else 0."""
    sys.argv = Arguments([path, *arguments])
    full = os.path.abspath(path)
    if os.path.isdir(full):
        full = os.path.join(full, "__main__.py")
    _put_first(os.path.dirname(full))
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {full!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        return 2
    return _run(lambda: compile(source, full, "exec", dont_inherit=True), {"__file__": full, "__spec__": None})


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module or package as `python -m name *arguments` does; return the exit status."""
    sys.argv = Arguments(["-m", *arguments])
    _put_first(os.getcwd())
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is not None and isinstance(spec.loader, Ready):  # a room that answers to torch's name: what its file holds
        spec = spec.loader.spec
    loader: Any = spec.loader if spec is not None else None
    if spec is None or not hasattr(loader, "get_code"):
        print(f"{sys.executable}: No module named {name}", file=sys.stderr)
        return 1
    sys.argv[0] = spec.origin or name
    names = {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent, "__loader__": loader}
    return _run(lambda: loader.get_code(spec.name), names)


def _put_first(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[:1] = [folder]


def _run(code: Any, names: dict[str, Any]) -> int:
    """Execute code as a fresh `__main__`, whose names live as long as the process.

    JAX's news, such as which accelerators it did not find, stays out of the log that the script sets up for itself.
    """
    logging.getLogger("jax").setLevel(logging.WARNING)
    main = ModuleType("__main__")
    vars(main).update(names, __builtins__=builtins)
    _KEPT.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    try:
        compiled: CodeType = code()
        exec(compiled, vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        sys.excepthook(type(error), error, visible(error))
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def visible(error: BaseException) -> TracebackType | None:
    """Return the traceback as the script's reader knows it: without the frames of funcgrad and JAX.

    The exceptions that led to it are treated alike. All frames stay with FUNCGRAD_TRACEBACK=full.
    """
    if os.environ.get("FUNCGRAD_TRACEBACK") == "full":
        return error.__traceback__
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        before.__traceback__ = visible(before)
    error.__traceback__ = _without_hidden(error.__traceback__)
    return error.__traceback__


def _without_hidden(trace: TracebackType | None) -> TracebackType | None:
    shown = [
        (frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
        for frame in _links(trace)
        if not frame.tb_frame.f_code.co_filename.startswith(_HIDDEN)
    ]
    kept: TracebackType | None = None
    for frame, instruction, line in reversed(shown):
        kept = TracebackType(kept, frame, instruction, line)
    return kept


def _links(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found
