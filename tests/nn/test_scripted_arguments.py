"""Scripted functions and modules take what TorchScript takes, in its words: those of torch 2.13.0."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from tests.refusing import Refusal, assert_refused


@torch.jit.script
def product(a: float, b: int = 2) -> float:
    return a * b


@torch.jit.script
def third(
    x: list[torch.Tensor], d: dict[str, float], t: tuple[int, float], o: list[int] | None = None, s: str = "a"
) -> dict[str, float]:
    return d


@torch.jit.script
def longer(numbers: list[int]) -> list[int]:
    numbers.append(3)
    return numbers


@torch.jit.script
def without_types(x, n=None):  # type: ignore[no-untyped-def]  # what is not annotated is a tensor
    return x


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, k: float = 1.0) -> float:
        return k


X = torch.ones(2)
_PRODUCT = "product(float a, int b=2) -> float"
_THIRD = 'third(Tensor[] x, Dict(str, float) d, (int, float) t, int[]? o=None, str s="a") -> Dict(str, float)'


def test_arguments_are_cast_to_annotations() -> None:
    for found in (product(3), product(3, b=1), product(True), product(torch.tensor(3)), product(torch.ones(1))):
        assert type(found) is float
    assert product(1, torch.tensor(2.5)) == 2.0
    assert third([X], {"a": 1}, (1, 2)) == {"a": 1.0}
    assert type(torch.jit.script(Scaled())(X, 3)) is float


def test_lists_are_copies() -> None:
    numbers = [1]
    assert longer(numbers) == [1, 3]
    assert numbers == [1]


def test_what_is_scripted_is_known_as_such() -> None:
    assert isinstance(product, torch.jit.ScriptFunction)
    assert product.__name__ == "product"
    assert torch.jit.script(product) is product


def test_a_traced_module_takes_what_it_took() -> None:
    traced: Any = torch.jit.trace(torch.nn.Linear(2, 2), X)
    assert traced(X).shape == (2,)


REFUSED: list[Refusal] = [
    (
        lambda: product(3.0, 2.5),
        RuntimeError,
        "product() Expected a value of type 'int' for argument 'b' but instead found type 'float'.\nPosition: 1\n"
        f"Value: 2.5\nDeclaration: {_PRODUCT}",
    ),
    (
        lambda: product("a"),
        RuntimeError,
        "product() Expected a value of type 'float' for argument 'a' but instead found type 'str'.\nPosition: 0\n"
        f"Value: 'a'\nDeclaration: {_PRODUCT}",
    ),
    (
        lambda: third([X], {"a": 1}, (1, 2), [1.5]),
        RuntimeError,
        "third() Expected a value of type 'Optional[List[int]]' for argument 'o' but instead found type 'list'.\n"
        f"Position: 3\nValue: [1.5]\nDeclaration: {_THIRD}",
    ),
    (
        lambda: third([X], {1: 1}, (1, 2)),
        RuntimeError,
        "third() Expected a value of type 'Dict[str, float]' for argument 'd' but instead found type 'dict'.\n"
        f"Position: 1\nValue: {{1: 1}}\nDeclaration: {_THIRD}",
    ),
    (
        lambda: without_types(3),
        RuntimeError,
        "without_types() Expected a value of type 'Tensor (inferred)' for argument 'x' but instead found type 'int'.\n"
        "Inferred 'x' to be of type 'Tensor' because it was not annotated with an explicit type.\nPosition: 0\n"
        "Value: 3\nDeclaration: without_types(Tensor x, Tensor n=None)",
    ),
    (
        lambda: torch.jit.script(Scaled())(X, "a"),
        RuntimeError,
        "forward() Expected a value of type 'float' for argument 'k' but instead found type 'str'.\nPosition: 2\n"
        "Value: 'a'\nDeclaration: forward(__torch__.Scaled self, Tensor x, float k=1.) -> float",
    ),
    (
        lambda: product(),
        RuntimeError,
        f"product() is missing value for argument 'a'. Declaration: {_PRODUCT}",
    ),
    (
        lambda: product(1, 2, 3),
        RuntimeError,
        f"product() expected at most 2 argument(s) but received 3 argument(s). Declaration: {_PRODUCT}",
    ),
    (
        lambda: product(3, c=1),
        RuntimeError,
        f"Unknown keyword argument 'c' for operator 'product'. Schema: {_PRODUCT}",
    ),
    (
        lambda: product(3, a=1),
        RuntimeError,
        f"Argument 'a' specified both as positional and keyword argument. Schema: {_PRODUCT}",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=range(len(REFUSED)))
def test_other_types_are_refused(case: Refusal) -> None:
    assert_refused(*case)
