"""Packet: the name of one of aten's functions, `torch.ops.aten.mm`, by which what counts and maps them knows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Packet:
    """One function under all its overloads: `add`, `add.default`, `add.Tensor` are the same call here."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.function: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function is None:
            raise NotImplementedError(f"{self} is a kernel of torch's, named so that it can be counted")
        return self.function(*args, **kwargs)

    def __getattr__(self, overload: str) -> Packet:
        if overload.startswith("_"):
            raise AttributeError(overload)
        return self

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


PACKETS: dict[str, Packet] = {}


def packet(name: str) -> Packet:
    """Return the one packet of this name, "mm"."""
    found = PACKETS.get(name)
    if found is None:
        found = PACKETS[name] = Packet(name)
    return found
