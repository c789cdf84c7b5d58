"""The schemas of aten's functions, as PyTorch has them, and which overload a call's arguments mean."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype
from funcgrad._tensor.packets import Overload, packet
from funcgrad._tensor.tensor import Tensor
from funcgrad.library.schemas import Argument, Schema, read

_WRITTEN = Path(__file__).parent / "schemas.txt"  # by tests/ops/record_schemas.py; "~": composed of others
_TAKE_NUMBERS = ("add", "sub", "mul", "div", "floor_divide")  # in the place of their second tensor
_OTHER_NAMES = {"input": "self", "axis": "dim", "keepdims": "keepdim"}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_SIZED = re.compile(r"\[(\d+)\]$")
_NO_FIT = object()


class Call(NamedTuple):
    """A call as `__torch_dispatch__` is told of it: what equals its default is left out at the end, and by name."""

    overload: Overload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@functools.cache
def _lines() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in _WRITTEN.read_text().splitlines():
        found.setdefault(re.split(r"[.(]", line.lstrip("~"), maxsplit=1)[0], []).append(line)
    return found


@functools.cache
def schemas_of(name: str) -> dict[str, Schema]:
    """Return the schemas of a function by the names of its overloads; none where aten has none."""
    found = {}
    for line in _lines().get(name, ()):
        whole, _, arguments = line.lstrip("~").partition("(")
        overload = whole.partition(".")[2]
        found[overload or "default"] = read(f"aten::{name}", f"({arguments}", overload)
    return found


def _is_composed(schema: Schema) -> bool:
    """Tell whether torch composes this overload of other functions, so that a mode is told of those."""
    name, overload = schema.name.rpartition(":")[2], schema.overload_name
    start = f"~{name}.{overload}(" if overload else f"~{name}("
    return any(line.startswith(start) for line in _lines()[name])


def schema_of(overload: Overload) -> Schema:
    """Return an overload's schema. AttributeError: aten has no such overload here."""
    found = schemas_of(overload.overloadpacket.__name__).get(overload._overloadname)
    if found is None:
        raise AttributeError(f"{overload} has no schema here")
    return found


def bound(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], *, composed_last: bool = True) -> Call | None:
    """Return the overload that the arguments mean, with the arguments in its order; None where none fits.

    composed_last: of several, one that torch composes of others is the last choice.
    """
    takes_numbers = name.removesuffix("_") in _TAKE_NUMBERS
    for overload, schema in sorted(schemas_of(name).items(), key=lambda x: composed_last and _is_composed(x[1])):
        given = _given(schema, args, kwargs, takes_numbers)
        if given is not None:
            return Call(getattr(packet(name), overload), *_shortened(schema, given))
    return None


def _given(
    schema: Schema, args: Sequence[Any], kwargs: Mapping[str, Any], takes_numbers: bool
) -> dict[str, Any] | None:
    """Return the arguments by name, as the schema's kinds have them, or None where they are others."""
    positional = [a for a in schema.arguments if not a.keyword_only]
    values = dict(zip((a.name for a in positional), _gathered(positional, args), strict=False))
    if len(_gathered(positional, args)) > len(positional):
        return None
    named = {a.name: a for a in schema.arguments}
    for word, value in kwargs.items():
        name = word if word in named else _OTHER_NAMES.get(word, word)
        if name in values or name not in named:
            if value is None or value is False:  # out=None, inplace=False: said, and without effect
                continue
            return None
        values[name] = value
    found = {}
    for argument in schema.arguments:
        value = values.get(argument.name, argument.default)
        if argument.name in values:
            value = _fitted(argument.kind, value, takes_numbers, argument.name)
        if value is _NO_FIT or value is Argument.default:
            return None
        found[argument.name] = value
    return found


def _gathered(positional: Sequence[Argument], args: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments with sizes that are given one by one, x.view(2, 3), as a list."""
    for place, argument in enumerate(positional[: len(args)]):
        is_sizes = argument.kind in ("SymInt[]", "int[]")
        if is_sizes and all(_is_whole(x) for x in args[place:]) and len(args) > place:
            return [*args[:place], list(args[place:])]
    return args


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _fitted(kind: str, value: Any, takes_numbers: bool, name: str) -> Any:
    """Return the value as an argument of this kind has it; `_NO_FIT` where it is of another."""
    if kind.endswith("?"):
        return None if value is None else _fitted(kind[:-1], value, takes_numbers, name)
    if kind.endswith("]"):
        return _fitted_list(kind, value, name)
    if name == "reduction" and value in _REDUCTIONS:
        return _REDUCTIONS[value]
    return value if _fits(kind, value, takes_numbers) else _NO_FIT


def _fitted_list(kind: str, value: Any, name: str) -> Any:
    inner, size = kind[: kind.rindex("[")], _SIZED.search(kind)
    if size and _fits(inner, value, False):
        return [value] * int(size[1])
    if not isinstance(value, (list, tuple)):
        return _NO_FIT
    found = [_fitted(inner, each, False, name) for each in value]
    return _NO_FIT if any(each is _NO_FIT for each in found) else found


def _fits(kind: str, value: Any, takes_numbers: bool) -> bool:
    if kind == "Tensor":
        return isinstance(value, Tensor) or (takes_numbers and isinstance(value, (int, float, complex)))
    if kind in ("int", "SymInt"):
        return _is_whole(value)
    if kind == "bool":
        return isinstance(value, bool)
    expected = _KINDS.get(kind)
    return expected is None or isinstance(value, expected)


_KINDS: dict[str, Any] = {
    "Scalar": (int, float, complex, np.number), "float": (int, float, np.number), "str": str, "ScalarType": dtype,
    "Device": (device, str, int),
}  # fmt: skip


def _shortened(schema: Schema, given: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    positional = [a for a in schema.arguments if not a.keyword_only]
    while positional and _is_default(positional[-1], given[positional[-1].name]):
        positional.pop()
    named = {a.name: given[a.name] for a in schema.arguments if a.keyword_only}
    by_name = {a.name: a for a in schema.arguments}
    kwargs = {name: _as_shown(name, x) for name, x in named.items() if not _is_default(by_name[name], x)}
    return tuple(given[a.name] for a in positional), kwargs


def _as_shown(name: str, value: Any) -> Any:
    return device(value) if name == "device" else value


def _is_default(argument: Argument, value: Any) -> bool:
    default = argument.default
    if default is Argument.default or isinstance(value, Tensor):
        return False
    if "float" in argument.kind and isinstance(value, (int, float)) and default is not None:
        return float(value) == float(default)
    if isinstance(value, list) and isinstance(default, int):  # for each of the sizes
        return value == [default] * len(value)
    if default == "contiguous_format":
        return str(value).endswith(default)
    return type(value) is type(default) and bool(value == default)
