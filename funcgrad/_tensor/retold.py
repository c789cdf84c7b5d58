"""What a function says of an argument of a wrong kind: its own name, and the place in which the user gave it."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from funcgrad._base.errors import NotATensor
from funcgrad._base.naming import c_class_name
from funcgrad._ops.table import Op, Parameter
from funcgrad._tensor.arguments import MISSING
from funcgrad._tensor.called import forget_places, names_in_call
from funcgrad._tensor.forms import public_name, refuse_unfit
from funcgrad._tensor.tensor import Tensor

_TOLD = re.compile(r"\w+\(\): argument '(\w+)' \(position \d+\) must be (\w+), not (.+)")
_INNER = {  # what torch's functions in Python call, whose names and places errors then have
    "nn.functional.cross_entropy": ("cross_entropy_loss", ()),
    "nn.functional.grid_sample": ("grid_sampler", ()),
    "nn.functional.nll_loss": ("nll_loss_nd", ()),
    "nn.functional.embedding": ("embedding", ("weight", "indices")),
}
_TOUCHED = {  # what torch's functions in Python ask of an argument before anything else
    **dict.fromkeys(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"), "size"),
    **dict.fromkeys(("binary_cross_entropy_with_logits", "adaptive_avg_pool2d", "adaptive_avg_pool3d"), "size"),
    **dict.fromkeys(("interpolate", "upsample", "group_norm"), "dim"),
    **{name: name for name in ("softmax", "log_softmax")},
    "normalize": "norm",
}
_RENAMED = {("embedding", "input"): "indices"}


def retell(error: BaseException, op: Op, place: str, given: Sequence[Any]) -> None:
    """Let an error about one argument name the public place that was called, and count as its user does.

    given: what the function was called with, in the order of the row, defaults and MISSING included.
    """
    by_name = names_in_call(sys._getframe(2)) if isinstance(error, TypeError) else ()
    if isinstance(error, AttributeError) and (number := _in_place_of_tensor(op, given)) is not None:
        by_name = names_in_call(sys._getframe(2))
        refuse_unfit(op, place, given, by_name)
        position = number + (not place.startswith("."))
        shown = f"argument '{op.parameters[number].name}' (position {position})"
        refused = NotATensor(f"{public_name(place)}(): {shown} must be Tensor, not {c_class_name(given[number])}")
        forget_places(refused, by_name)
        raise refused from None
    if isinstance(error, TypeError) and (any(x is MISSING for x in given) or " must be " in str(error)):
        refuse_unfit(op, place, given, by_name)
    _retell(error, op, place, given)
    forget_places(error, by_name)


def _in_place_of_tensor(op: Op, given: Sequence[Any]) -> int | None:
    """Return the position of the first number or bool where nothing but a tensor is taken."""
    for position, (parameter, x) in enumerate(zip(op.parameters, given, strict=False)):
        is_tensor = parameter.kind in ("Array", "Mask", "Indices") and not parameter.takes_number
        if is_tensor and isinstance(x, (int, float)):
            return position
    return None


def _retell(error: BaseException, op: Op, place: str, given: Sequence[Any]) -> None:
    names = [p.name for p in op.parameters]
    told = _TOLD.fullmatch(str(error)) if isinstance(error, NotATensor) else None
    if told is None or told[1] not in names:
        return
    touched = _TOUCHED.get(place.removeprefix("nn.functional."))
    if touched and place.startswith("nn.") and "." not in told[3]:
        raise AttributeError(f"'{told[3]}' object has no attribute '{touched}'") from None
    is_method = place.startswith(".")
    name, order = _INNER.get(place, (public_name(place), ()))
    argument = _RENAMED.get((name, told[1]), told[1])
    position = (order or names).index(argument) + (not is_method)
    error.args = (f"{name}(): argument '{argument}' (position {position}) must be {told[2]}, not {told[3]}",)


_CONV = (
    "(Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, {}, tuple of ints dilation = 1, "
    "int groups = 1)"
)
_FORMS: dict[str, tuple[str, str]] = dict.fromkeys(  # of functions that take their arguments in several ways
    ("conv1d", "conv2d", "conv3d"),
    (_CONV.format("tuple of ints padding = 0"), _CONV.format('str padding = "valid"')),
)
SEVERAL_FORMS = frozenset(_FORMS)


def refuse_forms(op: Op, given: Sequence[Any]) -> None:
    """Raise a TypeError that shows all forms of a function where the kind of an argument fits none of them.

    given: what the function was called with, in order, defaults included. A layer gives each number for each dimension;
    what else is not the default was given by name, as far as that can be told here.
    """
    if not any(map(_misfits, op.parameters, given)):
        return
    is_layer = all(len(x) > 1 for x in given[3:] if isinstance(x, tuple)) and isinstance(given[3], tuple)
    tensors = len(given) if is_layer else 3 if given[2] is not None else 2
    named = [
        f"{p.name}={'int' if type(x) is tuple and len(x) == 1 else c_class_name(x)}"
        for p, x in list(zip(op.parameters, given, strict=True))[tensors:]
        if x != p.default
    ]
    got = ", ".join([*map(c_class_name, given[:tensors]), *named])
    lines = [f"{op.name}() received an invalid combination of arguments - got ({got}), but expected one of:"]
    for form in _FORMS[op.name]:
        lines.append(f" * {form}")
        if is_layer:  # what is marked are the kinds that are not the form's to the letter
            kinds = [part.rpartition(" ")[0] for part in form[1:-1].split(", ")]
            shown = [x if x == kind else f"!{x}!" for x, kind in zip(map(_inside, given), kinds, strict=True)]
            lines.append(f"      didn't match because some of the arguments have invalid types: ({', '.join(shown)})")
    raise TypeError("\n".join((*lines, ""))) from None


def _misfits(parameter: Parameter, given: Any) -> bool:
    """Tell whether an argument is of no kind that its parameter takes. Of several numbers the first one counts."""
    if parameter.kind == "Array":
        return not (isinstance(given, (Tensor, jax.Array)) or (given is None and parameter.optional))
    if isinstance(given, str) and "str" in parameter.kind:
        return False
    first = given[0] if isinstance(given, (tuple, list)) and given and parameter.kind != "int" else given
    return not isinstance(first, (int, Tensor, np.integer))


def _inside(given: Any) -> str:
    if not isinstance(given, (tuple, list)):
        return c_class_name(given)
    return f"{c_class_name(given)} of ({', '.join(map(c_class_name, given))}{',' * (len(given) == 1)})"
