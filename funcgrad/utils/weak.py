"""torch.utils.weak: weak references, and dictionaries that hold keys weakly, which tell tensors apart by who they are.

`==` of two tensors compares their elements, so the dictionaries of the standard library cannot find one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from typing import Any, Self

from funcgrad._tensor.tensor import Tensor

WeakRef = weakref.ref

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]  # of anything
    """A weak reference that is equal to another of the very same object; when that is gone, to itself alone."""

    __slots__ = ("_id",)

    def __new__(cls, key: Any, callback: Callable[[Any], object] | None = None) -> Self:
        reference = super().__new__(cls, key, callback)
        reference._id = id(key)
        return reference

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, its = self(), other() if isinstance(other, weakref.ref) else None
        return mine is its if mine is not None and its is not None else self is other

    def __ne__(self, other: object) -> bool:
        return not self == other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose entries go with their keys, which are told apart by who they are.

    ref_type: what holds a key; another one may compare otherwise.
    """

    def __init__(self, dict: Any = None, ref_type: Callable[..., Any] = WeakIdRef) -> None:
        self.data: dict[Any, Any] = {}
        self.ref_type = ref_type
        myself = weakref.ref(self)

        def remove(reference: Any) -> None:
            alive = myself()
            if alive is not None:
                alive.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # nothing can refer to it weakly, so it is no key
            return False

    def __iter__(self) -> Iterator[Any]:
        """Yield the keys that are there when this begins and still are when their turn comes."""
        for reference in self.keyrefs():
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return _by_id(self.items()) == _by_id(other.items())

    def __or__(self, other: Any) -> Self:
        if not isinstance(other, Mapping):
            return NotImplemented
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Any) -> Self:
        if not isinstance(other, Mapping):
            return NotImplemented
        both = type(self)(other)
        both.update(self)
        return both

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def copy(self) -> Self:
        """Return a dictionary with the same entries."""
        return type(self)(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a dictionary with the same keys and copies of what they stand for."""
        new = type(self)()
        for key, value in self.items():
            new[key] = deepcopy(value, memo)
        return new

    def keyrefs(self) -> list[Any]:
        """Return the weak references to the keys; of some the key may be gone when they are used."""
        return list(self.data)


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: call it for the tensor, or None."""

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()


def _by_id(items: Iterable[tuple[Any, Any]]) -> dict[int, Any]:
    return {id(key): value for key, value in items}
