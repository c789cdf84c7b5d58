"""A nested state and its flat form: each leaf under the dotted names of the containers around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from funcgrad._tensor.tensor import Tensor

Leaf: TypeAlias = Any
Place: TypeAlias = tuple[Any, ...]  # the keys and indices that lead to a leaf
Outline: TypeAlias = Any  # dicts and lists like those of a state, with the leaves' names in their places


def flattened(state: Mapping[str, Any]) -> dict[str, tuple[Place, Leaf]]:
    """Return the leaves by name. Dicts are taken apart, and lists that hold tensors; ValueError for a name twice."""
    named: dict[str, tuple[Place, Leaf]] = {}
    for place, leaf in _leaves(state, ()):
        if named.setdefault(name_of(place), (place, leaf))[0] is not place:
            raise ValueError(f"two entries of the state have the name {name_of(place)!r}")
    return named


def name_of(place: Place) -> str:
    """Return the name of the leaf at a place."""
    return ".".join(map(str, place))


def outline(state: Any, place: Place = ()) -> Outline:
    """Return a state's containers, with the leaves' names in their places."""
    children = _children(state)
    if children is None:
        return name_of(place)
    inside = {key: outline(child, (*place, key)) for key, child in children}
    return list(inside.values()) if isinstance(state, list) else inside


def filled(plan: Outline, leaves: Mapping[str, Leaf]) -> Any:
    """Return the state of an outline, with the leaves themselves."""
    if isinstance(plan, str):
        return leaves[plan]
    if isinstance(plan, list):
        return [filled(inside, leaves) for inside in plan]
    return {key: filled(inside, leaves) for key, inside in plan.items()}


def put_at(state: Any, place: Place, leaf: Leaf) -> None:
    """Set the leaf at a place that is there."""
    for step in place[:-1]:
        state = state[step]
    state[place[-1]] = leaf


def _leaves(node: Any, place: Place) -> Iterator[tuple[Place, Leaf]]:
    children = _children(node)
    if children is None:
        yield place, node
        return
    for key, child in children:
        yield from _leaves(child, (*place, key))


def _children(node: Any) -> Iterable[tuple[Any, Any]] | None:
    """Return what lies in a container that is taken apart; None for a leaf."""
    if isinstance(node, Mapping):
        return node.items() or None
    return enumerate(node) if isinstance(node, list) and _holds_tensors(node) else None


def _holds_tensors(node: Any) -> bool:
    if isinstance(node, Mapping):
        return any(map(_holds_tensors, node.values()))
    if isinstance(node, (list, tuple)):
        return any(map(_holds_tensors, node))
    return isinstance(node, Tensor)
