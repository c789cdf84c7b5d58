"""What a scripted function takes: its annotations are types there, to which arguments are cast, or they are refused."""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad._tensor.tensor import Tensor

_NO_TENSORS = (bool, int, float, complex, str, list, tuple, dict, type(None))
_OLD_TYPE = re.compile(r"# *type:(?! *ignore)")
_UNIONS = (typing.Union, types.UnionType)
_MISSING = inspect.Parameter.empty
_Cast = Callable[[Any], Any]


class _UnfitError(Exception):
    """What cannot be cast to the type of a parameter."""


def typed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with arguments cast as TorchScript casts them: 3 is 3.0 for a float, lists are copied.

    RuntimeError, when it is called, for an argument of another type, one too many, or one that lacks. A function whose
    types are not told by annotations that can be read, or that takes any number of arguments, is returned as it is.
    """
    try:
        signature = _Signature(function)
    except (TypeError, ValueError, NameError, AttributeError):  # of an annotation that names what is not there
        return function
    if not signature.is_typed:
        return function

    @functools.wraps(function)
    def with_cast_arguments(*args: Any, **kwargs: Any) -> Any:
        return function(*signature.cast(args, kwargs))

    return with_cast_arguments


class _Signature:
    """The parameters of a function, each with its type and what casts to it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name, self.function = function.__name__, function
        self.parameters = list(inspect.signature(function).parameters.values())
        hints = typing.get_type_hints(function)
        self.owner = self.parameters[0].name if _is_method(function) and self.parameters else ""
        self.hints = [hints.get(p.name, _MISSING) for p in self.parameters]
        self.result = hints.get("return", _MISSING)
        self.is_typed = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in self.parameters) and not _has_old_types(function)
        self.casts = [
            _as_it_is if p.name == self.owner else _inferred if hint is _MISSING else _cast_to(hint)
            for p, hint in zip(self.parameters, self.hints, strict=True)
        ]

    def cast(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """Return all arguments in order, cast. RuntimeError: see `typed`."""
        if len(args) > len(self.parameters):
            raise RuntimeError(
                f"{self.name}() expected at most {len(self.parameters)} argument(s) but received "
                f"{len(args)} argument(s). Declaration: {self}"
            )
        for name in kwargs:
            places = [place for place, p in enumerate(self.parameters) if p.name == name]
            if not places:
                raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self}")
            if places[0] < len(args):
                raise RuntimeError(
                    f"Argument '{name}' specified both as positional and keyword argument. Schema: {self}"
                )
        found = []
        for place, (parameter, cast) in enumerate(zip(self.parameters, self.casts, strict=True)):
            if place < len(args) or parameter.name in kwargs:
                found.append(self._cast_one(place, cast, args[place] if place < len(args) else kwargs[parameter.name]))
            elif parameter.default is _MISSING:
                raise RuntimeError(
                    f"{self.name}() is missing value for argument '{parameter.name}'. Declaration: {self}"
                )
            else:
                found.append(parameter.default)
        return found

    def _cast_one(self, place: int, cast: _Cast, given: Any) -> Any:
        try:
            return cast(given)
        except _UnfitError:
            name, hint = self.parameters[place].name, self.hints[place]
            kind = "Tensor (inferred)" if hint is _MISSING else _annotated(hint)
            why = f"Inferred '{name}' to be of type 'Tensor' because it was not annotated with an explicit type.\n"
            raise RuntimeError(
                f"{self.name}() Expected a value of type '{kind}' for argument '{name}' but instead found type "
                f"'{type(given).__name__}'.\n{why * (hint is _MISSING)}Position: {place}\nValue: {given!r}\n"
                f"Declaration: {self}"
            ) from None

    def __str__(self) -> str:
        shown = [self._declared(p, hint) for p, hint in zip(self.parameters, self.hints, strict=True)]
        result = "" if self.result is _MISSING else f" -> {_declared(self.result)}"
        return f"{self.name}({', '.join(shown)}){result}"

    def _declared(self, parameter: inspect.Parameter, hint: Any) -> str:
        if parameter.name == self.owner:
            return f"__torch__.{self.function.__qualname__.split('.')[-2]} {parameter.name}"
        kind = "Tensor" if hint is _MISSING else _declared(hint)
        default = "" if parameter.default is _MISSING else f"={_default(parameter.default)}"
        return f"{kind} {parameter.name}{default}"


def _is_method(function: Callable[..., Any]) -> bool:
    return "." in function.__qualname__ and function.__qualname__.split(".")[-2] != "<locals>"


def _has_old_types(function: Callable[..., Any]) -> bool:
    """Tell whether a comment has the types, as in Python 2, or the source cannot be looked at."""
    try:
        return _OLD_TYPE.search(inspect.getsource(function)) is not None
    except (OSError, TypeError):
        return True


def _cast_to(hint: Any) -> _Cast:
    """Return what casts to a type; what is no type of numbers, words and containers of these is left alone."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS and len(parts) == 2 and type(None) in parts:
        inner = _cast_to(next(part for part in parts if part is not type(None)))
        return lambda given: None if given is None else inner(given)
    if origin is list:
        return functools.partial(_as_list, _cast_to(parts[0]))
    if origin is tuple and ... not in parts:
        return functools.partial(_as_tuple, [_cast_to(part) for part in parts])
    if origin is dict:
        return functools.partial(_as_dict, _cast_to(parts[0]), _cast_to(parts[1]))
    return _as_it_is


def _as_it_is(given: Any) -> Any:
    return given


def _as_tensor(given: Any) -> Any:
    if isinstance(given, _NO_TENSORS):
        raise _UnfitError
    return given


def _inferred(given: Any) -> Any:
    """Cast to what a parameter without annotation has: a tensor."""
    return _as_tensor(given)


def _as_float(given: Any) -> float:
    if isinstance(given, (int, float, np.number)) or _is_one(given):
        return float(given)
    raise _UnfitError


def _as_int(given: Any) -> int:
    if isinstance(given, (int, np.integer)) or _is_one(given):
        return int(given)
    raise _UnfitError


def _as_bool(given: Any) -> bool:
    if given is None or isinstance(given, (int, float, np.number, np.bool_)) or _is_one(given):
        return bool(given)
    raise _UnfitError


def _as_str(given: Any) -> str:
    if isinstance(given, str):
        return given
    raise _UnfitError


def _is_one(given: Any) -> bool:
    return isinstance(given, Tensor) and given.numel() == 1


def _as_list(cast: _Cast, given: Any) -> list[Any]:
    if not isinstance(given, (list, tuple)):
        raise _UnfitError
    return [cast(x) for x in given]


def _as_tuple(casts: Sequence[_Cast], given: Any) -> tuple[Any, ...]:
    if not isinstance(given, (tuple, list)) or len(given) != len(casts):
        raise _UnfitError
    return tuple([cast(x) for cast, x in zip(casts, given, strict=True)])


def _as_dict(of_key: _Cast, of_value: _Cast, given: Any) -> dict[Any, Any]:
    if not isinstance(given, dict):
        raise _UnfitError
    return {of_key(key): of_value(value) for key, value in given.items()}


_SIMPLE: dict[Any, _Cast] = {float: _as_float, int: _as_int, bool: _as_bool, str: _as_str, Tensor: _as_tensor}


def _annotated(hint: Any) -> str:
    """Write a type as Python does: Optional[List[int]]."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS and type(None) in parts:
        return f"Optional[{_annotated(next(part for part in parts if part is not type(None)))}]"
    if origin in (list, tuple, dict):
        return f"{origin.__name__.capitalize()}[{', '.join(map(_annotated, parts))}]"
    return str(getattr(hint, "__name__", hint))


def _declared(hint: Any) -> str:
    """Write a type as schemas do: int[]?"""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS and type(None) in parts:
        return f"{_declared(next(part for part in parts if part is not type(None)))}?"
    if origin is list:
        return f"{_declared(parts[0])}[]"
    if origin is tuple:
        return f"({', '.join(map(_declared, parts))})"
    if origin is dict:
        return f"Dict({', '.join(map(_declared, parts))})"
    return str(getattr(hint, "__name__", hint))


def _default(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value).removesuffix("0") if isinstance(value, float) else repr(value)
