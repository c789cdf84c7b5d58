"""Saved tensors in another form: what a pair of hooks makes of them when they are saved, and back in backward."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any, NamedTuple

from funcgrad._tape.modes import no_grad, thread
from funcgrad._tape.variable import Names, Variable


class Hooks(NamedTuple):
    """pack(tensor) gives what is kept in its place; unpack of that gives the tensor back."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]

    def packed(self, saved: tuple[Any, ...]) -> Packed:
        """Return what a node holds instead of what it saved while the hooks are in force."""
        with no_grad():
            return Packed(each(saved, lambda variable: _Kept(self, variable)))


class Packed:
    """What a node holds instead of what it saved (Variables in tuples, nested or not), some of it in another form."""

    __slots__ = ("kept",)

    def __init__(self, kept: tuple[Any, ...]) -> None:
        self.kept = kept

    def tensors(self, cotangents: Sequence[Variable | None], history: bool) -> tuple[Any, ...]:
        """Return what the node had saved, each with the history that it had."""
        return each(self.kept, lambda kept: kept.unpacked(), _Kept)


def packed(saved: tuple[Any, ...]) -> Any:
    """Return what a node holds instead of what it saved while something changes the form of that."""
    return thread.saved_hooks[-1].packed(saved)


class SavedTensor:
    """One tensor that a node saved, as `_raw_saved_self` and its like have it: a pair of hooks can be set on it.

    path: where it stands in what the node saved; None where the node has no need of it.
    """

    __slots__ = ("node", "path")

    def __init__(self, node: Any, path: tuple[int, ...] | None) -> None:
        self.node, self.path = node, path

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Keep what `pack_hook` makes of the tensor in its place; backward reads what `unpack_hook` makes of that.

        RuntimeError: the graph was freed, the tensor has hooks already, or is not needed.
        """
        saved = self.node.saved
        if saved is None:
            raise RuntimeError(_FREED)
        kept = saved.kept if type(saved) is Packed else saved
        if type(kept) is not tuple:  # a checkpoint makes it again
            raise RuntimeError(_HOOKED)
        found = None if self.path is None else functools.reduce(getitem, self.path, kept)
        if type(found) is _Kept:
            raise RuntimeError(_HOOKED)
        if self.path is None or type(found) is not Variable:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        with no_grad():
            self.node.saved = Packed(_changed(kept, self.path, _Kept(Hooks(pack_hook, unpack_hook), found)))

    def __repr__(self) -> str:
        return f"<torch._C._autograd.SavedTensor object at {hex(id(self))}>"


_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
    "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved variables after calling backward."
)
_HOOKED = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
    "allowed at a time."
)


def _changed(saved: tuple[Any, ...], path: tuple[int, ...], new: _Kept) -> tuple[Any, ...]:
    place, *rest = path
    changed = _changed(saved[place], tuple(rest), new) if rest else new
    return (*saved[:place], changed, *saved[place + 1 :])


def _packed(hooks: Hooks, variable: Variable) -> Any:
    tensor = Names.wrap(variable)
    form = hooks.pack(tensor)
    if Names.unwrap(tensor) is not variable:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
            "be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
            "issue if you need to perform in-place operations on the input to a pack hook."
        )
    return form


class _Kept:
    """One saved tensor in its other form, what gives it back, and whose result it was."""

    __slots__ = ("form", "index", "node", "unpack")

    def __init__(self, hooks: Hooks, variable: Variable) -> None:
        self.form, self.unpack = _packed(hooks, variable), hooks.unpack
        self.node, self.index = variable.node, variable.index

    def unpacked(self) -> Variable:
        given = self.unpack(self.form)
        try:
            value = Names.unwrap(given).value
        except TypeError:
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(given).__name__}"
            ) from None
        return Variable(value, self.node, self.index)


def each(saved: tuple[Any, ...], change: Callable[[Any], Any], kind: type = Variable) -> tuple[Any, ...]:
    """Change what is of this kind in (nested) tuples; numbers and Nones stay."""
    return tuple([each(x, change, kind) if type(x) is tuple else change(x) if type(x) is kind else x for x in saved])
