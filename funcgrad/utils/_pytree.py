"""torch.utils._pytree: trees of anything, also of the script's own types, apart and together. None is a leaf."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import UnionType
from typing import Any, cast

from funcgrad._base import containers
from funcgrad._base.containers import (
    Container,
    GetAttrKey,
    MappingKey,
    SequenceKey,
    container_of,
    is_namedtuple_class,
)

KeyEntry = SequenceKey | MappingKey | GetAttrKey
KeyPath = tuple[Any, ...]
PyTree = Any
NodeDef = Container
_get_node_type = containers.kind_of
Context = Any
BUILTIN_TYPES = frozenset({namedtuple, list, tuple, deque, dict, OrderedDict, defaultdict})
SUPPORTED_NODES = containers.CONTAINERS
_dict_flatten, _dict_unflatten, _dict_flatten_with_keys = containers.CONTAINERS[dict]  # also for types derived from it
_list_flatten, _list_unflatten, _list_flatten_with_keys = containers.CONTAINERS[list]
_tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys = containers.CONTAINERS[tuple]
_namedtuple_flatten, _namedtuple_unflatten, _namedtuple_flatten_with_keys = containers.NAMED_TUPLE
_ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys = containers.CONTAINERS[OrderedDict]
_odict_flatten, _odict_unflatten = _ordereddict_flatten, _ordereddict_unflatten
_defaultdict_flatten, _defaultdict_unflatten, _defaultdict_flatten_with_keys = containers.CONTAINERS[defaultdict]
_deque_flatten, _deque_unflatten, _deque_flatten_with_keys = containers.CONTAINERS[deque]
FlattenFunc = Callable[[Any], tuple[Iterable[Any], Any]]
UnflattenFunc = Callable[[Iterable[Any], Any], Any]
__all__ = [
    "BUILTIN_TYPES", "SUPPORTED_NODES", "Context", "GetAttrKey", "KeyEntry", "KeyPath", "LeafSpec", "MappingKey",
    "NodeDef", "PyTree", "SequenceKey", "TreeSpec", "arg_tree_leaves", "is_namedtuple", "is_namedtuple_class",
    "is_namedtuple_instance", "is_structseq", "is_structseq_class", "is_structseq_instance", "key_get", "keystr",
    "map_only",
    "register_constant", "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only", "tree_any",
    "tree_any_only", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves",
    "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path",
    "tree_structure", "tree_unflatten", "treespec_dict", "treespec_leaf", "treespec_pprint", "treespec_tuple",
]  # fmt: skip
IsLeaf = Callable[[Any], bool] | None
_DICTS = (dict, OrderedDict, defaultdict)
Kinds = type | tuple[type, ...] | UnionType | Callable[[Any], bool]


@dataclasses.dataclass(frozen=True)
class TreeSpec:
    """The structure without the leaves. type None: a leaf."""

    type: Any
    context: Any = None
    children_specs: Sequence[TreeSpec] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "children_specs", tuple(self.children_specs))

    @property
    def num_leaves(self) -> int:
        """How many leaves it has."""
        return 1 if self.is_leaf() else sum(child.num_leaves for child in self.children_specs)

    @property
    def num_nodes(self) -> int:
        """How many containers and leaves it has."""
        return 1 + sum(child.num_nodes for child in self.children_specs)

    @property
    def num_children(self) -> int:
        """How many children it has itself."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Whether it is a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """Return the structures of its children."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """Return the structure of one child."""
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return this structure with these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return what stands in `tree` where this has leaves. ValueError: the two have different structures."""
        if self.is_leaf():
            return [tree]
        pairs = zip(self.children_specs, self._children_in(tree), strict=True)
        return [found for spec, child in pairs for found in spec.flatten_up_to(child)]

    def _children_in(self, tree: Any) -> list[Any]:
        if self.type in _DICTS and isinstance(tree, _DICTS):
            keys = self.context[1] if self.type is defaultdict else self.context
            missing, extra = set(keys) - set(tree), set(tree) - set(keys)
            if missing or extra:
                raise ValueError(f"Node keys mismatch; missing key(s): {missing}; extra key(s): {extra}.")
            return [tree[key] for key in keys]
        children, context = _apart(tree)
        self._fits(type(tree), len(children), context)
        return children

    def _fits(self, kind: type, count: int, context: Any) -> None:
        if kind is not self.type:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        if count != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {count}.")
        if context != self.context:
            raise ValueError(f"Node context mismatch; expected {self.context!r}, but got {context!r}.")

    def __str__(self) -> str:
        """Return it as a nest of types, a star for each leaf."""
        return _drawn(self, 0)

    __repr__ = __str__


def _drawn(spec: TreeSpec, indent: int) -> str:
    if spec.is_leaf():
        return "*"
    named = isinstance(spec.context, type) and issubclass(spec.context, tuple)
    between = ",\n" + " " * (indent + 2)
    inside = between.join(_drawn(child, indent + 2) for child in spec.children_specs)
    return f"TreeSpec({'namedtuple' if named else spec.type.__name__}, {spec.context}, [{inside}])"


def LeafSpec() -> TreeSpec:  # noqa: N802  # torch's name
    """Return the structure of a leaf."""
    return TreeSpec(None)


treespec_leaf = LeafSpec


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """Return the structure of a tuple of such children."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """Return the structure of a dict of such children."""
    children: Mapping[Any, TreeSpec] = dict(mapping, **kwargs)
    return TreeSpec(dict, list(children), list(children.values()))


def treespec_pprint(treespec: TreeSpec) -> str:
    """Return the structure as a tree of stars."""
    return repr(tree_unflatten(["*"] * treespec.num_leaves, treespec)).replace("'*'", "*")


def _apart(tree: Any) -> tuple[list[Any], Any]:
    container = container_of(tree)
    if container is None:
        return [], None
    children, context = container.flatten_fn(tree)
    return list(children), context


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Make a type a container: the first function gives children and context, the second builds it of them.

    What is for writing a structure to a file is taken and not used. ValueError: it is registered already.
    """
    containers.register(cls, Container(flatten_fn, unflatten_fn, flatten_with_keys_fn))


def _register_pytree_node(
    cls: type, flatten_fn: Callable[..., Any], unflatten_fn: Callable[..., Any], *others: Any, **named: Any
) -> None:
    register_pytree_node(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn=named.get("flatten_with_keys_fn"))


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a dataclass a container of its fields. ValueError: the names are not those of its fields, or it is none."""
    if not dataclasses.is_dataclass(cls):
        raise ValueError(f"register_dataclass: expected a dataclass, got {cls}")
    own = [field.name for field in dataclasses.fields(cls) if field.init]
    names = field_names or [name for name in own if name not in (drop_field_names or ())]
    if not set(names) <= set(own):
        raise ValueError(f"register_dataclass: {cls.__name__} has the fields {own}, got {names}")

    def keyed(tree: Any) -> tuple[list[tuple[Any, Any]], Any]:
        return [(GetAttrKey(name), getattr(tree, name)) for name in names], names

    register_pytree_node(
        cls,
        lambda tree: ([getattr(tree, name) for name in names], names),
        lambda children, known: cls(**dict(zip(known, children, strict=True))),
        flatten_with_keys_fn=keyed,
    )


def register_constant(cls: type) -> None:
    """Make a type part of the structure: it has no leaves."""
    register_pytree_node(cls, lambda tree: ([], tree), lambda children, tree: tree)


def is_namedtuple(obj: Any) -> bool:
    """Whether this is a namedtuple, or a type of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether this is a namedtuple."""
    return is_namedtuple_class(type(obj))


def is_structseq_class(cls: type) -> bool:
    """Whether this is a type of C's with fields, as of `sys.float_info` or `time.localtime()`."""
    return isinstance(cls, type) and cls.__bases__ == (tuple,) and isinstance(getattr(cls, "n_fields", None), int)


def is_structseq(obj: Any) -> bool:
    """Whether this is a tuple of C's with fields, or a type of them."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: Any) -> bool:
    """Whether this is a tuple of C's with fields."""
    return is_structseq_class(type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether this is a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or container_of(tree) is None


_is_leaf = tree_is_leaf


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves, and the structure."""
    if tree_is_leaf(tree, is_leaf):
        return [tree], TreeSpec(None)
    children, context = _apart(tree)
    flat = [tree_flatten(child, is_leaf) for child in children]
    leaves = [leaf for found, _ in flat for leaf in found]
    return leaves, TreeSpec(type(tree), context, tuple(spec for _, spec in flat))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return the structure with these leaves. ValueError where their number does not fit."""
    listed = list(leaves)
    if len(listed) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: the structure has {treespec.num_leaves} leaves, {len(listed)} were given")
    return _built(iter(listed), treespec)


def _built(leaves: Iterable[Any], spec: TreeSpec) -> Any:
    following = iter(leaves)
    if spec.is_leaf():
        return next(following)
    container = containers.CONTAINERS.get(spec.type, containers.NAMED_TUPLE)
    return container.unflatten_fn([_built(following, child) for child in spec.children_specs], spec.context)


def tree_iter(tree: Any, is_leaf: IsLeaf = None) -> Iterable[Any]:
    """Yield the leaves."""
    yield from tree_leaves(tree, is_leaf)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """Return the leaves of all arguments."""
    return list(chain.from_iterable(map(tree_leaves, (*args, *kwargs.values()))))


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """Return the structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Return the structure with the function of each leaf, and of what stands in its place in the other trees."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Call the function for each leaf, and return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """Return what stands where the structure has leaves; a leaf stands for all in its place. None: it does not fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or treespec.type not in (type(tree), _get_node_type(tree)):
        return None
    children, context = _apart(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    found = [
        _broadcast_to_and_flatten(child, spec, is_leaf)
        for child, spec in zip(children, treespec.children_specs, strict=True)
    ]
    return None if None in found else list(chain.from_iterable(cast("list[list[Any]]", found)))


def _only(kinds: Kinds) -> Callable[[Any], bool]:
    if isinstance(kinds, (type, tuple, UnionType)):
        return lambda leaf: isinstance(leaf, cast("type", kinds))
    return kinds


def map_only(kinds: Kinds, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Make a function of some leaves one of all: the others stay."""
    chosen = _only(kinds)
    return lambda func: lambda leaf: func(leaf) if chosen(leaf) else leaf


def tree_map_only(kinds: Kinds, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Return the structure with the function applied to the leaves of some types, or for which a function is true."""
    return tree_map(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_map_only_(kinds: Kinds, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Call the function for the leaves of some types, and return the tree itself."""
    return tree_map_(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether this is true of all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether this is true of a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(kinds: Kinds, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether this is true of all leaves of some types."""
    return all(map(pred, filter(_only(kinds), tree_leaves(tree, is_leaf))))


def tree_any_only(kinds: Kinds, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether this is true of a leaf of some types."""
    return any(map(pred, filter(_only(kinds), tree_leaves(tree, is_leaf))))


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Return each leaf with the keys that lead to it, and the structure. ValueError: a type does not know its keys."""
    return list(_with_path(tree, is_leaf, ())), tree_structure(tree, is_leaf)


def _with_path(tree: Any, is_leaf: IsLeaf, path: KeyPath) -> Iterable[tuple[KeyPath, Any]]:
    container = None if tree_is_leaf(tree, is_leaf) else container_of(tree)
    if container is None:
        yield path, tree
    elif container.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {type(tree)}; give register_pytree_node one")
    else:
        for key, child in container.flatten_with_keys_fn(tree)[0]:
            yield from _with_path(child, is_leaf, (*path, key))


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """Return each leaf with the keys that lead to it."""
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """As `tree_map`, for a function whose first argument is the keys that lead to the leaf."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return tree_unflatten([func(*leaf, *rest) for leaf, *rest in zip(found, *others, strict=True)], spec)


def keystr(kp: KeyPath) -> str:
    """Return a path as Python writes it: "['layers'][0].weight"."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Return what a path leads to."""
    for key in kp:
        obj = key.get(obj)
    return obj
