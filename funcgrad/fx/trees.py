"""Trees: how a graph of flat inputs takes, and gives, tuples, lists and dicts that are nested."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

from funcgrad.utils import _pytree

PYTREE = _pytree


class Trees(NamedTuple):
    """What is written around a graph's calls. given: the source of what is flattened, of the parameters' names."""

    parameters: tuple[str, ...]
    given: str
    in_spec: Any
    out_spec: Any


def _tree_flatten_spec(tree: Any, spec: Any) -> list[Any]:
    """Return the leaves of a tree; a list may stand for a tuple. LookupError: something is lacking."""
    if spec.is_leaf():
        return [tree]
    if spec.type is dict:
        children = [tree[key] for key in spec.context]
    elif spec.type in (list, tuple):
        children = [tree[place] for place in range(spec.num_children)]
    else:
        return spec.flatten_up_to(tree)
    return [
        leaf
        for child, own in zip(children, spec.children_specs, strict=True)
        for leaf in _tree_flatten_spec(child, own)
    ]


FX_PYTREE = SimpleNamespace(tree_flatten_spec=_tree_flatten_spec)
