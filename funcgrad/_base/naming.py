"""How messages name the type of what was given: with its module, as torch writes it."""

from __future__ import annotations

from typing import Any


def typename(given: Any) -> str:
    """Return the name of a class or function, or of an object's class, with its module unless that is Python's own."""
    named = given if hasattr(given, "__qualname__") else type(given)
    module = getattr(named, "__module__", "") or ""
    return named.__qualname__ if module in ("builtins", "") else f"{module}.{named.__qualname__}"


def c_class_name(given: Any) -> str:
    """Return what C calls an object's class: with its module where the class is C's own, as numpy's are."""
    kind = type(given)
    is_of_c = not kind.__flags__ & _HEAP_TYPE or (kind.__module__ == "torch" and kind.__name__ in _OF_C)
    return f"{kind.__module__}.{kind.__name__}" if is_of_c and kind.__module__ != "builtins" else kind.__name__


_HEAP_TYPE = 1 << 9
_OF_C = ("Size", "device", "dtype", "layout", "memory_format")


class WrittenInC(type):
    """The class of torch's classes written in C, whose instances Python's messages call by their module's name too.

    "'torch.dtype' object is not callable". called: that name, if not "torch." and its own. `__name__` is the bare one.
    """

    def __new__(mcls, name: str, bases: tuple[type, ...], space: dict[str, Any], called: str = "") -> Any:
        return super().__new__(mcls, called or f"torch.{name}", bases, space)

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], called: str = "") -> None:
        super().__init__(name, bases, space)

    @property
    def __name__(cls) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - what Python's messages say stays
        return cls.__qualname__
