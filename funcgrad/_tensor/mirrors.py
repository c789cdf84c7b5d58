"""Arrays of numpy's that share their numbers with a tensor: `torch.from_numpy(a)`, `t.numpy()`.

XLA's arrays never change, so the memory is not one: each side is brought up to date. What is written to the tensor is
copied to the array at once, since nobody tells when numpy reads. What numpy wrote is found by comparing, when the
tensor is next read: all of a small array, and of a large one numbers that lie all over it. That is done once more when
nobody holds the array any longer (`t.numpy()[0] = 1`); then it costs nothing.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._ops.table import Op
from funcgrad._program.record import numbers_of
from funcgrad._program.value import Value
from funcgrad._program.waiting import on_host
from funcgrad._tape.variable import Variable
from funcgrad._tensor.aliases import Cell, View
from funcgrad._tensor.interop import from_host, lying_as, refuse_backwards, to_host, value_on
from funcgrad._tensor.tensor import Tensor

Numbers = np.ndarray[Any, Any]
_Path = tuple[tuple[Op, tuple[Any, ...], tuple[Any, ...]], ...]

_SMALL = 1 << 16  # bytes; up to here all are compared
_OWN_REFERENCES = 2  # to a mirror's array: its own, and that of the call that counts
_SAMPLES = 512  # so many of a larger array, more or less


class Mirrors:
    """The arrays that show what a Cell, or a part of it, stands for."""

    __slots__ = ("_mirrors",)

    def __init__(self) -> None:
        self._mirrors: list[Mirror] = []

    def add(self, mirror: Mirror) -> None:
        """Keep another array up to date."""
        self._mirrors.append(mirror)

    def array(self, path: _Path) -> Numbers | None:
        """Return the array that shows this part already; None where there is none."""
        found = next((mirror for mirror in self._mirrors if mirror.path == path), None)
        return None if found is None else found.array()

    def look(self, cell: Cell) -> None:
        """Write to the cell what numpy wrote to one of the arrays."""
        for mirror in tuple(self._mirrors):
            if not mirror.is_held:
                self._forget(mirror, cell)
            array = mirror.array()
            if mirror.sees(array):
                numbers = np.asarray(array, order="C")
                _part(cell, mirror.path)._write(Variable(value_on(numbers, cell.value.aval.placement)))

    def show(self, cell: Cell) -> None:
        """Copy to the arrays what was written to the cell."""
        for mirror in tuple(self._mirrors):
            if not mirror.is_held:
                self._forget(mirror, cell)
            elif type(cell.value) is Value:  # nothing can be shown of what is traced
                array = mirror.array()
                np.copyto(array, _numbers(_part(cell, mirror.path)._current().value))
                mirror.sees(array)

    def _forget(self, mirror: Mirror, cell: Cell) -> None:
        self._mirrors.remove(mirror)
        if not self._mirrors:
            cell.mirrors = None


class Mirror:
    """One array, and the views by which a tensor reads what it shows."""

    __slots__ = ("_at", "_owner", "_places", "_seen", "path")

    def __init__(self, array: Numbers, path: _Path = ()) -> None:
        """Share `array`."""
        self.path = path
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self._owner = owner
        self._at = None if owner is array else array.__array_interface__
        self._places = _places(array)
        self._seen = array[self._places].tobytes()

    @property
    def is_held(self) -> bool:
        """Whether somebody else can still write to the array: holds it, a part of it, or memory that is not numpy's."""
        return self._owner.base is not None or sys.getrefcount(self._owner) > _OWN_REFERENCES

    def array(self) -> Numbers:
        """Return the array, which can be written to."""
        return self._owner if self._at is None else np.asarray(_Memory(self._at, self._owner))

    def sees(self, array: Numbers) -> bool:
        """Tell whether the array changed since this was last asked."""
        before, self._seen = self._seen, array[self._places].tobytes()
        return before != self._seen


class _Memory:
    """A part of an array's memory, as numpy reads it, which keeps the whole alive."""

    def __init__(self, interface: dict[str, Any], owner: Numbers) -> None:
        self.__array_interface__, self.owner = interface, owner


def _places(array: Numbers) -> Any:
    """Return an index of the numbers that are compared: all, or in each dimension some at equal distances."""
    if array.nbytes <= _SMALL:
        return ...
    step = round((array.size / _SAMPLES) ** (1 / array.ndim))
    return tuple([slice(None, None, min(step, size)) for size in array.shape])


def _part(cell: Cell, path: _Path) -> Tensor:
    """Return a name for what a cell stands for, or for the part of it to which these views lead."""
    name = Tensor._of(Variable(cell.value))
    name._alias = cell
    for op, inputs, statics in path:
        part = Tensor._of(name._variable)
        part._alias = View(name, op, inputs, statics, None)
        name = part
    return name


def _numbers(value: Value) -> Numbers:
    return on_host(numbers_of(value))


def tensor_of(array: Numbers, device: Any = None) -> Tensor:
    """Return a tensor that shares its numbers with the array, where it stays on the CPU and can be written to.

    ValueError: the array is read from its end.
    """
    refuse_backwards(array)
    made = lying_as(from_host(array, device=device), array)
    if array.flags.writeable and array.dtype.kind != "V" and _can_share(made):  # V: numpy knows them by name only
        _share(made, array, ())
    return made


def from_file(
    filename: str | os.PathLike[str], shared: bool | None = None, size: int = 0, *, dtype: Any = None,
    device: Any = None, requires_grad: bool = False, **_: Any,
) -> Tensor:  # fmt: skip
    """Return the first `size` numbers of a binary file as a tensor.

    shared: the file is made, or made longer, where need be, and has what is written to the tensor; what others write to
    it is found as with arrays of numpy's. Otherwise it is read once. RuntimeError: it is not there, or too short.
    """
    kind = (dtypes.get_default_dtype() if dtype is None else dtype).numpy
    needed = size * kind.itemsize
    if shared:
        with open(filename, "ab") as made:
            made.truncate(max(needed, made.tell()))
    try:
        found = os.stat(filename).st_size
    except FileNotFoundError as error:
        raise RuntimeError(f"unable to open file <{filename}> in read-only mode: {error.strerror} (2)") from None
    if found < needed:
        raise RuntimeError(f"file <{filename}> size <{found}> is smaller than the required mapping size <{needed}>")
    if not shared or not size:
        return from_host(np.fromfile(filename, kind, size), device=device, requires_grad=requires_grad)
    array = np.memmap(filename, kind, "r+", shape=(size,))
    made = from_host(array.copy(), device=device, requires_grad=requires_grad)
    if _can_share(made):
        _share(made, array, ())
    return made


def array_with(tensor: Tensor) -> Numbers:
    """Return an array that shares its numbers with the tensor."""
    path: list[Any] = []
    base = tensor
    tensor._current()
    while type(base._alias) is View:
        if base.shape.numel() > base._alias.base.shape.numel():  # some are shown more than once
            return to_host(tensor)
        path.append((base._alias.op, base._alias.inputs, base._alias.statics))
        base = base._alias.base
    if not _can_share(tensor):
        return to_host(tensor)
    views = tuple(reversed(path))
    mirrors = base._alias.mirrors if type(base._alias) is Cell else None
    array = None if mirrors is None else mirrors.array(views)
    if array is None:
        array = to_host(tensor)
        _share(base, array, views)
    return array.view()


def _can_share(tensor: Tensor) -> bool:
    value = tensor._variable.value
    return type(value) is Value and value.aval.shape.numel() > 0 and tensor.device.type == "cpu"


def _share(base: Tensor, array: Numbers, path: _Path) -> None:
    cell = base._alias
    if type(cell) is not Cell:
        cell = base._alias = Cell(base._variable.value)
        cell.is_for_numpy = True
    if cell.mirrors is None:
        cell.mirrors = Mirrors()
    cell.mirrors.add(Mirror(array, path))
