"""Runs a script, module or line as `__main__` as Python itself does: no difference is seen but in what torch is."""

from __future__ import annotations

import builtins
import code
import importlib
import importlib.util
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any

from funcgrad._base.tracebacks import shorten, visible
from funcgrad.standing_in import install
from funcgrad.standing_in.finder import Ready

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


def run_code(source: str, arguments: Sequence[str]) -> int:
    """Run a program given as a string, as `python -c source *arguments` does; return the exit status."""
    sys.argv = Arguments(["-c", *arguments])
    _put_first("")
    return _run(lambda: compile(source, "<string>", "exec", dont_inherit=True), {"__spec__": None})


def run_input(arguments: Sequence[str]) -> int:
    """Run what standard input holds, as `python - *arguments` does: a program, or line by line what somebody types."""
    sys.argv = Arguments(arguments or [""])
    _put_first("")
    if sys.stdin.isatty():
        if importlib.util.find_spec("readline"):  # `input` uses it once it is there
            importlib.import_module("readline")
        _Prompt(vars(_fresh_main({"__spec__": None}))).interact(f"Python {sys.version}\ntorch is funcgrad", exitmsg="")
        return 0
    source = sys.stdin.read()
    return _run(lambda: compile(source, "<stdin>", "exec", dont_inherit=True), {"__spec__": None})


def _put_first(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[:1] = [folder]


class _Prompt(code.InteractiveConsole):
    """Python's prompt. What goes wrong is shown without the frames of funcgrad and JAX."""

    def showtraceback(self) -> None:
        """Show the exception that was raised last."""
        shorten(sys.exc_info()[1])
        super().showtraceback()


def _fresh_main(names: dict[str, Any]) -> ModuleType:
    """Return a fresh `__main__`, whose names live as long as the process.

    JAX's news, such as which accelerators it did not find, stays out of the log that the script sets up for itself.
    """
    logging.getLogger("jax").setLevel(logging.WARNING)
    main = ModuleType("__main__")
    vars(main).update(names, __builtins__=builtins)
    _KEPT.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    return main


def _run(made: Callable[[], Any], names: dict[str, Any]) -> int:
    """Execute code as a fresh `__main__`; return the exit status of an uncaught exception, else 0."""
    main = _fresh_main(names)
    try:
        compiled: CodeType = made()
        exec(compiled, vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        sys.excepthook(type(error), error, visible(error))
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
