"""Tensors in trees: to JAX a Tensor is a node with one array; here a leaf of tuples, lists and dicts, in their order.

JAX sorts the keys of a dict; torch's functions keep them as they stand, and scripts zip over the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from funcgrad._base.containers import CONTAINERS, container_of
from funcgrad._program.value import Value, meta, of_array
from funcgrad._tape.variable import Variable
from funcgrad._tensor.interop import to_jax
from funcgrad._tensor.overriding import arm_for
from funcgrad._tensor.tensor import Tensor


class _Opaque(Value):
    """What stands in a Tensor's place while JAX handles its tree with something else than arrays as leaves."""

    __slots__ = ()


def register(cls: type[Tensor]) -> None:
    """Make JAX see tensors of this class as trees with one leaf, their array."""
    jax.tree_util.register_pytree_node(cls, _flatten, _unflatten)


def _flatten(tensor: Tensor) -> tuple[tuple[Any], tuple[type[Tensor], bool]]:
    value = tensor._variable.value
    leaf = value.array if type(value) is _Opaque else to_jax(tensor)
    return (leaf,), (type(tensor), tensor.requires_grad and tensor.is_leaf)


def _unflatten(known: tuple[type[Tensor], bool], leaves: Iterable[Any]) -> Tensor:
    (leaf,) = leaves
    kind, requires_grad = known
    if isinstance(leaf, Tensor):
        return leaf
    if isinstance(leaf, (jax.Array, np.ndarray)):
        return kind._leaf(Variable(of_array(leaf, shared=True)), requires_grad)
    if isinstance(leaf, jax.ShapeDtypeStruct):
        known_of_it = of_array(np.broadcast_to(np.zeros((), leaf.dtype), leaf.shape)).aval
        return kind._leaf(Variable(meta(known_of_it)), requires_grad)
    return Tensor._of(Variable(_Opaque(leaf, None, 0, None)))  # type: ignore[arg-type]  # nothing is known of it


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return the tree with `function` of each leaf; whatever is no container (`_base/containers`) is a leaf.

    >>> map_leaves(lambda x: x + 1, {"b": 1, "a": (2, [3])})
    {'b': 2, 'a': (3, [4])}
    """
    container = container_of(tree) or (CONTAINERS[dict] if isinstance(tree, dict) else None)
    if container is None:
        return function(tree)
    children, context = container.flatten_fn(tree)
    return container.unflatten_fn([map_leaves(function, inner) for inner in children], context)


def leaves_of(tree: Any) -> list[Any]:
    """Return the leaves in order."""
    found: list[Any] = []
    map_leaves(found.append, tree)
    return found


def with_leaves(tree: Any, leaves: Iterable[Any]) -> Any:
    """Return the tree with these leaves in the places of its own."""
    following = iter(leaves)
    return map_leaves(lambda _: next(following), tree)


def spread(prefix: Any, tree: Any, what: str) -> list[Any]:
    """Return one entry for each leaf of `tree`: a part of the prefix that is no container holds for all leaves below.

    ValueError: the two have different structures.
    """
    if isinstance(prefix, dict) and isinstance(tree, dict) and prefix.keys() == tree.keys():
        return [entry for key in tree for entry in spread(prefix[key], tree[key], what)]
    if isinstance(prefix, (tuple, list)) and isinstance(tree, (tuple, list)) and len(prefix) == len(tree):
        return [entry for pair in zip(prefix, tree, strict=True) for entry in spread(*pair, what)]
    if isinstance(prefix, (dict, tuple, list)):
        raise ValueError(f"{what} has not the structure of what it is for: got {prefix!r}")
    return [prefix] * len(leaves_of(tree))


def _enter_subclass(cls: Any) -> None:
    register(cls)
    arm_for(cls)


register(Tensor)
Tensor.__init_subclass__ = classmethod(_enter_subclass)  # type: ignore[assignment]  # Parameter, and the user's own
