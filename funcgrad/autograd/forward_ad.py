"""Forward-mode derivatives: dual tensors, which go along with their derivative in one direction.

>>> with dual_level():
...     x = make_dual(tensor(2.0), tensor(1.0))
...     unpack_dual(x * x).tangent
tensor(4.)
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from funcgrad._tape.levels import TangentLevel
from funcgrad._tape.variable import Variable
from funcgrad._tensor.tensor import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class _Levels(threading.local):
    def __init__(self) -> None:
        self.open: list[TangentLevel] = []


_levels = _Levels()
_GIVEN = "_tangent_given"  # where a dual tensor keeps the tensor that it was made with


def __getattr__(name: str) -> int:
    """Answer for `_current_level`, the number of the level that is open; -1 for none."""
    if name == "_current_level":
        return len(_levels.open) - 1
    raise AttributeError(f"module 'torch.autograd.forward_ad' has no attribute '{name}'")


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns; the tangent is None where the tensor does not move in the direction."""

    primal: Tensor
    tangent: Tensor | None


class dual_level:  # noqa: N801 - torch's own spelling
    """A block in which dual tensors live; after it they are what they were made of."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()


def enter_dual_level() -> int:
    """Open a level; return its number, 0. RuntimeError inside another one."""
    if _levels.open:
        raise RuntimeError("Nested forward mode AD is not supported at the moment: write func.jvp(func.jvp(...))")
    _levels.open.append(TangentLevel(is_printed=True))
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level that is open."""
    if not _levels.open:
        raise RuntimeError("Trying to exit a forward AD level that was not entered: none is open")
    _levels.open.pop().finished = True


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a tensor that goes along with its derivative. Shape: tangent as tensor.

    Raises RuntimeError outside a level or for another shape, ValueError for a dtype without derivatives.
    """
    if not _levels.open:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to "
                           "enter_dual_level() first.")  # fmt: skip
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not given._current().aval.differentiable:
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {given.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    primal = tensor._current()
    moving = _levels.open[-1].along(primal, tangent._current())
    dual = Tensor._of(Variable(moving.value, primal.node, primal.index))
    dual.__dict__[_GIVEN] = tangent
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a tensor's value and its derivative; of an ordinary tensor (itself, None)."""
    if not _levels.open:
        return UnpackedDualTensor(tensor, None)
    present, variable = _levels.open[-1], tensor._current()
    if not present.is_own(variable):
        return UnpackedDualTensor(tensor, None)
    value: Any = variable.value
    given = tensor.__dict__.get(_GIVEN)
    is_still_it = given is not None and given._current() is value.tangent
    return UnpackedDualTensor(Tensor._of(value.below), given if is_still_it else Tensor._of(value.tangent))
