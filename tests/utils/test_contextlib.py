"""Context managers of a script's own decorate functions and generators, as torch's own do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from funcgrad.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager, context_decorator

ENTERED: list[str] = []


class Noted(_DecoratorContextManager):
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        ENTERED.append(self.name)

    def __exit__(self, *_: Any) -> None:
        ENTERED.pop()

    def clone(self) -> Noted:
        return Noted(self.name)


class Plain(_NoParamDecoratorContextManager):
    def __enter__(self) -> None:
        ENTERED.append("plain")

    def __exit__(self, *_: Any) -> None:
        ENTERED.pop()


def test_a_function_runs_within_the_context() -> None:
    @Noted("own")
    @Plain
    def entered() -> list[str]:
        return list(ENTERED)

    assert entered() == ["own", "plain"] and ENTERED == []


def test_a_generator_is_within_the_context_only_while_it_runs() -> None:
    @Noted("own")
    def entered() -> Iterator[Any]:
        try:
            yield (yield list(ENTERED))
        except ValueError:
            yield ["caught", *ENTERED]
        return "done"

    generator: Any = entered()
    assert next(generator) == ["own"] and ENTERED == []
    assert generator.send("sent") == "sent"
    assert generator.throw(ValueError()) == ["caught", "own"] and ENTERED == []
    with pytest.raises(StopIteration, match="done"):
        next(generator)


def test_a_class_is_not_decorated() -> None:
    with pytest.raises(RuntimeError, match="Cannot decorate classes"):
        context_decorator(lambda: Noted("own"), int)
