"""Modules that hold modules: in order, in a list, in a dictionary."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Self

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module, indented


class Container(Module):
    """Hold the modules given by name: torch's oldest container."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """What Sequential and ModuleList share: modules in order, whose names are their places."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self._part(list(self._modules.items())[idx])
        return self._modules[self._name_at(idx)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._name_at(idx)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> Self:
        """Put `module` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put `module` before the place `index`."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Put all modules of `sequential` at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Take out the module at a place and return it."""
        module = self[key]
        del self[key]
        return module

    def _part(self, items: list[tuple[str, Module]]) -> Any:
        return type(self)([module for _, module in items])  # type: ignore[call-arg]  # a subclass takes a list

    def _name_at(self, idx: int) -> str:
        place = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return list(self._modules)[place]

    def _renumber(self, modules: list[Module]) -> None:
        self._modules = {str(place): module for place, module in enumerate(modules)}


class Sequential(_Numbered):
    """Modules called one after the other, each with the result of the one before."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """Call all modules in order."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*(_times(other) * list(self)))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        return self.extend((_times(other) - 1) * list(self))

    def __iadd__(self, other: Iterable[Module]) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(other)

    def insert(self, index: int, module: Module) -> Self:
        """Put `module` before the place `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def _part(self, items: list[tuple[str, Module]]) -> Sequential:
        return type(self)(OrderedDict(items))


class ModuleList(_Numbered):
    """A list of modules. It is not called; the module that owns it calls them."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Put `module` before the place `index`."""
        super().insert(index, module)

    def extend(self, modules: Iterable[Module]) -> Self:  # type: ignore[override]  # torch names it so here
        """Put all of `modules` at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    def __repr__(self) -> str:
        """Print runs of modules that look alike once, as torch does: "(0-2): 3 x Linear(...)"."""
        lines, place = [], 0
        for text, alike in groupby(map(repr, self)):
            count = len(list(alike))
            name = f"({place}): " if count == 1 else f"({place}-{place + count - 1}): {count} x "
            lines.append(indented(name + text))
            place += count
        body = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {body}\n)" if body else f"{self._get_name()}()"

    def _part(self, items: list[tuple[str, Module]]) -> ModuleList:
        return type(self)(module for _, module in items)


class ModuleDict(Module):
    """A dictionary of modules. It is not called; the module that owns it calls them."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take out all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take out the module with this name and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Return (name, module) of all."""
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        """Return the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Enter the modules of a mapping, or of (name, module) pairs; a plain mapping's in its own order."""
        for key, module in named_pairs("ModuleDict", modules):
            self[key] = module


def named_pairs(owner: str, given: Any) -> list[tuple[str, Any]]:
    """Return the (name, value) pairs of a mapping or of an iterable of pairs, checked."""
    if not isinstance(given, Iterable) or isinstance(given, Tensor):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    if isinstance(given, Mapping) or hasattr(given, "items"):
        return list(given.items())  # type: ignore[attr-defined]  # just asked for
    pairs = []
    for place, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner} update sequence element #{place} should be Iterable; is{type(pair).__name__}")
        listed = tuple(pair)
        if len(listed) != 2:
            raise ValueError(f"{owner} update sequence element #{place} has length {len(listed)}; 2 is required")
        pairs.append(listed)
    return pairs


def _times(number: Any) -> int:
    if not isinstance(number, int):
        raise TypeError(f"unsupported operand type(s) for *: {Sequential} and {type(number)}")
    if number <= 0:
        raise ValueError(f"Non-positive multiplication factor {number} for {Sequential}")
    return number
