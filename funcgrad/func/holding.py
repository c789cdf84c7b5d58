"""A step can be run for its trace only: afterwards every tensor, optimizer and scheduler is what it was before."""

from __future__ import annotations

import copy
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from funcgrad._tensor.aliases import Cell, View
from funcgrad._tensor.names import flush
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.generator import default_generator


class Held:
    """What all tensors stood for when this was made."""

    __slots__ = ("_cells", "_grads", "_variables")

    def __init__(self) -> None:
        found = [x for x in gc.get_objects() if issubclass(type(x), Tensor)]
        self._variables = [(t, t._variable, t._alias) for t in found if hasattr(t, "_variable")]
        slots = {id(t._slot): t._slot for t, _, _ in self._variables if t._slot is not None}
        self._grads = [(slot, slot.grad) for slot in slots.values()]
        cells = {id(alias): alias for _, _, alias in self._variables if type(alias) is Cell}
        self._cells = [(cell, cell.value) for cell in cells.values()]

    def changed(self) -> list[Tensor]:
        """Return the tensors that stand for something else now; views follow their base and do not count."""
        return [t for t, variable, alias in self._variables if type(alias) is not View and t._variable is not variable]

    def put_back(self) -> None:
        """Let every tensor stand for what it stood for."""
        for tensor, variable, alias in self._variables:
            tensor._variable, tensor._alias = variable, alias
            if type(alias) is View:
                alias.seen = None
        for slot, grad in self._grads:
            slot.grad = grad
        for cell, value in self._cells:
            cell.value = value


@contextmanager
def held(optimizers: Iterable[Any], schedulers: Iterable[Any]) -> Iterator[Held]:
    """Put back, after the block, what it changed in tensors, optimizers, schedulers and the random numbers."""
    flush()
    kept = Held()
    objects = [*optimizers, *inner_schedulers(schedulers)]
    dicts = [(one, copies_of(vars(one))) for one in objects]
    groups = [(group, dict(group)) for one in optimizers for group in one.param_groups]
    random = default_generator.clone_state()
    try:
        yield kept
    finally:
        kept.put_back()
        for one, attributes in dicts:
            vars(one).clear()
            vars(one).update(attributes)
        for group, options in groups:
            group.clear()
            group.update(options)
        default_generator.set_state(random.get_state())


def inner_schedulers(schedulers: Iterable[Any]) -> list[Any]:
    """Return schedulers and those that they chain or follow."""
    found: list[Any] = []
    for scheduler in schedulers:
        if scheduler not in found:
            found.append(scheduler)
            for value in vars(scheduler).values():
                if isinstance(value, (list, tuple)):
                    found += [one for one in inner_schedulers(x for x in value if _is_scheduler(x)) if one not in found]
    return found


def _is_scheduler(x: Any) -> bool:
    return hasattr(x, "get_last_lr") and hasattr(x, "step")


def copies_of(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of an object's attributes whose containers are copies too."""
    copied: dict[str, Any] = {}
    for name, value in attributes.items():
        if name == "state" and isinstance(value, defaultdict):
            copied[name] = defaultdict(dict, {key: dict(inner) if isinstance(inner, dict) else inner
                                              for key, inner in value.items()})  # fmt: skip
        else:
            copied[name] = copy.copy(value) if type(value) in (list, dict) and name != "param_groups" else value
    return copied
