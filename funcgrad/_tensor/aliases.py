"""Names that share storage: a View reads part of a tensor and writes back to it; x and x.detach() share a Cell.

A tensor without either is the only name of its value, and writing to it just binds it anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad._ops.table import TABLE, Op, write_back_of
from funcgrad._program.record import record
from funcgrad._program.value import LiftedValue, Value
from funcgrad._tape.apply import apply
from funcgrad._tape.nodes import GradSlot
from funcgrad._tape.variable import Variable

if TYPE_CHECKING:
    from funcgrad._tensor.mirrors import Mirrors
    from funcgrad._tensor.tensor import Tensor


class View:
    """How a view reads its base: one view op. `seen`: what the base was when it was last read (None: it was not)."""

    __slots__ = ("base", "inputs", "op", "seen", "statics")

    def __init__(
        self, base: Tensor, op: Op, inputs: tuple[Any, ...], statics: tuple[Any, ...], seen: Variable | None
    ) -> None:
        self.base, self.op, self.inputs, self.statics, self.seen = base, op, inputs, statics, seen

    def refresh(self, tensor: Tensor) -> None:
        """Read the base again if it was bound anew."""
        base = self.base
        if base._alias is not None:
            base._alias.refresh(base)
        if base._variable is self.seen:
            return
        self.seen = base._variable
        (read,) = apply(self.op, (self.seen, *self.inputs), self.statics)
        node = tensor._variable.node
        tensor._variable = Variable(read.value, node) if type(node) is GradSlot else read

    def write(self, tensor: Tensor, new: Variable) -> None:
        """Bind the base to itself with `new` written where this view reads."""
        base = self.base
        if base._alias is not None:
            base._alias.refresh(base)
        old = base._variable
        if old.node is not None or new.node is not None:  # which copy was written is told by values, not by history
            refuse_repeated(tensor)
        (written,) = apply(write_back_of(self.op), (old, new, *self.inputs), self.statics)
        if written.node is None and old.node is not None:
            written = Variable(written.value, old.node, old.index)
        write(base, written)
        self.refresh(tensor)


class Cell:
    """One value under several names with different histories: a tensor, what it was detached to, its `.data`.

    is_shared: whether `share_memory_` was called on one of them. mirrors: numpy's arrays that show the value too.
    is_for_numpy: whether a tensor has it for them alone, under its one name.
    """

    __slots__ = ("is_for_numpy", "is_shared", "mirrors", "value")

    def __init__(self, value: Value) -> None:
        self.value, self.is_shared, self.is_for_numpy = value, False, False
        self.mirrors: Mirrors | None = None

    def refresh(self, tensor: Tensor) -> None:
        """Take over what another name, or numpy, has written; the history stays this name's own."""
        if self.mirrors is not None:
            self.mirrors.look(self)
            if self.mirrors is None and self.is_for_numpy:
                tensor._alias = None
        variable = tensor._variable
        if variable.value is not self.value:
            tensor._variable = Variable(self.value, variable.node, variable.index)

    def write(self, tensor: Tensor, new: Variable) -> None:
        """Bind this name anew, and let the others see the value."""
        tensor._variable = new
        self.value = new.value
        if self.mirrors is not None:
            self.mirrors.show(self)


def refuse_repeated(tensor: Tensor) -> None:
    """RuntimeError for a view that shows elements more than once, to which not each may be written on its own."""
    alias = tensor._alias
    if type(alias) is not View or alias.op.grad != "ExpandBackward0":
        return
    shown, there = (x._variable.value.aval.shape.numel() for x in (tensor, alias.base))
    if shown > there:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def in_order(variable: Variable, order: tuple[int, ...] | None) -> Variable:
    """Return the same numbers and history, as they lie in memory in another order (see `_ops.memory_order`)."""
    if variable.aval.order == order or isinstance(variable.value, LiftedValue):
        return variable
    (laid,) = record(TABLE["in_order"], (variable.value,), (order,))[1]
    return Variable(laid, variable.node, variable.index)


def write(tensor: Tensor, new: Variable) -> None:
    """Make `tensor` the name of `new`, through whatever storage it shares: what lies there keeps its order."""
    old = tensor._variable.value.aval
    if new.aval is not old and new.aval.order != old.order and new.aval.shape == old.shape:
        new = in_order(new, old.order)
    if tensor._slot is not None:
        _keep_retaining(tensor, new)
    if tensor._alias is None:
        tensor._variable = new
    else:
        tensor._alias.write(tensor, new)


def _keep_retaining(tensor: Tensor, new: Variable) -> None:
    """Let what this name means from now on keep its gradient (`retain_grad`), if what it meant before did."""
    old = tensor._variable
    if old.node is None or new.node is None or new.node is old.node or not old.node.retained:
        return
    if old.node.retained.get(old.index) is tensor._slot:
        del old.node.retained[old.index]
        new.node.retained = {**(new.node.retained or {}), new.index: tensor._slot}


def cell_of(tensor: Tensor) -> Cell:
    """Return the cell that further names of this tensor's value share. The tensor is no view."""
    if tensor._alias is None:
        tensor._alias = Cell(tensor._variable.value)
    cell = tensor._alias
    assert type(cell) is Cell
    cell.is_for_numpy = False
    return cell
