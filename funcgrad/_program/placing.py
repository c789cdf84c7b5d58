"""Which devices a program runs on: one set of them for all that it reads."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import jax
import numpy as np

from funcgrad._program.value import CONSTANT, Aval, Value, aval


class Again(Exception):  # noqa: N818 - no error: it asks for another try
    """Recording cannot go on in this program: run what is named, record it, or begin a fresh one, and record again."""


class Mixed(Exception):  # noqa: N818 - no error: it asks for another try
    """A call was given tensors of the default device, and of another one."""


def placement_with(
    present: Any, leaves: Sequence[tuple[Any, Any, Aval]], value: Value, inputs: Sequence[Any], key: Sequence[Any]
) -> Any:
    """Return where a program of these leaves runs once it reads `value` too, for a call with these inputs.

    present: where it runs so far; None: where JAX has it by default. key: what the call's key holds by now. Another set
    of devices is for another program (Again); inside one call two sets are an error. What named no device is on the
    default one. If it meets what is elsewhere in one call, that is brought to it (Mixed), unless the host still has its
    numbers: then it goes with the others.
    """
    placement = value.aval.placement
    if placement is None:
        if _is_apart(present):
            if not any(map(is_elsewhere, inputs)):
                raise Again
            if _is_on_default(value):
                raise Mixed
        return present
    if present is None:
        if _is_apart(placement):
            if any(map(_is_on_default, inputs)):
                raise Mixed
            own = [slot for slot, known in pairwise(key) if type(known) is Aval]  # leaves that this call brought
            if any(known.placement is None and -i not in own for i, (*_, known) in enumerate(leaves, 1)):
                raise Again
        return placement
    if present.device_set == placement.device_set:
        return present
    for other in inputs:
        if type(other) is Value and other.aval.placement is not None:
            found = other.aval.placement.device_set
            if found != placement.device_set and other.aval.shape:
                names = " and ".join(sorted(str(next(iter(devices))) for devices in (found, placement.device_set)))
                raise RuntimeError(
                    f"Expected all tensors to be on the same device, but found at least two devices, {names}!"
                )
    raise Again


def placement_of(leaves: Sequence[tuple[Any, Any, Aval]]) -> Any:
    """Return where a program of these leaves runs; None: where JAX has it by default."""
    return next((known.placement for *_, known in leaves if known.placement is not None), None)


@functools.cache
def _is_apart(placement: Any) -> bool:
    """Tell whether it is one device, and not that which JAX takes by default."""
    return placement.device_set.isdisjoint(jax.devices()[:1]) and len(placement.device_set) == 1


def is_elsewhere(x: Any) -> bool:
    """Tell whether a call's input is a Value on one device that is not the default one."""
    return type(x) is Value and x.aval.placement is not None and _is_apart(x.aval.placement)


def _is_on_default(x: Any) -> bool:
    """Tell whether a Value is on the default device, or will be: not what the host has, nor what is yet to be made."""
    is_there = type(x) is Value and x.aval.placement is None and x.program is not CONSTANT
    return is_there and type(x.array) is not np.ndarray


def brought(known: Aval, numbers: Any) -> Value:
    """Return a Value with these numbers, to go where the others are."""
    return Value(np.array(numbers), None, 0, aval(tuple(known.shape), known.dtype.numpy, None, known.order))
