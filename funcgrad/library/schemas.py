"""Schemas of operators: "(Tensor x, int k=2, *, float s) -> Tensor", read from text or a function's annotations."""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype
from funcgrad._tensor.tensor import Tensor
from funcgrad.library.arguments import converted, kind_word

_KINDS = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", dtype: "ScalarType", device: "Device",
    int | float | bool: "Scalar", type(None): "()",
}  # fmt: skip
_MISSING = inspect.Parameter.empty
_ARGUMENT = re.compile(r"(?P<kind>[\w.]+(?:\(\w*!?\))?[\[\]\d?!]*)\s+(?P<name>\w+)(?:\s*=\s*(?P<default>.+))?")


@dataclass(frozen=True)
class Argument:
    """One argument. writes: the operator changes it in place."""

    name: str
    kind: str
    default: Any = _MISSING
    keyword_only: bool = False
    writes: bool = False


@dataclass(frozen=True)
class Schema:
    """An operator's name, its arguments, and the text after the arrow. overload_name: "" for the only one."""

    name: str
    arguments: tuple[Argument, ...]
    results: str
    overload_name: str = ""

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return all arguments, the positional ones in order and the keyword-only ones by name.

        RuntimeError: one is missing, unknown, given twice, or not of the kind that is expected.
        """
        positional = [a for a in self.arguments if not a.keyword_only]
        if len(args) > len(positional):
            raise RuntimeError(
                f"{self.name}() expected at most {len(positional)} argument(s) but received {len(args)} argument(s). "
                f"Declaration: {self}"
            )
        given = dict(zip((a.name for a in positional), args, strict=False))
        for name, value in kwargs.items():
            if name in given or name not in {a.name for a in self.arguments}:
                word = "got multiple values for" if name in given else "Unknown keyword"
                raise RuntimeError(f"{self.name}() {word} argument '{name}'. Declaration: {self}")
            given[name] = value
        for place, argument in enumerate(self.arguments):
            given[argument.name] = self._checked(argument, place, given.get(argument.name, argument.default))
        return [given[a.name] for a in positional], {a.name: given[a.name] for a in self.arguments if a.keyword_only}

    def _checked(self, argument: Argument, place: int, value: Any) -> Any:
        if value is _MISSING:
            raise RuntimeError(f"{self.name}() is missing value for argument '{argument.name}'. Declaration: {self}")
        try:
            return converted(argument.kind, value)
        except TypeError as error:
            raise RuntimeError(
                f"{self.name}() Expected a value of type '{kind_word(argument.kind)}' for argument '{argument.name}' "
                f"but instead found type '{type(value).__name__}'.\nPosition: {place}\nValue: {value!r}\n"
                f"Declaration: {self}\nCast error details: {error}"
            ) from None

    def __str__(self) -> str:
        """Return it as torch writes it, with the name."""
        overload = f".{self.overload_name}" if self.overload_name else ""
        return f"{self.name}{overload}{signature_text(self.arguments)} -> {self.results}"


def signature_text(arguments: Iterable[Argument]) -> str:
    """Return the arguments in brackets."""
    written, starred = [], False
    for place, argument in enumerate(arguments):
        if argument.keyword_only and not starred:
            written.append("*")
            starred = True
        written.append(_argument_text(argument, place))
    return f"({', '.join(written)})"


def _argument_text(argument: Argument, place: int) -> str:
    kind = argument.kind.replace("Tensor", f"Tensor(a{place}!)", 1) if argument.writes else argument.kind
    if argument.default is _MISSING:
        return f"{kind} {argument.name}"
    default = f'"{argument.default}"' if isinstance(argument.default, str) else argument.default
    return f"{kind} {argument.name}={default}"


def read(name: str, text: str, overload_name: str = "") -> Schema:
    """Read "(Tensor x, int k=2) -> Tensor". RuntimeError: it is no schema."""
    arguments, arrow, results = text.strip().rpartition("->")
    inside = arguments.strip()
    if not arrow or not inside.startswith("(") or not inside.endswith(")"):
        raise RuntimeError(f"expected a schema like '(Tensor x, int k=2) -> Tensor' for {name}, got {text!r}")
    found, keyword_only = [], False
    for part in _split(inside[1:-1]):
        if part == "*":
            keyword_only = True
            continue
        matched = _ARGUMENT.fullmatch(part)
        if matched is None:
            raise RuntimeError(f"{part!r} is no argument of a schema ({name}{text})")
        kind, default = matched["kind"], matched["default"]
        plain = re.sub(r"\(\w*!?\)", "", kind)
        found.append(Argument(matched["name"], plain, _default(default), keyword_only, "!" in kind))
    return Schema(name, tuple(found), results.strip(), overload_name)


def _split(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _default(text: str | None) -> Any:
    if text is None:
        return _MISSING
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except ValueError:
        return text  # a word: contiguous_format, Mean


def infer(function: Callable[..., Any], mutates_args: str | Iterable[str], name: str = "") -> Schema:
    """Read the schema from a function's annotations. ValueError: one is missing, or a type that no operator takes."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)

    def refuse(what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    found = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise refuse("We do not support varargs (*args) or kwargs (**kwargs).")
        if parameter.annotation is _MISSING:
            raise refuse(f"Parameter {parameter.name} must have a type annotation.")
        kind = _kind(hints[parameter.name])
        if kind is None:
            raise refuse(f"Parameter {parameter.name} has unsupported type {parameter.annotation}.")
        writes = "Tensor" in kind if mutates_args == "unknown" else parameter.name in tuple(mutates_args)
        alone = parameter.kind is parameter.KEYWORD_ONLY
        found.append(Argument(parameter.name, kind, parameter.default, alone, writes))
    unknown = set() if mutates_args == "unknown" else set(mutates_args) - set(signature.parameters)
    if unknown:
        raise refuse(f"{unknown} in mutates_args are no arguments.")
    if signature.return_annotation is _MISSING:
        raise refuse("No return type annotation was provided. Please add one.")
    results = _results(hints["return"])
    if results is None:
        raise refuse(f"Return has unsupported type {signature.return_annotation}.")
    return Schema(name, tuple(found), results)


def _kind(hint: Any) -> str | None:
    """Return the schema's word for a type; None where there is none."""
    if hint in _KINDS and hint is not type(None):
        return _KINDS[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if set(arguments) == {int, float, bool}:
            return "Scalar"
        inner = [a for a in arguments if a is not type(None)]
        word = _kind(inner[0]) if len(inner) == 1 and len(arguments) == 2 else None
        return word and f"{word}?"
    if origin is not None and issubclass(origin, Sequence) and arguments:
        word = _kind(arguments[0])
        return word and f"{word}[]"
    return None


def _results(hint: Any) -> str | None:
    if hint is type(None):
        return "()"
    if typing.get_origin(hint) is tuple:
        words = [_kind(each) for each in typing.get_args(hint)]
        return None if None in words else f"({', '.join(map(str, words))})"
    return _kind(hint)
