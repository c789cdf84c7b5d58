"""torch.utils.module_tracker: which modules are running, by their names below the outermost, in backward too."""

from __future__ import annotations

from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import RemovableHandle, now
from funcgrad._tensor.module_calls import register_module_forward_hook, register_module_forward_pre_hook

__all__ = ["ModuleTracker"]


class _Call(NamedTuple):
    """A call of a module: the nodes of its forward are numbered between start and end."""

    name: str
    start: int
    end: int


class ModuleTracker:
    """Within it, `parents` holds the names of the modules that run now, and "Global".

    A module is named by the class of the outermost that was called and the attributes below it, "Net.layers.0". In
    backward those modules run in whose forward the node was made that is being passed.
    """

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._named_below: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
        self._running: list[tuple[str, int]] = []
        self._finished: list[_Call] = []
        self._handles: list[RemovableHandle] = []

    @property
    def is_bw(self) -> bool:
        """Whether this thread runs a backward pass now."""
        return thread.running is not None

    @property
    def parents(self) -> set[str]:
        """The names of the modules that run now, and "Global"."""
        names = {"Global", *(name for name, _ in self._running)}
        node = None if thread.running is None else thread.running.node
        if node is not None and hasattr(node, "order"):
            names.update(call.name for call in self._finished if call.start < node.order < call.end)
        return names

    def __enter__(self) -> Self:
        self._running, self._finished = [], []
        self._handles = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
        ]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()

    def _begin(self, module: Any, args: Any) -> None:
        self._running.append((self._name(module), now()))

    def _end(self, module: Any, args: Any, result: Any) -> None:
        name, start = self._running.pop()
        self._finished.append(_Call(name, start, now()))

    def _name(self, module: Any) -> str:
        """Return a module's name, and name what is below it."""
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._named_below:
            self._named_below[module] = True
            for attribute, child in module.named_children():
                self._names[child] = f"{name}.{attribute}"
                self._name(child)
        return name
