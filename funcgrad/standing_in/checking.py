"""Finds, without running it, every name of torch that a script uses and funcgrad lacks, with file and line."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from funcgrad.standing_in.places import TOPS


@dataclass(frozen=True, order=True)
class Missing:
    """A name that a script uses and funcgrad has not."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: funcgrad has no {self.name}"


def missing_names(path: str | Path) -> list[Missing]:
    """Return what the script, and the modules beside it that it imports, use of torch and funcgrad lacks.

    What one of them puts there itself (`nn.MaskedLinear = MaskedLinear`) is not missing. `install()` must have been
    called. Raises SyntaxError as the script itself would.
    """
    found: set[Missing] = set()
    given: set[str] = set()
    start = Path(path).resolve()
    waiting, seen = [start], {start}
    while waiting:
        file = waiting.pop()
        tree = ast.parse(file.read_bytes(), str(file))
        names = _Names(tree)
        found.update(Missing(_shown(file), line, name) for name, line in names.used if not exists(name))
        given |= names.given
        for local in _local_files(tree, file, start.parent):
            if local not in seen:
                seen.add(local)
                waiting.append(local)
    return sorted(missing for missing in found if not any(f"{missing.name}.".startswith(f"{name}.") for name in given))


def exists(name: str) -> bool:
    """Tell whether torch's dotted name leads to something here; below what is no module, nothing is asked."""
    words = name.split(".")
    found = None
    for count in range(1, len(words) + 1):
        place = ".".join(words[:count])
        if found is not None and not hasattr(found, "__spec__") and not hasattr(found, "__path__"):
            return True
        try:
            found = getattr(found, words[count - 1]) if hasattr(found, words[count - 1]) else import_module(place)
        except ImportError:
            return False
    return True


class _Names(ast.NodeVisitor):
    """The dotted names of torch's that a file uses, each with its line: imports, and chains that start at one.

    used: those that it reads. given: those that it assigns to.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.used: list[tuple[str, int]] = []
        self.given: set[str] = set()
        self.meaning: dict[str, str] = {}
        self.hidden: list[set[str]] = []
        self.guarded = 0
        for node in ast.walk(tree):
            self._read_import(node)
        self.visit(tree)

    def _read_import(self, node: ast.AST) -> None:
        """Learn which of the file's names stand for torch's."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    shown = alias.asname or alias.name.partition(".")[0]
                    self.meaning[shown] = alias.name if alias.asname else shown
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_ours(node.module or ""):
            for alias in node.names:
                if alias.name != "*":
                    self.meaning[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def _use(self, name: str, line: int) -> None:
        if not self.guarded:
            self.used.append((name, line))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if _is_ours(alias.name):
                self._use(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if not node.level and _is_ours(node.module or ""):
            for alias in node.names:
                self._use(f"{node.module}.{alias.name}" if alias.name != "*" else str(node.module), alias.lineno)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        words = _chain(node)
        if words is None:
            self.generic_visit(node)
            return
        meaning = self.meaning.get(words[0])
        if meaning is None or any(words[0] in names for names in self.hidden):
            return
        name = ".".join([meaning, *words[1:]])
        if isinstance(node.ctx, ast.Load):
            self._use(name, node.lineno)
        else:
            self.given.add(name)

    def visit_Try(self, node: ast.Try) -> None:
        """A name that may be missing, for the script is ready for that, is not reported."""
        ready = any(_catches_missing(handler) for handler in node.handlers)
        self.guarded += ready
        for statement in node.body:
            self.visit(statement)
        self.guarded -= ready
        for statement in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(statement)

    def visit_If(self, node: ast.If) -> None:
        """Nor is one under `if hasattr(torch, ...)`."""
        self._visit_choice(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Nor is one in `... if hasattr(torch, ...) else ...`."""
        self._visit_choice(node)

    def _visit_choice(self, node: ast.If | ast.IfExp) -> None:
        ready = any(isinstance(n, ast.Name) and n.id == "hasattr" for n in ast.walk(node.test))
        self.guarded += ready
        self.generic_visit(node)
        self.guarded -= ready

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for outside in (*node.decorator_list, node.args, *([node.returns] if node.returns else [])):
            self.visit(outside)
        self.hidden.append(_bound_in(node))
        for statement in node.body:
            self.visit(statement)
        self.hidden.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's own spelling


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in TOPS


def _chain(node: ast.expr) -> list[str] | None:
    """Return ["torch", "nn", "Linear"] of the expression torch.nn.Linear; None where it starts with something else."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [node.id, *reversed(words)] if isinstance(node, ast.Name) else None


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}
    return any(isinstance(kind, ast.Name) and kind.id in names for kind in kinds)


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names that a function binds itself, by parameters or assignments, not by imports."""
    bound = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return bound


def _local_files(tree: ast.AST, file: Path, root: Path) -> Iterator[Path]:
    """Yield the files beside the script that this file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files_of(alias.name.split("."), (root,))
        elif isinstance(node, ast.ImportFrom):
            words = (node.module or "").split(".") if node.module else []
            folders: Sequence[Path] = (file.parents[node.level - 1],) if node.level else (root,)
            yield from _files_of(words, folders)
            for alias in node.names:
                yield from _files_of([*words, alias.name], folders)


def _files_of(words: list[str], folders: Sequence[Path]) -> Iterator[Path]:
    if not words or words[0] in sys.stdlib_module_names:
        return
    for folder in folders:
        place = folder.joinpath(*words)
        for candidate in (place.with_suffix(".py"), place / "__init__.py"):
            if candidate.is_file():
                yield candidate.resolve()


def _shown(file: Path) -> str:
    """Return the path from where the user stands, if that is shorter."""
    here = Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
