"""Packet: the name of one of aten's functions, `torch.ops.aten.mm`, by which what counts and maps them knows it.

An Overload, `torch.ops.aten.mm.default`, is another name for the same call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base.rooms import imported
from funcgrad._tensor import overriding


class Packet:
    """One function under all its overloads: `add`, `add.default`, `add.Tensor` are the same call here."""

    namespace = "aten"

    def __init__(self, name: str) -> None:
        self.__name__, self.__module__ = name, "torch._ops.aten"
        self.function: Callable[..., Any] | None = None
        self._overloads: dict[str, Overload] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function is None:
            raise NotImplementedError(f"{self} is a kernel of torch's, named so that it can be counted")
        return self.function(*args, **kwargs)

    def __getattr__(self, overload: str) -> Overload:
        if overload.startswith("_"):
            raise AttributeError(overload)
        return self._overloads.setdefault(overload, Overload(self, overload))

    def overloads(self) -> list[str]:
        """Return the names of its overloads; those that write to `out=` are not among them."""
        return list(imported("funcgrad.dispatching.schemas").schemas_of(self.__name__))

    @property
    def _qualified_op_name(self) -> str:
        return f"{self.namespace}::{self.__name__}"

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class Overload:
    """A packet under the name of one of its overloads; calls are the packet's, as is its schema."""

    def __init__(self, packet: Any, name: str) -> None:
        self.overloadpacket, self._overloadname = packet, name
        self.namespace, self.__name__ = packet.namespace, f"{packet.__name__}.{name}"
        self.__module__, self.__qualname__ = f"torch._ops.{self.namespace}", self.name()
        self._overloadpacket, self._name, self._opname = packet, self.name(), packet.__name__

    def __reduce__(self) -> Any:
        return _overload_named, (self.namespace, self._opname, self._overloadname)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if overriding.state.modes and isinstance(overriding.state.modes[-1], overriding.Layer):
            with overriding.without_innermost() as layer:
                return layer.told(self, args, kwargs)
        return self.overloadpacket(*args, **kwargs)

    def name(self) -> str:
        """Return aten::mm, or aten::add.Tensor where the overload has a name of its own."""
        named = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self.overloadpacket.__name__}{named}"

    @property
    def _schema(self) -> Any:
        if self.namespace == "aten":
            return imported("funcgrad.dispatching.schemas").schema_of(self)
        return self.overloadpacket._schema

    @property
    def is_view(self) -> bool:
        """Whether its result is a view of an argument."""
        return self._schema.is_view

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


PACKETS: dict[str, Packet] = {}


def packet(name: str) -> Packet:
    """Return the one packet of this name, "mm"."""
    found = PACKETS.get(name)
    if found is None:
        found = PACKETS[name] = Packet(name)
    return found


def _overload_named(namespace: str, name: str, overload: str) -> Overload:
    """Find an overload again for what was pickled."""
    return getattr(getattr(getattr(imported("funcgrad.ops"), namespace), name), overload)
