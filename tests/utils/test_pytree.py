"""torch.utils._pytree: trees of the script's own types, in its own functions and in those of `func`."""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, fields

import pytest

import funcgrad as torch
from funcgrad._base.containers import CONTAINERS
from funcgrad.utils import _pytree as pytree

Pair = namedtuple("Pair", "left right")


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    before = dict(CONTAINERS)
    yield
    CONTAINERS.clear()
    CONTAINERS.update(before)


def output_class() -> type:
    class ModelOutput(OrderedDict):
        def __init_subclass__(cls) -> None:
            pytree.register_pytree_node(
                cls, lambda o: (list(o.values()), list(o)), lambda v, k: cls(**dict(zip(k, v, strict=True)))
            )

        def __post_init__(self) -> None:
            for field in fields(self):  # type: ignore[arg-type]
                if getattr(self, field.name) is not None:
                    self[field.name] = getattr(self, field.name)

    @dataclass
    class Output(ModelOutput):
        loss: torch.Tensor | None = None
        logits: torch.Tensor | None = None

    return Output


def test_a_tree_of_all_kinds_comes_apart_with_its_paths_and_together_again() -> None:
    inner = {"b": OrderedDict(c=5), "d": defaultdict(list, {"e": [6]}), "f": deque([7], maxlen=3)}
    tree = {"a": [1, (2, Pair(3, 4))], **inner}
    leaves, spec = pytree.tree_flatten(tree)
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree and again["f"].maxlen == 3 and again["d"].default_factory is list
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (7, 15, 4)
    paths = [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(tree)]
    assert paths[2:6] == ["['a'][1][1].left", "['a'][1][1].right", "['b']['c']", "['d']['e'][0]"]
    assert [pytree.key_get(tree, path) for path, _ in pytree.tree_leaves_with_path(tree)] == leaves
    assert str(pytree.tree_structure({"a": [1, 2]})) == "TreeSpec(dict, ['a'], [TreeSpec(list, None, [*,\n    *])])"
    assert pytree.tree_map_only((int, str), lambda x: x + x, [1, "a", 2.0]) == [2, "aa", 2.0]
    assert pytree.tree_all_only(int, lambda x: x > 0, tree) and not pytree.tree_any(lambda x: x > 7, tree)
    assert pytree.tree_map(lambda x, y: (x, y), {"a": 1, "b": 2}, {"b": 3, "a": [4]}) == {"a": (1, [4]), "b": (2, 3)}
    with pytest.raises(ValueError, match="Node type mismatch"):
        pytree.tree_map(lambda x, y: x, [1, 2], (1, 2))
    with pytest.raises(ValueError, match="Node keys mismatch"):
        pytree.tree_map(lambda x, y: x, {"a": 1}, {"b": 1})


def test_functions_of_func_take_apart_what_a_script_registered() -> None:
    output = output_class()
    double = torch.func.vmap(lambda x: output(loss=x.sum(), logits=x * 2))(torch.ones(3, 2))
    assert type(double) is output and double.loss.tolist() == [2.0, 2.0, 2.0]
    grad = torch.func.grad(lambda o: (o.loss * o.logits).sum())(output(loss=torch.tensor(2.0), logits=torch.ones(2)))
    assert type(grad) is output and grad["loss"].item() == 2.0 and grad.logits.tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(output, list, list)


def test_a_dataclass_is_registered_by_its_fields() -> None:
    @dataclass
    class Batch:
        x: int
        tag: str = "kept"

    pytree.register_dataclass(Batch, field_names=["x"], drop_field_names=["tag"])
    assert pytree.tree_map(lambda x: x + 1, [Batch(1), 2]) == [Batch(2), 3]
    assert [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path([Batch(1)])] == ["[0].x"]


def test_a_type_that_derives_from_dict_comes_apart_as_a_dict() -> None:
    class Output(OrderedDict):
        pass

    pytree.register_pytree_node(
        Output,
        pytree._dict_flatten,
        lambda children, keys: Output(pytree._dict_unflatten(children, keys)),
        flatten_with_keys_fn=pytree._dict_flatten_with_keys,
    )
    tree = Output(loss=1, logits=[2])
    assert pytree.tree_map(lambda x: x + 1, tree) == Output(loss=2, logits=[3])
    assert [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(tree)] == ["['loss']", "['logits'][0]"]


def test_a_tree_is_taken_apart_by_the_registry_itself() -> None:
    def leaves_and_structure(tree: object) -> tuple[list[object], pytree.TreeSpec]:
        kind = pytree._get_node_type(tree)
        if kind not in pytree.SUPPORTED_NODES:
            return [tree], pytree.LeafSpec()
        children, context = pytree.SUPPORTED_NODES[kind].flatten_fn(tree)
        found = [leaves_and_structure(child) for child in children]
        structure = pytree.TreeSpec(kind, context, [inner for _, inner in found])
        return [leaf for leaves, _ in found for leaf in leaves], structure

    tree = {"a": [1, Pair(2, 3)], "b": (4,)}
    leaves, structure = leaves_and_structure(tree)
    assert leaves == [1, 2, 3, 4] and pytree.tree_unflatten(leaves, structure) == tree
    assert pytree._get_node_type(Pair(2, 3)) is namedtuple
    assert pytree.TreeSpec(list, None, [pytree.LeafSpec()]) == pytree.tree_structure([0])


def test_a_tree_is_spread_to_a_structure() -> None:
    structure = pytree.tree_structure([1, Pair(2, 3), {"a": 4}])

    def spread(tree: object) -> object:
        return pytree._broadcast_to_and_flatten(tree, structure)

    assert spread(0) == [0, 0, 0, 0] and spread([1, 2, 3]) == [1, 2, 2, 3]
    assert spread([1, Pair(2, 3), 4]) == [1, 2, 3, 4]
    for other in ([1, 2], [1, 2, {"b": 1}], [1, (2, 3), {"a": 1}], (1, 2, 3)):
        assert spread(other) is None


def test_named_tuples_are_told_from_other_tuples() -> None:
    pair, info = Pair(1, 2), sys.float_info
    assert pytree._namedtuple_flatten(pair) == ([1, 2], Pair) and pytree._namedtuple_unflatten([1, 2], Pair) == pair
    assert [pytree.is_namedtuple(x) for x in (pair, Pair, (1,), info)] == [True, True, False, False]
    assert pytree.is_namedtuple_instance(pair) and not pytree.is_namedtuple_instance(Pair)
    assert [pytree.is_structseq(x) for x in (info, type(info), pair)] == [True, True, False]
    leaf = pytree.LeafSpec()
    assert pytree.treespec_tuple([leaf, leaf]) == pytree.tree_structure((1, 2))
    assert pytree.treespec_dict({"b": leaf}, a=leaf) == pytree.tree_structure({"b": 1, "a": 2})


def test_sizes_and_named_results_are_containers_of_places() -> None:
    leaves, spec = pytree.tree_flatten({"size": torch.Size([2, 3])})
    assert leaves == [2, 3] and str(spec) == "TreeSpec(dict, ['size'], [TreeSpec(Size, None, [*,\n    *])])"
    doubled = pytree.tree_map(lambda size: size * 2.5, torch.Size([2]))
    assert doubled == (5.0,) and type(doubled) is tuple
    best = torch.topk(torch.ones(3), 1)
    for result in (best, torch.histogram(torch.ones(3), 2)):
        spec = pytree.tree_structure(result)
        assert str(spec) == f"TreeSpec({type(result).__name__}, None, [*,\n  *])" and spec.type is type(result)
        assert [path for path, _ in pytree.tree_leaves_with_path(result)] == [(pytree.SequenceKey(i),) for i in (0, 1)]
        assert type(pytree.tree_map(torch.neg, result)) is type(result)
    assert torch.func.vmap(lambda row: torch.topk(row, 1).values)(torch.ones(2, 3)).shape == (2, 1)
    assert torch.Size not in pytree.BUILTIN_TYPES
