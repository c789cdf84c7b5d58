"""What is said of sizes that are no ints: of several, PyTorch's parser looks at the first, and unpacks the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._base.naming import c_class_name
from funcgrad._tensor.tensor import Tensor

_MADE = (
    "Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False)"
)
_RANDOM = (f"(tuple of ints size, *, torch.Generator generator, {_MADE}", f"(tuple of ints size, *, {_MADE}")
_FORMS = {  # of functions that take sizes in several ways
    "view": ("(torch.dtype dtype)", "(tuple of ints size)"),
    "rand": _RANDOM,
    "randn": _RANDOM,
}


def refused_size(given: Any, label: str, among: Sequence[Any] = (), *, is_spread: bool = False) -> TypeError:
    """Return the error for what is no int.

    label: "zeros(): argument 'size' (position 1)". among: the sizes that it is one of. is_spread: they were given one
    by one.
    """
    name = label.partition("(")[0]
    place = next((i for i, x in enumerate(among) if x is given), None)
    if place:
        return TypeError(
            f"{label.partition(' (position')[0]} failed to unpack the object at pos {place + 1} with error "
            f'"type must be tuple of ints,but got {_kind(given)}"'
        )
    if name == "view" or (is_spread and name in _FORMS):
        return TypeError(_no_form(name, among if is_spread or not among else (among,), given))
    if is_spread:
        return TypeError(f"{name}() takes 1 positional argument but {len(among)} were given")
    if place is None:
        return TypeError(f"{label} must be tuple of ints, not {_kind(given)}")
    return TypeError(f"{label} must be tuple of ints, but found element of type {_kind(given)} at pos 0")


def refused_absence(label: str) -> TypeError:
    """Return the error for a call without any sizes. label: as for `refused_size`."""
    name, _, argument = label.partition("(): argument ")
    if name == "view":
        return TypeError(_no_form(name, (), None))
    argument = argument.partition(" (position")[0].strip("'")
    return TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')


def _no_form(name: str, among: Sequence[Any], given: Any) -> str:
    arguments = among or (() if given is None else (given,))
    got = ", ".join(map(_kind, arguments))
    forms = [f" * {form}\n" for form in _FORMS[name]]
    if len(arguments) == 1:
        wrong = f"      didn't match because some of the arguments have invalid types: (!{_inside(arguments[0])}!)\n"
        forms = [form + wrong for form in forms]
    said = f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:\n"
    return said + "".join(forms)


def _inside(given: Any) -> str:
    if not isinstance(given, (tuple, list)):
        return _kind(given)
    return f"{_kind(given)} of ({', '.join(map(_kind, given))}{',' if len(given) == 1 else ''})"


def _kind(given: Any) -> str:
    """Return the name of the type as C knows it: numpy's and PyTorch's own have their module."""
    if isinstance(given, Tensor):
        return type(given).__name__
    return c_class_name(given)
