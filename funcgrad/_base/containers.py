"""Which types are containers in a tree, what is inside of each, and how one is built again: one registry for all."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from funcgrad._base.size import Size


@dataclass(frozen=True)
class SequenceKey:
    """A place in a list or tuple."""

    idx: int

    def __str__(self) -> str:
        """Return it as Python writes it."""
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[Any]) -> Any:
        """Return what is there."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """A key of a dict."""

    key: Any

    def __str__(self) -> str:
        """Return it as Python writes it."""
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        """Return what it leads to."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute or of a namedtuple's field."""

    name: str

    def __str__(self) -> str:
        """Return it as Python writes it."""
        return f".{self.name}"

    def get(self, owner: Any) -> Any:
        """Return the attribute."""
        return getattr(owner, self.name)


class Container(NamedTuple):
    """How trees of one type come apart and together.

    flatten_fn: the children, and a context: whatever else is needed to build it. unflatten_fn: the inverse, of children
    and context. flatten_with_keys_fn: the children with their keys, and the context; None where keys are not known.
    """

    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None


def _of_mapping(
    build: Callable[[Iterable[Any], Any], Any], keys: Callable[[Any], list[Any]], context: Any
) -> Container:
    return Container(
        lambda tree: (list(tree.values()), context(tree)),
        lambda children, known: build(zip(keys(known), children, strict=True), known),
        lambda tree: ([(MappingKey(key), child) for key, child in tree.items()], context(tree)),
    )


def _of_sequence(build: Callable[[Iterable[Any], Any], Any], context: Callable[[Any], Any]) -> Container:
    return Container(
        lambda tree: (list(tree), context(tree)),
        build,
        lambda tree: ([(SequenceKey(place), child) for place, child in enumerate(tree)], context(tree)),
    )


NAMED_TUPLE = Container(
    lambda tree: (list(tree), type(tree)),
    lambda children, kind: kind(*children),
    lambda tree: ([(GetAttrKey(name), getattr(tree, name)) for name in tree._fields], type(tree)),
)
CONTAINERS: dict[Any, Container] = {
    namedtuple: NAMED_TUPLE,
    list: _of_sequence(lambda children, _: list(children), lambda _: None),
    tuple: _of_sequence(lambda children, _: tuple(children), lambda _: None),
    Size: _of_sequence(lambda children, _: tuple(children), lambda _: None),  # what comes out may be no whole numbers
    deque: _of_sequence(deque, attrgetter("maxlen")),
    dict: _of_mapping(lambda pairs, _: dict(pairs), list, list),
    OrderedDict: _of_mapping(lambda pairs, _: OrderedDict(pairs), list, list),
    defaultdict: _of_mapping(
        lambda pairs, known: defaultdict(known[0], pairs),
        itemgetter(1),
        lambda tree: [tree.default_factory, list(tree)],
    ),
}


def container_of(tree: Any) -> Container | None:
    """Return how this comes apart; None of a leaf. A type is what it was registered as: subclasses do not count."""
    return CONTAINERS.get(kind_of(tree))


def kind_of(tree: Any) -> Any:
    """Return what this is registered as: `namedtuple` stands for the types that it makes."""
    kind = type(tree)
    return namedtuple if kind not in CONTAINERS and is_namedtuple_class(kind) else kind


def is_namedtuple_class(cls: type) -> bool:
    """Whether `namedtuple` made this type, or what it derives from."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def register(kind: type, container: Container) -> None:
    """Make trees of a type containers. ValueError: they are already."""
    if kind in CONTAINERS:
        raise ValueError(f"{kind} is already registered as pytree node.")
    CONTAINERS[kind] = container


def register_results(kind: type) -> None:
    """Make a type of named results, such as that of `topk`, a container whose children have places, not names."""
    CONTAINERS[kind] = _of_sequence(lambda children, _: kind(*children), lambda _: None)
