"""Names that share storage: a View reads part of a tensor and writes back to it; x and x.detach() share a Cell.

A tensor without either is the only name of its value, and writing to it just binds it anew.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any

from funcgrad._ops.strides import dense_strides, strides_of_view
from funcgrad._ops.table import TABLE, Op, write_back_of
from funcgrad._ops.views import reshape_back
from funcgrad._program.record import record
from funcgrad._program.value import LiftedValue, Value
from funcgrad._tape.apply import apply
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import GradSlot, rename_node
from funcgrad._tape.variable import Variable

if TYPE_CHECKING:
    from funcgrad._tensor.mirrors import Mirrors
    from funcgrad._tensor.tensor import Tensor


Strides = tuple[int, ...]
_EXPANDING = frozenset((TABLE["expand"], TABLE["broadcast_to"]))


class Former:
    """What a name stood for before it took another shape in place (`t_`, `squeeze_`): its earlier views read that."""

    __slots__ = ("name",)

    def __init__(self, name: Tensor) -> None:
        self.name = name


class View:
    """How a view reads its base: one view op. `seen`: what the base was when it was last read (None: it was not).

    since: the alias that the base had when the view was made; a Former for a tensor that took its shape in place.
    is_detached: whether it is what a view was detached to, which is no view in torch's eyes.
    mode: "no_grad" or "inference_mode" where it was made in such a block.
    place: which it is of several views that one call gave. depth: how many views there are up to the whole.
    """

    __slots__ = ("depth", "holder", "inputs", "is_detached", "mode", "op", "place", "seen", "since", "statics")

    def __init__(
        self, base: Tensor, op: Op, inputs: tuple[Any, ...], statics: tuple[Any, ...], seen: Variable | None
    ) -> None:
        self.holder, self.op, self.inputs, self.statics, self.seen = base, op, inputs, statics, seen
        self.since: View | Cell | Former | None = base._alias
        self.depth: int = self.since.depth + 1 if type(self.since) is View else 1
        self.is_detached = False
        self.mode = None if thread.grad else "inference_mode" if thread.inference else "no_grad"
        self.place: int | None = None

    @property
    def base(self) -> Tensor:
        """What it is a view of: what the name stood for when the view was made, if it took another shape since."""
        if self.is_renaming:
            return self.holder
        alias = self.holder._alias
        while type(alias) is View and type(alias.since) is Former and alias is not self.since:
            self.holder = alias.since.name
            alias = self.holder._alias
        return self.holder

    @property
    def is_renaming(self) -> bool:
        """Whether the tensor took its shape in place: then it is no view in torch's eyes."""
        return type(self.since) is Former

    def again(self) -> View:
        """Return the same view, for another name: each remembers what it has seen."""
        return self._of(self.base, self.seen)

    def detached(self) -> View:
        """Return the same view of the detached base."""
        base = self.base.detach()
        view = self._of(base, base._variable)
        view.is_detached = True
        return view

    def _of(self, base: Tensor, seen: Variable | None) -> View:
        view = View(base, self.op, self.inputs, self.statics, seen)
        if self.is_renaming:
            view.since = Former(base)
        view.is_detached, view.mode, view.place = self.is_detached, self.mode, self.place
        return view

    def refresh(self, tensor: Tensor) -> None:
        """Read the base again if it was bound anew."""
        base = self.holder
        alias = base._alias
        if alias is not None:
            if type(alias) is View:
                base = self.base
                _refresh_from_the_whole_on(base)
            else:
                alias.refresh(base)
        self._read(tensor, base)

    def _read(self, tensor: Tensor, base: Tensor) -> None:
        """Read the base again if it was bound anew; the base is as it should be."""
        seen, now = self.seen, base._variable
        if now is seen:
            return
        self.seen = now
        if seen is not None and now.node is None and now.value is seen.value:  # frozen since: what was read stays
            return
        node, keeps_history = tensor._variable.node, thread.grad
        thread.grad = keeps_history or node is not None  # whoever wrote to the base, the view is part of the graph
        try:
            (read,) = apply(self.op, (now, *self.inputs), self.statics)
        finally:
            thread.grad = keeps_history
        if seen is not None and read.aval.dtype is now.aval.dtype:  # other bits of the numbers are torch's own op again
            rename_node(read.node, "AsStridedBackward0")
        tensor._variable = Variable(read.value, node) if type(node) is GradSlot else read

    def write(self, tensor: Tensor, new: Variable) -> None:
        """Bind the base to itself with `new` written where this view reads."""
        if self.op.grad:
            self._write(tensor, new)
            return
        keeps_history, thread.grad = thread.grad, False  # other bits of the same numbers: no history learns of it
        try:
            self._write(tensor, new)
        finally:
            thread.grad = keeps_history

    def _write(self, tensor: Tensor, new: Variable) -> None:
        base = self.base
        if base._alias is not None:
            base._alias.refresh(base)
        old = base._variable
        if old.node is not None or new.node is not None:  # which copy was written is told by values, not by history
            refuse_repeated(tensor)
            if thread.grad:
                refuse_ambiguous(tensor)
        (written,) = apply(write_back_of(self.op), (old, new, *self.inputs), self.statics)
        if written.node is None and old.node is not None:
            written = Variable(written.value, old.node, old.index)
        write(base, written)
        self.refresh(tensor)


def before_expanding(tensor: Tensor) -> Tensor:
    """Return what a tensor repeats, if it is an expanded view; else the tensor itself."""
    alias = tensor._alias
    return alias.base if type(alias) is View and alias.op in _EXPANDING else tensor


def _refresh_from_the_whole_on(tensor: Tensor) -> None:
    """Refresh what a tensor is a view of, then the tensor: there may be more names than Python's stack has room for."""
    names = [tensor]
    while type(alias := names[-1]._alias) is View:
        names.append(alias.base)
    if alias is not None:
        alias.refresh(names[-1])
    base = names.pop()
    while names:
        name = names.pop()
        view = name._alias
        assert type(view) is View
        view._read(name, base)
        base = name


class Cell:
    """One value under several names with different histories: a tensor, what it was detached to, its `.data`.

    is_shared: whether `share_memory_` was called on one of them. mirrors: numpy's arrays that show the value too.
    is_for_numpy: whether a tensor has it for them alone, under its one name. writes: how often it was written to.
    address: what `data_ptr` tells of it; None before it is asked.
    """

    __slots__ = ("__weakref__", "address", "is_for_numpy", "is_shared", "mirrors", "value", "writes")

    def __init__(self, value: Value) -> None:
        self.value, self.is_shared, self.is_for_numpy = value, False, False
        self.writes = 0
        self.address: int | None = None
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
        if tensor._writes < _COUNTS_ALONE:
            tensor._writes += 1
        else:
            self.writes += 1
        if self.mirrors is not None:
            self.mirrors.show(self)


def refuse_ambiguous(tensor: Tensor) -> None:
    """RuntimeError for a view that is one of many, or was made where no history was kept; or a view of such a one.

    torch cannot tell then how gradients would go, and refuses to write what has a history.
    """
    read = tensor
    while type(view := read._alias) is View and not view.is_detached and not view.is_renaming:
        if view.mode is not None:
            raise RuntimeError(
                f"{_made_in(view.mode)} Given that this use case is ambiguous and error-prone, it is forbidden. You "
                f"can clarify your code by moving both the view and the inplace either both inside the {view.mode} "
                "block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
                "tracked)."
            )
        if view.place is not None:
            node = tensor._variable.node
            made = _made_in("no_grad")
            if node is not None:
                name = node.name().removesuffix("Backward0")
                made = f"Output {tensor.output_nr} of {name} is a view and is being modified inplace."
            raise RuntimeError(
                f"{made} This view is the output of a function that returns multiple views. Such functions do not "
                "allow the output views to be modified inplace. You should replace the inplace operation by an "
                "out-of-place one."
            )
        read = view.base


def _made_in(mode: str) -> str:
    changed = "with grad mode enabled" if mode == "no_grad" else "in normal mode"
    return f"A view was created in {mode.removesuffix('_mode')} mode and is being modified inplace {changed}."


def refuse_repeated(tensor: Tensor) -> None:
    """RuntimeError for a view that shows elements more than once, to which not each may be written on its own."""
    base, is_expanded = tensor, False
    while type(view := base._alias) is View:
        is_expanded |= view.op.grad == "ExpandBackward0"
        base = view.base
    if not is_expanded or 0 in (shape := tensor._variable.value.aval.shape):
        return
    if any(step == 0 and size > 1 for step, size in zip(strides_of(tensor), shape, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def strides_of(tensor: Tensor) -> Strides:
    """Return the strides in elements."""
    views, base = list[tuple[View, tuple[int, ...]]](), tensor
    while type(alias := base._alias) is View:
        views.append((alias, tuple(base.shape)))
        base = alias.base
    shape = tuple(base.shape)
    strides = dense_strides(shape, base._variable.value.aval.order)
    for view, shown in reversed(views):
        found = strides_of_view(view.op.name, view.statics, shape, strides, shown)
        shape, strides = shown, found or dense_strides(shown)
    return strides


def offset_of(tensor: Tensor) -> int:
    """Return where in its storage the tensor begins. A place given by a tensor counts as 0: it is not known here."""
    alias = tensor._alias
    if type(alias) is not View:
        return 0
    start, name, steps = offset_of(alias.base), alias.op.name, strides_of(alias.base)
    if alias.base.dtype is not tensor.dtype:
        start = start * alias.base.dtype.itemsize // tensor.dtype.itemsize + (name == "imag")
    if name in ("select", "slice", "narrow") and type(alias.inputs[0]) is int:
        dim = alias.statics[0]
        return start + alias.inputs[0] % max(alias.base.shape[dim], 1) * steps[dim]
    if name == "diagonal":
        offset, dim1, dim2 = (*alias.statics, *(0, 0, 1)[len(alias.statics) :])
        return start + (offset * steps[dim2] if offset >= 0 else -offset * steps[dim1])
    if name == "as_strided" and len(alias.statics) > 2:
        return alias.statics[2] or 0
    return start


def show(
    tensor: Tensor, base: Tensor, op: Op, inputs: tuple[Any, ...], statics: tuple[Any, ...], seen: Variable
) -> None:
    """Let `tensor` be a view of a base: of the whole itself, by strides, where many views lie in between.

    A loop that takes `x = x[1:]` thousands of times would else ask thousands of names whether they were written to.
    """
    tensor._alias = view = View(base, op, inputs, statics, seen)
    if view.depth % _DEEP == 0 and (direct := _of_the_whole(tensor)) is not None:
        tensor._alias = direct


_DEEP = 16  # views one after the other
_NOT_BY_STRIDES = frozenset((  # these show other numbers, or some several times
    "broadcast_to", "conj", "expand", "imag", "real", "select_at", "tensor_unfold", "view_as_complex", "view_as_real",
    "view_dtype",
))  # fmt: skip


def _of_the_whole(tensor: Tensor) -> View | None:
    """Return the view of the whole that shows what views of views show; None where strides do not tell.

    Whether it may be written to where there is a history is what the first of them says, up to a detached one.
    """
    mode, place, is_free, base = None, None, False, tensor
    while type(view := base._alias) is View:
        is_placed = any(type(each) is not int for each in view.inputs)  # by numbers that are not known here
        if view.is_renaming or view.op.name in _NOT_BY_STRIDES or is_placed:
            return None
        if mode is None and place is None and not is_free:
            mode, place = view.mode, view.place
        is_free = is_free or view.is_detached
        base = view.base
    known = base._variable.value.aval
    if known.order is not None or known.dtype.is_complex:
        return None
    layout = tuple(tensor.shape), strides_of(tensor), offset_of(tensor)
    direct = View(base, TABLE["as_strided"], (), layout, base._variable)
    direct.mode, direct.place = mode, place
    return direct


def former_of(tensor: Tensor) -> Tensor:
    """Return another name for what `tensor` stands for, through whatever it shares, that keeps no gradient."""
    variable = tensor._current()
    former = tensor._of(variable.detached() if type(variable.node) is GradSlot else variable)
    former._alias, former._made_in_inference, former._writes = tensor._alias, tensor._made_in_inference, tensor._writes
    return former


def rename(tensor: Tensor, former: Tensor, shown: Tensor) -> None:
    """Let `tensor` stand for a view of its former name: earlier views of it read that. A leaf stays one."""
    former._whole._writes += 1
    node, tensor._variable = tensor._variable.node, shown._variable
    if type(node) is GradSlot:
        node.aval = shown._variable.aval
        tensor._variable = Variable(shown._variable.value, node)
    tensor._alias = view = shown._alias
    assert type(view) is View
    view.since = Former(former)


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
        tensor._writes += 1
    else:
        tensor._alias.write(tensor, new)


ALONE = -(1 << 60)
_COUNTS_ALONE = -(1 << 59)


def version_of(tensor: Tensor) -> int:
    """Return how often the storage that a tensor reads was written to, under this name or one that shares it."""
    whole = tensor._whole
    shared = whole._alias.writes if type(whole._alias) is Cell else 0
    return whole._writes - ALONE if whole._writes < _COUNTS_ALONE else whole._writes + shared


def _keep_retaining(tensor: Tensor, new: Variable) -> None:
    """Let what this name means from now on keep its gradient (`retain_grad`), if what it meant before did."""
    old = tensor._variable
    if old.node is None or new.node is None or new.node is old.node or not old.node.retained:
        return
    if old.node.retained.get(old.index) is tensor._slot:
        del old.node.retained[old.index]
        new.node.retained = {**(new.node.retained or {}), new.index: tensor._slot}


def shared_with(tensor: Tensor) -> View | Cell:
    """Return the alias of a further name of this tensor's storage that has no history."""
    view = tensor._alias
    if type(view) is View and _is_alone(view) and tensor._current().aval.order is None:
        tensor._alias = view = None  # nobody can tell, and what writes to it need not write to a base
    return view.detached() if type(view) is View else cell_of(tensor)


def _is_alone(view: View) -> bool:
    """Tell whether it shows all of a base that nothing else holds, elements in their order."""
    base = view.base
    if view.op.write_back is not reshape_back or base._alias is not None or base._variable.node is not None:
        return False
    return base._variable.aval.order is None and getrefcount(base) <= 3  # the view, this function, that one


def cell_of(tensor: Tensor) -> Cell:
    """Return the cell that further names of this tensor's value share. The tensor is no view."""
    if tensor._alias is None:
        tensor._alias = Cell(tensor._variable.value)
    cell = tensor._alias
    assert type(cell) is Cell
    cell.is_for_numpy = False
    return cell
