"""The reference: a page for each public module, generated from the table of ops and from docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any

from funcgrad._tensor import functions, methods
from funcgrad._tensor.tensor import Tensor

# Modules whose functions are rows of the table, and modules that list their own names
OF_TABLE = ("linalg", "fft", "special", "masked", "signal", "nn.functional")
OF_ROOMS = (
    "nn", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "optim.swa_utils", "autograd", "utils.data",
    "distributions", "distributions.constraints", "distributions.transforms", "func", "amp", "random",
    "serialization", "accelerator", "cuda", "jit", "profiler", "explain",
)  # fmt: skip
_PACKAGE = functions.__name__.split(".")[0]


def pages() -> dict[str, str]:
    """Return the text of each page, in Markdown, under its path."""
    written = {
        "torch": page("torch", {**functions.public(""), **_listed(_PACKAGE)}),
        "Tensor": page("Tensor", _methods()),
    }
    for name in OF_TABLE:
        written[name] = page(f"torch.{name}", {**functions.public(name), **_listed(f"{_PACKAGE}.{name}")})
    for name in OF_ROOMS:
        written[name] = page(f"torch.{name}", _listed(f"{_PACKAGE}.{name}"))
    index = "".join(f"- [{text.partition(chr(10))[0][2:]}]({name}.md)\n" for name, text in written.items())
    written["index"] = f"# Reference\n\nGenerated from the table of ops and from docstrings.\n\n{index}"
    return {f"reference/{name}.md": text for name, text in written.items()}


def page(title: str, things: Mapping[str, Any]) -> str:
    """Return the page of a module: its classes, then its functions, by name."""
    classes = {name: thing for name, thing in things.items() if isinstance(thing, type)}
    read = {name: thing for name, thing in things.items() if isinstance(thing, property)}
    called = {name: thing for name, thing in things.items() if callable(thing) and name not in classes}
    parts = [f"# {title}\n"]
    for heading, group in (("Classes", classes), ("Properties", read), ("Functions", called)):
        if group:
            parts.append(f"## {heading}\n")
            parts += [entry(name, group[name]) for name in sorted(group, key=str.lower)]
    return "\n".join(parts)


def entry(name: str, thing: Any) -> str:
    """Return what is said of one class or function: its signature, and its docstring."""
    text = f"### {name}\n\n```python\n{name}{_signature(thing)}\n```\n\n{as_markdown(inspect.getdoc(thing) or '')}\n"
    if isinstance(thing, type):
        own = [f"- `{n}{_signature(m, is_method=True)}`: {_first_line(m)}\n" for n, m in _own_methods(thing)]
        text += "\n" + "".join(own) if own else ""
    return text


def as_markdown(docstring: str) -> str:
    """Return a docstring as Markdown: examples and indented formulas in fences, stars and angles as they are."""
    blocks = []
    for block in docstring.split("\n\n"):
        if block.startswith(">>>"):
            blocks.append(f"```python\n{block}\n```")
        elif block.startswith("    "):
            blocks.append(f"```text\n{inspect.cleandoc(block)}\n```")
        else:
            blocks.append(_escaped(block))
    return "\n\n".join(blocks) + "\n"


def _escaped(text: str) -> str:
    """Escape what Markdown would take for emphasis or HTML, outside of code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*<\[\]])", r"\\\1", p) for p in pieces)


def _first_line(thing: Any) -> str:
    return _escaped((inspect.getdoc(thing) or "").partition("\n")[0])


def _signature(thing: Any, is_method: bool = False) -> str:
    """Return a signature without types: those are in the stubs."""
    if isinstance(thing, property):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):  # a class that Python itself makes has none
        return "(...)"
    bare = [p.replace(annotation=Parameter.empty) for p in found.parameters.values()][1 if is_method else 0 :]
    return str(Signature([p.replace(default=_Default(p.default)) if p.default is not p.empty else p for p in bare]))


class _Default:
    """A default value that shows without an address."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return self.value.__name__ if isinstance(self.value, (type, Callable)) else repr(self.value)


def _own_methods(kind: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(kind).items():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
            yield name, member


def _methods() -> dict[str, Any]:
    names = {*methods.method_names(), *vars(Tensor)}
    return {name: getattr(Tensor, name) for name in names if not name.startswith("_")}


def _listed(module: str) -> dict[str, Any]:
    """Return the classes and functions that a module lists in __all__; without that, those that it defines."""
    room = importlib.import_module(module)
    own = [name for name, thing in vars(room).items() if getattr(thing, "__module__", None) == module]
    names = getattr(room, "__all__", [name for name in own if not name.startswith("_")])
    named = {name: getattr(room, name) for name in names if hasattr(room, name)}
    return {name: thing for name, thing in named.items() if isinstance(thing, type) or inspect.isfunction(thing)}
