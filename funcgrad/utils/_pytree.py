"""torch.utils._pytree: dicts, lists and tuples of anything, taken apart and put together. None is a leaf."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TreeSpec:
    """The structure without the leaves. type None: a leaf."""

    type: Any
    context: Any = None
    children_specs: tuple[TreeSpec, ...] = ()

    @property
    def num_leaves(self) -> int:
        """How many leaves it has."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children_specs)


def _parts(tree: Any) -> tuple[Any, list[Any]] | None:
    """Return the keys (or field type) and the children of a container; None of a leaf."""
    if type(tree) in (dict, OrderedDict):
        return tuple(tree), list(tree.values())
    if type(tree) in (list, tuple) or (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        return None, list(tree)
    return None


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves, and the structure."""
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        return [tree], TreeSpec(None)
    keys, children = parts
    flat = [tree_flatten(child, is_leaf) for child in children]
    leaves = [leaf for found, _ in flat for leaf in found]
    return leaves, TreeSpec(type(tree), keys, tuple(spec for _, spec in flat))


def tree_unflatten(leaves: Sequence[Any], treespec: TreeSpec) -> Any:
    """Return the structure with these leaves. ValueError where their number does not fit."""
    listed = list(leaves)
    if len(listed) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: the structure has {treespec.num_leaves} leaves, {len(listed)} were given")
    if treespec.type is None:
        return listed[0]
    children, start = [], 0
    for spec in treespec.children_specs:
        children.append(tree_unflatten(listed[start : start + spec.num_leaves], spec))
        start += spec.num_leaves
    if treespec.context is not None:
        return treespec.type(zip(treespec.context, children, strict=True))
    return treespec.type(*children) if hasattr(treespec.type, "_fields") else treespec.type(children)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Return the structure with the function applied to each leaf (and to those of like structures)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten([func(*each) for each in zip(leaves, *map(tree_leaves, rests), strict=True)], spec)


def tree_map_only(kind: Any, func: Callable[..., Any], tree: Any) -> Any:
    """Return the structure with the function applied to the leaves of one type."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)
