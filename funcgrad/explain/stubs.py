"""Writes the type stubs that editors and pyright read, from the table and from the hand-written functions.

`python -m funcgrad.explain.stubs` writes `funcgrad/__init__.pyi`, `_tensor/tensor.pyi` and `nn/functional.pyi`;
`--check` exits with 1 where one is out of date.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import funcgrad._ops
from funcgrad._base import dtypes
from funcgrad._ops.table import Op, Parameter
from funcgrad._tensor import front, functions, legacy, methods, overloads

PACKAGE = Path(funcgrad._ops.__file__).parent.parent
_TYPES = {
    "Array": "Tensor | complex", "Mask": "Tensor", "Indices": "Tensor", "Arrays": "Sequence[Tensor]", "Scalar": "complex",
    "Index": "int", "Dims": "int | Sequence[int]", "DType": "dtype",
}  # fmt: skip
_SHADOWED = ("bool", "complex", "device", "dtype", "float", "int")  # types that are also functions, methods or dtypes
_KNOWN = {"Any", "Tensor", "bool", "complex", "float", "int", "str", "None", "dtype", "Sequence", "tuple", "list"}
_HEADER = '''"""Written by `python -m funcgrad.explain.stubs`; do not edit."""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from funcgrad._base.devices import device as _device
from funcgrad._base.dtypes import dtype as _dtype
'''


def typed(parameter: Parameter, *, first: bool = False) -> str:
    """Return the public type of one parameter of a row."""
    if first and parameter.kind == "Array":
        return "Tensor"
    word = _TYPES.get(parameter.kind, parameter.kind)
    word = word if set(re.findall(r"\w+", word)) <= _KNOWN else "Any"
    return _safe(f"{word} | None" if parameter.optional and word != "Any" else word)


def _safe(annotation: str) -> str:
    """Return a type in the words of the stub, where `int` may be a method and `float` a dtype."""
    return re.sub(rf"(?<![\w.])({'|'.join(_SHADOWED)})\b", r"_\1", annotation)


def signature(form: front.Form) -> str:
    """Return `(input: Tensor, dim: int, ...) -> Tensor` for one public place of a row."""
    spread, words, marked = form._spread(), [], False
    for i, p in enumerate(form._parameters()):
        if p is spread:
            words.append(f"*{p.name}: {typed(p)}")
            marked = True
            continue
        if p.keyword_only and not marked:
            words.append("*")
            marked = True
        name = "self" if form.is_method and i == 0 else f"{p.name}: {typed(p, first=i == 0)}"
        words.append(name if p.is_required else f"{name} = ...")
    if form.takes_inplace:
        words.insert(words.index("*") if "*" in words else len(words), "inplace: _bool = ...")
    if form.takes_out:
        words += ["out: Any = ..."] if marked else ["*", "out: Any = ..."]
    return f"({', '.join(words)}) -> {result_of(form.op)}"


def result_of(op: Op) -> str:
    """Return the public type of a row's result."""
    if op.results:
        return f"_{op.name}_result"
    return "tuple[Tensor, ...]" if str(op.function.__annotations__.get("return")).startswith("tuple") else "Tensor"


def named_tuples() -> list[str]:
    """Return the declarations of the named tuples that rows return."""
    lines = []
    for op in sorted(set(front.places().values()) | _internal_rows(), key=lambda op: op.name):
        if op.results:
            fields = "\n".join(f"    {field}: Tensor" for field in op.results)
            lines.append(f"class _{op.name}_result(NamedTuple):\n{fields}\n")
    return lines


def _internal_rows() -> set[Op]:
    return {op for op in front.TABLE.values() if op.results}


def hand_written(name: str, function: Any, *, method: bool) -> str:
    """Return the stub of a function written by hand; types that the stub does not import become Any."""
    if isinstance(function, property):
        return f"@property\ndef {name}(self) -> Any: ..."
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return f"def {name}({'self, ' if method else ''}*args: Any, **kwargs: Any) -> Any: ..."
    words, marked = [], False
    for i, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL or (p.kind is p.KEYWORD_ONLY and not marked):
            marked = True
            if p.kind is p.KEYWORD_ONLY:
                words.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        note = "" if method and i == 0 else f": {_plain(p.annotation)}"
        own = "self" if method and i == 0 else p.name
        words.append(f"{stars}{own}{note}{'' if p.default is p.empty else ' = ...'}")
    returned = inspect.signature(function).return_annotation
    return f"def {name}({', '.join(words)}) -> {_plain(returned)}: ..."


def _plain(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else "Any"
    return _safe(text) if set(re.findall(r"[A-Za-z_]\w*", text)) <= _KNOWN else "Any"


def tensor_stub() -> str:
    """Return the stub of `_tensor/tensor.py`: what stands in its source, and all installed methods."""
    source = PACKAGE / "_tensor" / "tensor.py"
    tree = ast.parse(source.read_text())
    lines = [_HEADER, "\n".join(ast.unparse(n) for n in tree.body if _is_import(n)), *named_tuples()]
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            lines.append(_class_stub(node))
        elif isinstance(node, ast.FunctionDef):
            lines.append(_emptied(node))
        elif isinstance(node, ast.Assign):
            lines += [f"{target.id}: Any" for target in node.targets if isinstance(target, ast.Name)]
    return "\n".join(lines) + "\n"


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__"


def _class_stub(node: ast.ClassDef) -> str:
    own = [_emptied(n) for n in node.body if isinstance(n, ast.FunctionDef) and n.name != "__getattr__"]
    own += [_safe(ast.unparse(n)) for n in node.body if isinstance(n, ast.AnnAssign)]
    if node.name == "Tensor":
        own.append("__dict__: dict[str, Any]")
        taken = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        own += list(_methods(taken))
    head = f"class {node.name}({', '.join(map(ast.unparse, node.bases))}):" if node.bases else f"class {node.name}:"
    return head + "\n" + _indented("\n".join(own) or "...")


def _methods(taken: set[str]) -> Iterable[str]:
    for name, function in sorted(methods.METHODS.items()):
        if name not in taken:
            ignored = "  # type: ignore[override]" if name in _UNLIKE_OBJECT else ""
            yield hand_written(name, function, method=True) + ignored
    for place, op in sorted(front.places().items()):
        name = place[1:]
        if place.startswith(".") and name not in methods.METHODS and name not in taken:
            decorator = "@property\n" if name in methods._PROPERTIES else ""
            ignored = "  # type: ignore[override]" if name in _UNLIKE_OBJECT else ""
            yield f"{decorator}def {name}{signature(front.Form(op, place))}: ...{ignored}"


_UNLIKE_OBJECT = ("__eq__", "__ne__", "__reduce_ex__")  # object's own return something else


def _emptied(node: ast.FunctionDef) -> str:
    empty = copy.deepcopy(node)
    empty.body = [ast.Expr(ast.Constant(...))]
    for argument in ast.walk(empty.args):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            argument.annotation = _safe_node(argument.annotation)
    empty.returns = None if empty.returns is None else _safe_node(empty.returns)
    return ast.unparse(ast.fix_missing_locations(empty))


def _safe_node(annotation: ast.expr) -> ast.expr:
    return ast.parse(_safe(ast.unparse(annotation)), mode="eval").body


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.splitlines())


def namespace(prefix: str, taken: set[str]) -> list[str]:
    """Return the stubs of the functions under a prefix that are not in `taken`."""
    start = f"{prefix}." if prefix else ""
    found = []
    for name in functions.names_under(prefix):
        if name in taken:
            continue
        place = f"{start}{name}"
        if place in overloads.FUNCTIONS:
            found.append(hand_written(name, overloads.FUNCTIONS[place], method=False))
        else:
            found.append(f"def {name}{signature(front.Form(front.places()[place], place))}: ...")
    return found


def module_stub(file: Path, prefix: str, extra: Iterable[str] = ()) -> str:
    """Return the stub of a module: its own imports and functions, and the table's under `prefix`."""
    tree = ast.parse(file.read_text())
    imports = [ast.unparse(n).replace("\n", " ") for n in tree.body if _is_import(n)]
    again = [_exported(line) for line in imports]
    defined = [_emptied(n) for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("__")]
    taken = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)} | _imported(tree)
    assigned = [t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    values = [f"{name}: Any" for name in assigned if name not in taken]
    body = namespace(prefix, taken | set(assigned))
    tuples = named_tuples()
    return "\n".join([_HEADER, *again, *extra, *tuples, *values, *defined, *body]) + "\n"


def _exported(line: str) -> str:
    if not line.startswith("from ") or " as " in line or line.endswith("*"):
        return line
    head, _, names = line.partition(" import ")
    return f"{head} import {', '.join(f'{n.strip()} as {n.strip()}' for n in names.split(','))}"


def _imported(tree: ast.Module) -> set[str]:
    return {a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}


def front_door_extra() -> list[str]:
    """Return what the front door sets by name: dtypes, old types, rooms."""
    rooms = ("accelerator", "autograd", "backends", "cuda", "linalg", "nn", "optim", "serialization", "special", "utils",
             "version", "explain")  # fmt: skip
    lines = [f"from funcgrad import {room} as {room}" for room in rooms]
    lines += ["from funcgrad.serialization import load as load, save as save", "from funcgrad.compiling import compile as compile"]
    lines += ["from funcgrad._tensor.tensor import Tensor as Tensor"]
    lines += [f"{name}: _dtype" for name in sorted({d.name for d in dtypes.ALL} | set(dtypes.ALIASES))]
    return lines + [f"{name}: Any" for name in legacy.TYPES]


def stubs() -> dict[Path, str]:
    """Return every stub file and its text."""
    return {
        PACKAGE / "_tensor" / "tensor.pyi": tensor_stub(),
        PACKAGE / "__init__.pyi": module_stub(PACKAGE / "__init__.py", "", front_door_extra()),
        PACKAGE / "nn" / "functional.pyi": module_stub(PACKAGE / "nn" / "functional.py", "nn.functional"),
    }


def main(arguments: list[str]) -> int:
    """Write the stubs, or check that they are up to date."""
    outdated = [path for path, text in stubs().items() if not path.exists() or path.read_text() != text]
    if "--check" in arguments:
        print("\n".join(f"out of date: {path.relative_to(PACKAGE)}" for path in outdated) or "the stubs are up to date")
        return bool(outdated)
    for path in outdated:
        path.write_text(stubs()[path])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
