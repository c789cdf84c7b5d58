"""Writes the type stubs that editors and pyright read, from the table and from the hand-written functions.

`python -m funcgrad.explain.stubs` writes those that are out of date; with `--check` it names them and exits with 1.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from inspect import Parameter, Signature
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, NamedTuple

from funcgrad._base import dtypes, unheld_dtypes
from funcgrad._base.dtypes import dtype
from funcgrad._base.size import Size
from funcgrad._ops import table
from funcgrad._ops.table import TABLE, Op
from funcgrad._tensor import creation, front, functions, legacy, methods, tensor
from funcgrad._tensor.registry import FUNCTIONS
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain.declarations import Stub, method
from funcgrad.explain.fronts import OVERLOADS

PACKAGE = Path(table.__file__).parent.parent
_INDENT = "    "

# What the words in a row's signature are for its caller, and the types of parameters that all rows of a kind have
_GIVEN = {
    "Array": "Tensor", "Operand": "Tensor | complex", "Mask": "Tensor", "Indices": "Tensor",
    "Arrays": "Sequence[Tensor]", "Scalar": "complex", "Index": "int", "Dims": "int | Sequence[int]",
    "DType": "dtype",
}  # fmt: skip
_BESIDE = {"inplace": "bool", "keepdims": "bool | None", "out": "Any"}
_UNLIKE_OBJECT = {"__eq__", "__ne__", "__reduce_ex__"}
_RESULTS = {op.name: type(f"_{op.name.title().replace('_', '')}Result", (), {}) for op in TABLE.values() if op.results}
_HOMES: dict[Any, str] = dict.fromkeys((Tensor, tensor._Methods, *_RESULTS.values()), tensor.__name__)
_SCOPE: dict[str, Any] = _RESULTS | {
    "Any": Any, "Literal": Literal, "Sequence": Sequence, "Size": Size, "Tensor": Tensor, "dtype": dtype,
}  # fmt: skip


def stubs() -> dict[Path, str]:
    """Return every stub file and its text."""
    written = {PACKAGE / "_tensor" / "tensor.pyi": tensor_stub(), PACKAGE / "__init__.pyi": front_door_stub()}
    for prefix in ("nn.functional", "linalg", "special", "fft"):
        path = Path(inspect.getfile(importlib.import_module(f"{PACKAGE.name}.{prefix}")))
        written[path.with_suffix(".pyi")] = namespace_stub(path, prefix)
    return written


def main(arguments: Sequence[str]) -> int:
    """Write the stubs, or check that they are up to date."""
    outdated = {path: text for path, text in stubs().items() if not path.exists() or path.read_text() != text}
    for path, text in outdated.items():
        if "--check" in arguments:
            print(f"out of date: {path.relative_to(PACKAGE)}")
        else:
            path.write_text(text)
    return int(bool(outdated) and "--check" in arguments)


# Signatures


def row_signatures(place: str) -> list[Signature]:
    """Return the signatures of a public place of a row: two where sizes go one by one, or as a sequence by keyword."""
    op = front.places()[place]
    types = _BESIDE | {p.name: _given(op, p.name) for p in op.parameters}
    types["axis"] = f"{types.get('dim', 'int').removesuffix(' | None')} | None"
    parameters = list(inspect.signature(front.made(place)).parameters.values())
    typed = [p.replace(annotation=types[p.name]) for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
    forms = [typed] if len(typed) == len(parameters) else [typed, _by_keyword(typed)]
    return [Signature(form, return_annotation=_result(op)) for form in forms]


def _given(op: Op, name: str) -> str:
    """Return the type of a row's parameter."""
    return re.sub(r"\b[A-Za-z]+\b", lambda word: _GIVEN.get(word[0], word[0]), op.function.__annotations__[name])


def _by_keyword(parameters: Iterable[Parameter]) -> list[Parameter]:
    return [p.replace(kind=p.KEYWORD_ONLY) if p.kind is p.VAR_POSITIONAL else p for p in parameters]


def _result(op: Op) -> str:
    """Return the type of a row's result; where an option adds indices to it, that without them, as torch's stubs do."""
    if op.results:
        return op.name
    return "tuple[Tensor, ...]" if op.function.__annotations__["return"].startswith("tuple") else "Tensor"


def _written_as(function: FunctionType) -> str:
    """Return the name that it was given: where functions ask, it has its public one."""
    return getattr(function, "_written_as", function.__name__)


def signatures(function: FunctionType) -> list[Signature]:
    """Return the signatures of a hand-written function: `fronts` has those that return one thing or another."""
    if _written_as(function) in OVERLOADS:
        return [_parsed(text) for text in OVERLOADS[_written_as(function)]]
    found = inspect.signature(function)
    if found.return_annotation is Signature.empty:
        found = found.replace(return_annotation=_answer(function))
    return [found]


def _parsed(text: str) -> Signature:
    scope: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef parsed{text}: ...", scope)
    return inspect.signature(scope["parsed"])


def _answer(function: FunctionType) -> type:
    """Return the type of what a lambda, which cannot say it, returns for a tensor."""
    return type(function(creation.zeros(())))


# The class Tensor


def tensor_stub() -> str:
    """Return the stub of `_tensor/tensor.py`, with the named tuples of the rows."""
    stub = Stub(tensor.__name__, _HOMES, {*methods.method_names(), *vars(Tensor)})
    for row, kind in sorted(_RESULTS.items()):
        fields = dict.fromkeys(TABLE[row].results or (), "Tensor")
        _declare_class(stub, f"{kind.__name__}({stub.name_of(NamedTuple)})", fields)
    _declare_class(stub, "_Methods(type)", tensor._Methods.__annotations__)
    _declare_class(stub, "Tensor", _annotations_of("Tensor"))
    _declare_members(stub)
    for slot in ("ALIAS", "VARIABLE", "WRITES"):
        stub.line(f"{slot}: {stub.name_of(Any)}")
    _declare_function(stub, "variables_of", tensor.variables_of)
    return stub.text()


def _declare_class(stub: Stub, head: str, attributes: dict[str, str]) -> None:
    stub.line(f"class {head}:")
    for name, annotation in attributes.items():
        stub.line(f"{_INDENT}{name}: {stub.annotation(annotation, vars(tensor))}")
    stub.line()


def _annotations_of(name: str) -> dict[str, str]:
    """Return the annotations in a class of `tensor`, those included that stand there for type checkers only."""
    file = ast.parse(inspect.getsource(tensor))
    (found,) = (node for node in file.body if isinstance(node, ast.ClassDef) and node.name == name)
    blocks = [found, *(node for node in ast.iter_child_nodes(found) if isinstance(node, ast.If))]
    fields = [node for block in blocks for node in ast.iter_child_nodes(block) if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(node.target): ast.unparse(node.annotation) for node in fields}


def _declare_members(stub: Stub) -> None:
    """Declare Tensor's properties and methods: its own, those installed on it, and the table's."""
    own = {name: value for name, value in vars(Tensor).items() if not _is_made(name, value)}
    rows = {place[1:] for place in front.places() if place.startswith(".")} - set(own)
    for name in sorted(rows | set(own) - {"__getattr__", *_annotations_of("Tensor")}):
        if name in rows:
            mark = "property" if name in methods.PROPERTIES else ""
            _declare_methods(stub, name, row_signatures(f".{name}"), _SCOPE, mark)
        else:
            _declare_member(stub, name, own[name])
    stub.line()


def _is_made(name: str, value: Any) -> bool:
    """Tell whether this is the table's method, which came to stand on the class when it was first used."""
    place = f".{name}"
    return place in front.places() and getattr(value, "fget", value) is front.made(place)


def _declare_member(stub: Stub, name: str, value: Any) -> None:
    if isinstance(value, property):
        is_read_only = getattr(value.fset, "__annotations__", {}).get("return") == "NoReturn"
        setter = None if is_read_only else value.fset
        parts = {"property": value.fget, f"{name}.setter": setter, f"{name}.deleter": value.fdel}
        for mark, function in parts.items():
            if isinstance(function, FunctionType):
                _declare_methods(stub, name, signatures(function), function.__globals__, mark)
    elif isinstance(value, FunctionType):
        _declare_methods(stub, name, signatures(value), _scope_of(value))
    elif isinstance(value, (staticmethod, classmethod)):
        function, mark = value.__func__, "" if name == "__new__" else type(value).__name__
        stub.function(name, signatures(function), function.__globals__, indent=_INDENT, mark=mark)


def _declare_methods(stub: Stub, name: str, forms: list[Signature], scope: dict[str, Any], mark: str = "") -> None:
    comment = "  # type: ignore[override]  # object's own is another" if name in _UNLIKE_OBJECT else ""
    stub.function(name, [method(form) for form in forms], scope, indent=_INDENT, mark=mark, comment=comment)


def _declare_function(stub: Stub, name: str, function: FunctionType) -> None:
    stub.function(name, signatures(function), _scope_of(function))


def _scope_of(function: FunctionType) -> dict[str, Any]:
    return _SCOPE if _written_as(function) in OVERLOADS else inspect.unwrap(function).__globals__


# Modules


def front_door_stub() -> str:
    """Return the stub of `funcgrad` itself: with its rooms, which it loads when they are asked for, and the dtypes."""
    path = PACKAGE / "__init__.py"
    rooms = dict.fromkeys(_literal(path, "_ROOMS"), PACKAGE.name)
    names_in = _literal(path, "_NAMES_IN").items()
    elsewhere = {name: f"{PACKAGE.name}.{room}" for room, names in names_in for name in names}
    kinds = {d.name for d in dtypes.ALL} | {*dtypes.ALIASES, *unheld_dtypes.BY_NAME, *legacy.TYPES}
    return namespace_stub(path, "", rooms | elsewhere, kinds)


def _literal(path: Path, name: str) -> Any:
    """Return a constant from the source of a module."""
    assigned = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Assign)]
    return next(ast.literal_eval(node.value) for node in assigned if name in map(ast.unparse, node.targets))


def namespace_stub(path: Path, prefix: str, rooms: dict[str, str] | None = None, values: Set[str] = frozenset()) -> str:
    """Return the stub of a module: what it takes from elsewhere, what it defines, and the table's under `prefix`."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    module, tree = importlib.import_module(name), ast.parse(path.read_text())
    exports = _exports(tree, getattr(module, "__all__", None))
    made = {word for word in exports if _is_made_elsewhere(word, getattr(module, word))}
    exports = {word: home for word, home in exports.items() if word not in made} | (rooms or {})
    own = {name for node in tree.body for name in _defined(node)} | values | made
    rows = set(functions.names_under(prefix)) - own - set(exports)
    here = {kind: name for word in exports if isinstance(kind := vars(module).get(word), type)}
    stub = Stub(name, _HOMES | here, {*own, *rows, *exports})
    for word, home in sorted(exports.items()):
        stub.export(home, word)
    for word in sorted(own):
        _declare_value(stub, word, getattr(module, word))
    for word in sorted(rows):
        _declare_place(stub, f"{prefix}.{word}".removeprefix("."))
    return stub.text()


def _is_made_elsewhere(name: str, value: Any) -> bool:
    """Tell whether a function was made by another, as `zeros` is: checkers do not see its signature at its home."""
    return isinstance(value, FunctionType) and inspect.unwrap(value).__code__.co_name != name


def _exports(tree: ast.Module, public: Sequence[str] | None) -> dict[str, str]:
    """Return what a module imports for others, and from where: what its __all__ names, or all without an underscore."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            words = [alias.asname or alias.name for alias in node.names]
            words = importlib.import_module(node.module).__all__ if words == ["*"] else words
            found.update((word, node.module) for word in words if not word.startswith("_"))
    return {word: home for word, home in found.items() if public is None or word in public}


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the public names that a statement defines."""
    names = [node.name] if isinstance(node, ast.FunctionDef) else [target.id for target in _targets(node)]
    yield from (name for name in names if name == "__version__" or not name.startswith("_"))


def _targets(node: ast.stmt) -> list[ast.Name]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def _declare_value(stub: Stub, name: str, value: Any) -> None:
    if isinstance(value, FunctionType):
        _declare_function(stub, name, value)
    else:
        stub.line(f"{name}: {stub.name_of(Any if isinstance(value, type) else type(value))}")


def _declare_place(stub: Stub, place: str) -> None:
    """Declare a function of the table, or the hand-written one that has taken its place."""
    name = place.rpartition(".")[2]
    if place in FUNCTIONS:
        _declare_value(stub, name, FUNCTIONS[place])
    else:
        stub.function(name, row_signatures(place), _SCOPE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
