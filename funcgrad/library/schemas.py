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
_KIND = r"(?P<kind>[\w.]+)(?:\((?P<alias>[^)]*)\))?(?P<many>[\[\]\d?!]*)"
_ARGUMENT = re.compile(rf"{_KIND}\s+(?P<name>\w+)(?:\s*=\s*(?P<default>.+))?")
_RESULT = re.compile(rf"{_KIND}(?:\s+(?P<name>\w+))?")


@dataclass(frozen=True)
class AliasInfo:
    """Which memory an argument or a result shares, as torch writes it. is_write: the operator changes it in place."""

    name: str

    @property
    def is_write(self) -> bool:
        """Whether the operator changes it in place."""
        return "!" in self.name


@dataclass(frozen=True)
class Argument:
    """One argument, or a result. alias: the memory that it shares, "a", or that the operator changes, "a!"."""

    name: str
    kind: str
    default: Any = _MISSING
    keyword_only: bool = False
    alias: str = ""

    @property
    def alias_info(self) -> AliasInfo | None:
        """What memory it shares with others; None where it shares none."""
        return AliasInfo(self.alias) if self.alias else None

    @property
    def writes(self) -> bool:
        """Whether the operator changes it in place."""
        return "!" in self.alias

    @property
    def kwarg_only(self) -> bool:
        """Whether it is given by its name alone."""
        return self.keyword_only

    @property
    def default_value(self) -> Any:
        """What it is where it is left out; None where it must be given."""
        return self.default if self.has_default_value() else None

    def has_default_value(self) -> bool:
        """Tell whether it may be left out."""
        return self.default is not _MISSING


@dataclass(frozen=True)
class Schema:
    """An operator's name, its arguments, and the text after the arrow. overload_name: "" for the only one."""

    name: str
    arguments: tuple[Argument, ...]
    results: str
    overload_name: str = ""

    @property
    def is_mutable(self) -> bool:
        """Whether the operator changes an argument in place."""
        return any(argument.writes for argument in self.arguments)

    @property
    def is_view(self) -> bool:
        """Whether a result shares the memory of an argument that stays as it is."""
        return any(argument.alias and not argument.writes for argument in self.arguments)

    @property
    def returns(self) -> list[Argument]:
        """The results, as arguments without defaults; "" is the name of one that has none."""
        several = self.results.startswith("(")
        found = map(_RESULT.fullmatch, _split(self.results[1:-1] if several else self.results))
        return [Argument(r["name"] or "", r["kind"] + r["many"], alias=r["alias"] or "") for r in found if r]

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
    for argument in arguments:
        if argument.keyword_only and not starred:
            written.append("*")
            starred = True
        written.append(_argument_text(argument))
    return f"({', '.join(written)})"


def _argument_text(argument: Argument) -> str:
    kind = argument.kind.replace("Tensor", f"Tensor({argument.alias})", 1) if argument.alias else argument.kind
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
        kind, default = matched["kind"] + matched["many"], _default(matched["default"])
        found.append(Argument(matched["name"], kind, default, keyword_only, matched["alias"] or ""))
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
        found.append(Argument(parameter.name, kind, parameter.default, alone, f"a{len(found)}!" if writes else ""))
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
