"""What a function says of an argument of a wrong kind: its own name, and the place in which the user gave it."""

from __future__ import annotations

import re
from typing import Any

from funcgrad._base.errors import NotATensor
from funcgrad._ops.table import Op

_TOLD = re.compile(r"\w+\(\): argument '(\w+)' \(position \d+\) must be (\w+), not (.+)")
_INNER = {  # what torch's functions in Python call, whose names and places errors then have
    "nn.functional.cross_entropy": ("cross_entropy_loss", ()),
    "nn.functional.nll_loss": ("nll_loss_nd", ()),
    "nn.functional.embedding": ("embedding", ("weight", "indices")),
}
_RENAMED = {("embedding", "input"): "indices"}


def retell(error: BaseException, op: Op, place: str) -> None:
    """Let an error about one argument name the public place that was called, and count as its user does."""
    told = _TOLD.fullmatch(str(error)) if isinstance(error, NotATensor) else None
    names = [p.name for p in op.parameters]
    if told is None or told[1] not in names:
        return
    is_method = place.startswith(".")
    name, order = _INNER.get(place, (place.rpartition(".")[2], ()))
    argument = _RENAMED.get((name, told[1]), told[1])
    position = (order or names).index(argument) + (not is_method)
    error.args = (f"{name}(): argument '{argument}' (position {position}) must be {told[2]}, not {told[3]}",)


def type_name(given: Any) -> str:
    """Return what C calls an object's class: with its module where the class is C's own, as numpy's are."""
    kind = type(given)
    is_of_c = not kind.__flags__ & _HEAP_TYPE or (kind.__module__ == "torch" and kind.__name__ in _OF_C)
    return f"{kind.__module__}.{kind.__name__}" if is_of_c and kind.__module__ != "builtins" else kind.__name__


_HEAP_TYPE = 1 << 9
_OF_C = ("Size", "device", "dtype", "layout", "memory_format")
