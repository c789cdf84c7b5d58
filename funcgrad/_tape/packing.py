"""Saved tensors in another form: what a pair of hooks makes of them when they are saved, and back in backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from funcgrad._tape.modes import no_grad, thread
from funcgrad._tape.variable import Names, Variable


class Hooks(NamedTuple):
    """pack(tensor) gives what is kept in its place; unpack of that gives the tensor back."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class Packed:
    """What a node holds instead of what it saved while hooks were in force (tuples of Variables, in tuples or not)."""

    __slots__ = ("kept", "unpack")

    def __init__(self, saved: tuple[Any, ...]) -> None:
        hooks: Hooks = thread.saved_hooks[-1]
        self.unpack = hooks.unpack
        with no_grad():
            self.kept = _each(saved, lambda variable: _Kept(_packed(hooks, variable), variable))

    def tensors(self, cotangents: Sequence[Variable | None], history: bool) -> tuple[Any, ...]:
        """Return what the node had saved, each with the history that it had."""
        return _each(self.kept, lambda kept: kept.unpacked(self.unpack))


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
    """One saved tensor in its other form, and whose result it was."""

    __slots__ = ("form", "index", "node")

    def __init__(self, form: Any, variable: Variable) -> None:
        self.form, self.node, self.index = form, variable.node, variable.index

    def unpacked(self, unpack: Callable[[Any], Any]) -> Variable:
        given = unpack(self.form)
        try:
            value = Names.unwrap(given).value
        except TypeError:
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(given).__name__}"
            ) from None
        return Variable(value, self.node, self.index)


def _each(saved: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Change the tensors in (nested) tuples; numbers and Nones stay."""
    return tuple([
        _each(x, change) if type(x) is tuple else change(x) if type(x) in (Variable, _Kept) else x for x in saved
    ])  # fmt: skip
