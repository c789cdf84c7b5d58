"""The house keeps its floors: imports go down only, none is inside a function, and few rooms speak to jax and optax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import funcgrad

PACKAGE = Path(funcgrad.__file__).parent
FLOORS = (
    ("_base",),
    ("_ops",),
    ("_program",),
    ("_tape",),
    ("_tensor",),
    ("random", "profiler", "futures"),
    ("autograd",),
    (
        "amp",
        "fft",
        "hub_repositories",
        "linalg",
        "masked",
        "nested",
        "optim",
        "serialization",
        "signal",
        "sparse",
        "special",
        "utils",
    ),
    (
        "nn",
        "cuda",
        "version",
        "functional",
        "return_types",
        "storage",
        "types",
        "multiprocessing",
        "hub",
        "quasirandom",
        "library",
    ),
    (
        "accelerator",
        "backends",
        "cpu",
        "ops",
        "compiler_guards",
        "compiling",
        "distributed",
        "distributions",
        "func",
        "fx",
        "jit",
        "mps",
        "onnx",
        "overrides",
        "vision",
    ),
    ("ao", "dispatching"),
    ("__config__", "__future__", "capturing", "compiler", "export", "mtia", "quantization", "xpu"),
    ("explain", "graphs_explained", "testing", "standing_in"),
    ("__init__", "__main__"),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
MAY_IMPORT_JAX = {
    "_ops", "_program", "_tape", "_tensor", "random", "profiler", "optim", "cuda", "accelerator", "distributed",
    "func", "explain",
}  # fmt: skip
MAY_IMPORT_OPTAX = {"optim"}
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.fixture(scope="module", params=sorted({room_of(path) for path in FILES}))
def trees(request: pytest.FixtureRequest) -> dict[Path, ast.Module]:
    """Return the files of one room, parsed."""
    return {path: ast.parse(path.read_text()) for path in FILES if room_of(path) == request.param}


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            module = node.module or ""
            yield from (
                ((f"{module}.{alias.name}", node.lineno) if module == "funcgrad" else (module, node.lineno))
                for alias in node.names
            )


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(path) for path in FILES}
    assert rooms <= set(FLOOR_OF), f"rooms without a floor: {rooms - set(FLOOR_OF)}"


def test_imports_go_down(trees: dict[Path, ast.Module]) -> None:
    for path, tree in trees.items():
        room = room_of(path)
        for name, line in imports(tree):
            words = name.split(".")
            if words[0] == "funcgrad":
                assert len(words) > 1, f"{path}:{line} imports the front door"
                other = words[1]
                assert other == room or FLOOR_OF[other] < FLOOR_OF[room], f"{path}:{line}: {room} imports {other}"
            elif words[0] in ("jax", "jaxlib"):
                assert room in MAY_IMPORT_JAX, f"{path}:{line}: {room} may not import jax"
            elif words[0] == "optax":
                assert room in MAY_IMPORT_OPTAX, f"{path}:{line}: {room} may not import optax"
            assert words[0] != "torch", f"{path}:{line} imports torch"


def test_no_import_is_inside_a_function(trees: dict[Path, ast.Module]) -> None:
    for path, tree in trees.items():
        functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        for function in functions:
            inside = [n.lineno for n in ast.walk(function) if isinstance(n, (ast.Import, ast.ImportFrom))]
            assert not inside, f"{path}:{inside} imports inside {function.name}"


def test_every_file_says_first_what_it_knows(trees: dict[Path, ast.Module]) -> None:
    for path, tree in trees.items():
        assert ast.get_docstring(tree), f"{path} has no docstring"
