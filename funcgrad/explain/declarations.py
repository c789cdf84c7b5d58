"""How a stub declares functions: their signatures in its own words, and the imports that these words need."""

from __future__ import annotations

import ast
import builtins
import math
import sys
from collections.abc import Container, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, overload

_WIDTH = 120
_TITLE = '"""Written by `python -m funcgrad.explain.stubs`; do not edit."""\n'
_BUILTIN = "builtins"


class Stub:
    """One stub in the making: what it declares, and what it must import to say so.

    module   the module that it describes.
    homes    where types are found that do not say so themselves; those of `module` need no import.
    taken    names that mean something else in the stub (a method `int`, a dtype `float`): a type of such a name is
             imported with an underscore before it.
    """

    def __init__(self, module: str, homes: Mapping[Any, str], taken: Container[str]) -> None:
        self._module, self._homes, self._taken = module, homes, taken
        self._imports: dict[str, set[str]] = {}  # by module: "name" or "name as alias"
        self._lines: list[str] = []

    def text(self) -> str:
        """Return the whole file."""
        imports = [_wrapped(f"from {home} import ", sorted(names), "") for home, names in sorted(self._imports.items())]
        return "\n".join([_TITLE, *imports, "", *self._lines, ""])

    def line(self, text: str = "") -> None:
        """Add a line as it is."""
        self._lines.append(text)

    def export(self, module: str, name: str) -> None:
        """Import a name for those who import it from here."""
        self._imports.setdefault(module, set()).add(f"{name} as {name}")

    def function(
        self, name: str, signatures: Sequence[Signature], scope: Mapping[str, Any], *, indent: str = "", mark: str = "",
        comment: str = "",
    ) -> None:  # fmt: skip
        """Add a function; of several signatures, each as an overload. Their types are looked up in `scope`.

        mark: a decorator. comment: what stands at the end of the first line.
        """
        mark = self.name_of(overload) if len(signatures) > 1 else mark
        for signature in signatures:
            if mark:
                self.line(f"{indent}@{mark}")
            result = self.annotation(signature.return_annotation, scope)
            parameters = self._parameters(signature, scope)
            self.line(_wrapped(f"{indent}def {name}(", parameters, f") -> {result}: ...", comment))

    def annotation(self, given: Any, scope: Mapping[str, Any]) -> str:
        """Return a type in the words of this stub; Any for what was not said or cannot be imported."""
        if isinstance(given, str):
            return ast.unparse(_Renamed(self, scope).visit(ast.parse(given, mode="eval").body))
        return self.name_of(Any if given is Signature.empty else given)

    def name_of(self, thing: Any) -> str:
        """Return what this stub calls a type, and import it."""
        if thing is None or thing is type(None):
            return "None"
        name = getattr(thing, "__name__", "").rpartition(".")[2]
        home = self._homes.get(thing, getattr(thing, "__module__", ""))
        if home == self._module:
            return name
        if thing not in self._homes and getattr(sys.modules.get(home), name, None) is not thing:
            return self.name_of(Any)
        alias = f"_{name}" if name in self._taken else name
        if home != _BUILTIN or alias != name:
            self._imports.setdefault(home, set()).add(name if alias == name else f"{name} as {alias}")
        return alias

    def _parameters(self, signature: Signature, scope: Mapping[str, Any]) -> list[str]:
        parameters = list(signature.parameters.values())
        words = [self._parameter(p, scope) for p in parameters]
        kinds = [p.kind for p in parameters]
        if Parameter.KEYWORD_ONLY in kinds and Parameter.VAR_POSITIONAL not in kinds:
            words.insert(kinds.index(Parameter.KEYWORD_ONLY), "*")
        if Parameter.POSITIONAL_ONLY in kinds:
            words.insert(kinds.count(Parameter.POSITIONAL_ONLY), "/")
        return words

    def _parameter(self, parameter: Parameter, scope: Mapping[str, Any]) -> str:
        if parameter.name in ("self", "cls"):
            return parameter.name
        stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        word = f"{stars}{parameter.name}: {self.annotation(parameter.annotation, scope)}"
        return word if parameter.default is Parameter.empty else f"{word} = {_default(parameter.default)}"


class _Renamed(ast.NodeTransformer):
    """Replaces the names in an annotation by those that a stub has for the same types."""

    def __init__(self, stub: Stub, scope: Mapping[str, Any]) -> None:
        self.stub, self.scope = stub, scope

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._renamed(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._renamed(ast.unparse(node))

    def _renamed(self, words: str) -> ast.expr:
        first, *rest = words.split(".")
        found = self.scope.get(first, getattr(builtins, first, Any))
        for word in rest:
            found = getattr(found, word, Any)
        return ast.Name(self.stub.name_of(found))


def method(signature: Signature) -> Signature:
    """Return the signature of a function that has become a method: its first parameter is `self`."""
    first, *others = signature.parameters.values()
    return signature.replace(parameters=[first.replace(name="self", kind=Parameter.POSITIONAL_OR_KEYWORD), *others])


def _default(given: Any) -> str:
    plain = given is None or isinstance(given, (bool, int, str)) or (isinstance(given, float) and math.isfinite(given))
    return repr(given) if plain else "..."


def _wrapped(head: str, words: list[str], tail: str, comment: str = "") -> str:
    """Return `head`, the words and `tail` on one line, or each word on its own where that would be too long."""
    one = f"{head}{', '.join(words)}{tail}{comment}"
    if len(one) <= _WIDTH:
        return one
    indent = " " * (len(head) - len(head.lstrip()))
    head, tail = (head, tail) if tail else (f"{head}(", ")")
    return "\n".join([f"{head}{comment}", *(f"{indent}    {word}," for word in words), f"{indent}{tail}"])
