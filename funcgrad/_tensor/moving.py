"""Moving a tensor to another device: the one op that no program holds, since a program runs on one set of devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base.devices import device
from funcgrad._program.record import array_of
from funcgrad._program.value import META, Aval, aval_of, meta, of_array, remember_places
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import Node
from funcgrad._tape.variable import Variable
from funcgrad._tensor.placement import placement
from funcgrad._tensor.tensor import Tensor


class ToCopyBackward0(Node):
    """The history of a move: the gradient moves back."""

    __slots__ = ("aval", "edges", "origin")

    def __init__(self, variable: Variable, aval: Aval, origin: Any) -> None:
        super().__init__()
        self.edges, self.aval, self.origin = ((variable.node, variable.index),), aval, origin

    @property
    def avals(self) -> tuple[Aval, ...]:  # type: ignore[override]  # one result
        return (self.aval,)

    def pull(self, cotangents: Sequence[Variable | None], apply: Any) -> Sequence[Any]:
        """Move the gradient back to where the tensor came from."""
        (gradient,) = cotangents
        return [None if gradient is None else _put(gradient, self.origin)]


def moved(tensor: Tensor, target: device) -> Tensor:
    """Return the tensor on another device; the program that computes it is run."""
    variable = tensor._current()
    return Tensor._of(_put(variable, placement(target)))


def _put(variable: Variable, target: Any) -> Variable:
    if target is META:
        return Variable(meta(variable.aval))
    array, places = array_of(variable.value), variable.value.slot
    origin = variable.aval.placement
    with jax.enable_x64(True):
        # what is put on the default device by name would be bound to it, unlike all else there
        there = jax.device_put(np.asarray(array)) if target is None else jax.device_put(array, target)
    if variable.node is None or not thread.grad:
        value = of_array(there)
        if type(places) is np.ndarray:
            remember_places(value, places)
        return Variable(value)
    return Variable(of_array(there), ToCopyBackward0(variable, aval_of(there), origin))
