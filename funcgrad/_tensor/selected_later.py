"""y[mask] before anybody has read it: what is selected is looked for when somebody wants to know.

How many elements a mask selects is known once it is computed; so to select by it, what was recorded has to run. But
where they go where the same mask selects, as in `x[mask] = y[mask]`, nobody needs to know how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakSet

from funcgrad._base import dtypes
from funcgrad._base.config import settings
from funcgrad._ops.alone import ALONE
from funcgrad._ops.table import TABLE, Op
from funcgrad._program.record import thread
from funcgrad._program.value import Value
from funcgrad._tape.apply import apply
from funcgrad._tape.variable import Variable
from funcgrad._tensor.selecting import check_mask, selection
from funcgrad._tensor.tensor import Tensor

_NUMBERS = (int, float, bool)
_MOST = 1 << 16  # elements of which each is computed, selected or not
_MANY = 64  # tensors that wait, and so hold all of what little is selected of


class Selection:
    """The alias of such a tensor, which has no Variable yet. mask: of the dimensions of `source` from `dim` on."""

    __slots__ = ("__weakref__", "dim", "mask", "source")
    waiting: ClassVar[WeakSet[Selection]] = WeakSet()

    def __init__(self, source: Variable, mask: Variable, dim: int) -> None:
        self.source, self.mask, self.dim = source, mask, dim
        self.waiting.add(self)

    def is_like(self, other: Selection) -> bool:
        """Tell whether both select the same places of tensors of one shape."""
        is_same_mask = self.mask.value is other.mask.value and self.dim == other.dim
        return is_same_mask and self.source.aval.shape == other.source.aval.shape

    def refresh(self, tensor: Tensor) -> None:
        """Select the elements: somebody reads the tensor."""
        part, mask = map(Tensor._of, (self.source, self.mask))
        places, layout = selection(part, [(self.dim, mask)])
        (tensor._variable,) = apply(TABLE["index"], (self.source, *[place._variable for place in places]), (layout,))
        tensor._alias = None


def selected_later(part: Tensor, dim: int, mask: Tensor) -> Tensor | None:
    """Return part[mask], to be selected when it is read; None where it had better be selected now.

    Raises IndexError for a mask of another shape.
    """
    if thread.instead is not None or settings.eager or len(Selection.waiting) >= _MANY:
        return None
    source, truth = part._current(), mask._current()
    if source.node is not None or truth.aval.dtype is not dtypes.bool_:
        return None
    if not type(source.value) is type(truth.value) is Value:
        return None
    check_mask(part, dim, mask)
    return _bind(Tensor._of(source), Selection(source, truth, dim))


def computed_later(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Tensor | None:
    """Return what an op makes of each selected element, to be selected still; None where it had better be selected now.

    inputs: numbers, and one tensor of which it is not known how many elements were selected, or more of the same mask.
    """
    made = _computed(op, inputs, statics)
    return None if made is None else _bind(Tensor._of(made.source), made)


def changed_later(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> bool:
    """Let the first tensor become what `computed_later` gives, if that has its dtype; else return False."""
    target: Tensor = inputs[0]
    before: Any = target._alias
    made = None if target._made_in_inference else _computed(op, inputs, statics)
    if made is None or made.source.aval.dtype is not before.source.aval.dtype:
        return False
    target._alias = made  # type: ignore[assignment]  # what it is until it is read
    target._writes += 1
    return True


def _computed(op: Op, inputs: Sequence[Any], statics: tuple[Any, ...]) -> Selection | None:
    if op not in ALONE or op.write_back is not None:
        return None
    found, sources = None, list[Any]()
    for x in inputs:
        alias: Any = x._alias if type(x) is Tensor else None
        if type(alias) is Selection and (found is None or found.is_like(alias)):
            found = alias
            sources.append(alias.source)
        elif type(x) in _NUMBERS:
            sources.append(x)
        else:
            return None
    if found is None or found.source.aval.shape.numel() > _MOST:
        return None
    results = apply(op, sources, statics)
    return Selection(results[0], found.mask, found.dim) if len(results) == 1 else None


def move_selected(part: Tensor, dim: int, mask: Tensor, value: Any) -> bool:
    """Do part[mask] = value where that is y[mask], of part's shape and dtype and not read yet; else return False."""
    found: Any = value._alias if type(value) is Tensor else None
    if type(found) is not Selection:
        return False
    target = part._current()
    place = Selection(target, mask._current(), dim)
    if not found.is_like(place) or found.source.aval.dtype is not target.aval.dtype:
        return False
    part._write(*apply(TABLE["masked_move"], (target, found.mask, found.source), (dim,)))
    return True


def _bind(name: Tensor, selection: Selection) -> Tensor:
    """Let a new name stand for a selection."""
    del name._variable
    name._alias = selection  # type: ignore[assignment]  # what it is until it is read
    return name
