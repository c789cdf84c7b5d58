"""Modules that hold parameters: ParameterList and ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from typing import Any, Self

from funcgrad._tensor.functions import typename
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.containers import named_pairs
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter


class ParameterList(Module):
    """A list of parameters. Tensors become parameters when they are put in; other values stay as they are."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return getattr(self, self._name_at(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._name_at(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(place)) for place in range(self._size)])

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Put `value` at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Put all of `values` at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """Return one line for each value."""
        return _described(enumerate(self), lambda tensor: str(tensor.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a list has no forward."""
        raise RuntimeError("ParameterList should not be called.")

    def _name_at(self, idx: int) -> str:
        place = operator.index(idx)
        if not -self._size <= place < self._size:
            raise IndexError(f"index {place} is out of range")
        return str(place % self._size)


class ParameterDict(Module):
    """A dictionary of parameters. Tensors become parameters when they are put in; other values stay as they are."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _checked_key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _checked_key(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Return another dictionary with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, entering `default` where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take out everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take out the value of `key` and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out the pair that was entered last and return it."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(list(self._keys)))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what it would call

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new dictionary with these keys, all with the value `default`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """Return the keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return (key, value) of all."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Enter all of a mapping or of pairs; as in torch, those of a plain mapping are sorted by key."""
        pairs = named_pairs("ParameterDict", parameters)
        is_plain = isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict)
        for key, value in sorted(pairs, key=operator.itemgetter(0)) if is_plain else pairs:
            self[key] = value

    def extra_repr(self) -> str:
        """Return one line for each value."""
        return _described(self.items(), typename)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a dictionary has no forward."""
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string "
            f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string keys."
        )
    return key


def _described(items: Iterable[tuple[Any, Any]], kind_of: Callable[[Tensor], str]) -> str:
    lines = []
    for key, value in items:
        if isinstance(value, Tensor):
            size = "x".join(map(str, value.size()))
            device = f" ({value.device})" if value.device.type == "cuda" else ""
            what = "Parameter" if isinstance(value, Parameter) else "Tensor"
            lines.append(f"  ({key}): {what} containing: [{kind_of(value)} of size {size}{device}]")
        else:
            lines.append(f"  ({key}): Object of type: {type(value).__name__}")
    return "\n".join(lines)
