"""The type stubs are up to date, are Python, and say what editors and type checkers ask for."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import funcgrad
from funcgrad._tensor import functions, methods
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain import stubs
from funcgrad.explain.fronts import OVERLOADS

PACKAGE = Path(funcgrad.__file__).parent
WRITTEN = {str(path.relative_to(PACKAGE)): text for path, text in stubs.stubs().items()}
Function = ast.FunctionDef


def declared(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """Return what a module or class declares or exports, by name."""
    found: dict[str, list[ast.stmt]] = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign):
            found.setdefault(ast.unparse(node.target), []).append(node)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname == alias.name:
                    found.setdefault(alias.name, []).append(node)
    return found


def stub(name: str) -> dict[str, list[ast.stmt]]:
    return declared(ast.parse(WRITTEN[name]).body)


def tensor() -> dict[str, list[ast.stmt]]:
    (kind,) = stub("_tensor/tensor.pyi")["Tensor"]
    assert isinstance(kind, ast.ClassDef)
    return declared(kind.body)


def text(nodes: list[ast.stmt]) -> list[str]:
    return [ast.unparse(node) for node in nodes]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_stub_is_up_to_date(name: str) -> None:
    assert (PACKAGE / name).read_text() == WRITTEN[name], "write it anew: python -m funcgrad.explain.stubs"


def test_the_stubs_are_the_same_once_functions_ask() -> None:
    script = (
        "import json; from funcgrad._tensor.overriding import arm; arm(); from funcgrad.explain import stubs; "
        "print(json.dumps([str(path) for path, text in stubs.stubs().items() if path.read_text() != text]))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(shown) == []


def test_there_is_no_stub_that_nobody_writes() -> None:
    assert {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.pyi")} == set(WRITTEN)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_type_in_it_is_imported_or_defined(name: str) -> None:
    tree = ast.parse(WRITTEN[name])
    known = {alias.asname or alias.name for n in tree.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    known |= set(stub(name)) | {"str", "int", "bool", "float", "complex", "object", "list", "tuple", "dict", "type"}
    known |= {"property", "classmethod", "staticmethod", "Exception", *tensor()}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert used <= known


def test_the_method_softmax_stands_there() -> None:
    (softmax,) = text(tensor()["softmax"])
    assert softmax.startswith("def softmax(self, dim: _int")
    assert softmax.endswith("dtype: _dtype | None=None, *, axis: _int | None=None) -> Tensor:\n    ...")


def test_plain_functions_of_the_table_stand_there() -> None:
    front = stub("__init__.pyi")
    (cat,) = front["cat"]
    assert isinstance(cat, Function)
    assert [argument.arg for argument in cat.args.args] == ["tensors", "dim"]
    assert ast.unparse(cat.returns or cat) == "Tensor"


def test_nn_functional_has_the_tables_functions_and_its_own() -> None:
    functional = stub("nn/functional.pyi")
    relu = "def relu(input: Tensor, inplace: bool=False, *, out: Any=None) -> Tensor:\n    ..."
    assert text(functional["relu"]) == [relu]
    assert {"cross_entropy", "linear", "dropout", "batch_norm", "max_pool2d"} <= set(functional)


def test_linalg_and_special_have_the_tables_functions() -> None:
    assert "svd" in stub("linalg/__init__.pyi")
    assert "expit" in stub("special/__init__.pyi")


@pytest.mark.parametrize("name", ["uniform_", "normal_", "random_", "bernoulli_", "exponential_", "multinomial"])
def test_methods_that_random_adds_stand_there(name: str) -> None:
    assert all(line.endswith("-> Tensor:\n    ...") for line in text(tensor()[name]))


@pytest.mark.parametrize("name", ["max", "min", "median", "where", "nonzero", "unique", "atleast_2d"])
def test_functions_that_return_one_thing_or_another_are_overloaded(name: str) -> None:
    nodes = stub("__init__.pyi")[name]
    assert len(nodes) == len(OVERLOADS[name])
    assert all(isinstance(node, Function) and ast.unparse(node.decorator_list[0]) == "overload" for node in nodes)


def test_named_tuples_have_the_fields_of_their_rows() -> None:
    (kind,) = stub("_tensor/tensor.pyi")["_SortResult"]
    assert text([kind]) == ["class _SortResult(NamedTuple):\n    values: Tensor\n    indices: Tensor"]
    assert "-> _SortResult" in text(tensor()["sort"])[0]
    assert "-> _MaxDimResult" in text(tensor()["max"])[2]
    assert text(stub("__init__.pyi")["split"])[0].endswith("-> tuple[Tensor, ...]:\n    ...")


def test_questions_that_are_lambdas_have_the_types_of_their_answers() -> None:
    shown = tensor()
    assert text(shown["numel"]) == ["def numel(self) -> _int:\n    ..."]
    assert text(shown["is_cuda"]) == ["@property\ndef is_cuda(self) -> _bool:\n    ..."]


def test_every_name_of_the_front_door_stands_there() -> None:
    assert {*functions.names_under(""), *vars(funcgrad)["__all__"]} <= set(stub("__init__.pyi"))


def test_every_method_stands_there() -> None:
    assert {*methods.method_names(), *(name for name in vars(Tensor) if not name.startswith("_"))} <= set(tensor())


@pytest.mark.parametrize("name", sorted(set(OVERLOADS) & set(functions.FUNCTIONS)))
def test_an_overload_takes_only_what_the_function_takes(name: str) -> None:
    taken = inspect.signature(functions.FUNCTIONS[name]).parameters
    several = any(p.kind is p.VAR_POSITIONAL for p in taken.values())
    for node in stub("__init__.pyi")[name]:
        assert isinstance(node, Function)
        given = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        assert several or name in ("max", "min") or set(given) <= set(taken)


def test_using_the_table_does_not_change_the_stubs() -> None:
    x = funcgrad.zeros(2, 3)
    x.logsumexp(0)
    funcgrad.logsumexp(x, 0)
    importlib.import_module("funcgrad.nn.functional").hardtanh(x)
    assert {str(path.relative_to(PACKAGE)): text for path, text in stubs.stubs().items()} == WRITTEN


def test_check_names_what_is_out_of_date(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stubs, "PACKAGE", tmp_path)
    monkeypatch.setattr(stubs, "stubs", lambda: {tmp_path / "old.pyi": "new text"})
    (tmp_path / "old.pyi").write_text("old text")
    assert stubs.main(["--check"]) == 1
    assert capsys.readouterr().out == "out of date: old.pyi\n"
    assert (tmp_path / "old.pyi").read_text() == "old text"
    assert stubs.main([]) == 0
    assert (tmp_path / "old.pyi").read_text() == "new text"
    assert stubs.main(["--check"]) == 0
