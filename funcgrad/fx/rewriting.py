"""replace_pattern: every part of a graph that does what one function does is made to do what another does."""

from __future__ import annotations

from typing import Any, NamedTuple

from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.node import Node
from funcgrad.fx.tracing import symbolic_trace


class Match(NamedTuple):
    """Where a pattern was found: the last node of the place, and the graph's node for each of the pattern's."""

    anchor: Node
    nodes_map: dict[Node, Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace each non-overlapping place of the graph that matches `pattern`, and return the places.

    pattern, replacement: functions, modules or graphs with as many parameters; of the pattern, parameters match any
    node. Results inside a match that are used outside of it, but for the last, forbid the match. What replaces it
    comes right before the first node that uses it, as in torch.
    """
    found = _matches(gm.graph, _graph_of(pattern))
    wanted, parameters = _graph_of(replacement), _placeholders(_graph_of(pattern))
    changed: dict[Node, Node] = {}
    for match in found:
        by_name = {node.name: given for node, given in match.nodes_map.items()}
        given = [changed.get(by_name[node.name], by_name[node.name]) for node in parameters if node.name in by_name]
        values = dict(zip(_placeholders(wanted), given, strict=False))
        users = (node for node in gm.graph.nodes if node in match.anchor.users)
        with gm.graph.inserting_before(next(users, match.anchor.next)):
            result = gm.graph.graph_copy(wanted, values)
        match.anchor.replace_all_uses_with(result)
        changed[match.anchor] = result
        for node in reversed([n for n in gm.graph.nodes if _is_inside(n, match)]):
            gm.graph.erase_node(node)
    gm.recompile()
    return found


def _graph_of(given: Any) -> Graph:
    if isinstance(given, Graph):
        return given
    return given.graph if isinstance(given, GraphModule) else symbolic_trace(given).graph


def _placeholders(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "placeholder"]


def _is_inside(node: Node, match: Match) -> bool:
    return any(given is node and own.op != "placeholder" for own, given in match.nodes_map.items())


def _matches(graph: Graph, pattern: Graph) -> list[Match]:
    last = pattern.output_node().args[0]
    if not isinstance(last, Node):
        raise ValueError("replace_pattern takes patterns that return one result")
    found: list[Match] = []
    taken: set[Node] = set()
    for anchor in graph.nodes:
        nodes: dict[Node, Node] = {}
        if not _fits(last, anchor, nodes):
            continue
        inside = {given for own, given in nodes.items() if own.op != "placeholder"}
        closed = all(user in inside for given in inside - {anchor} for user in given.users)
        if closed and not inside & taken:
            taken |= inside
            found.append(Match(anchor, nodes))
    return found


def _fits(own: Node, given: Any, nodes: dict[Node, Node]) -> bool:
    """Tell whether a node does what a pattern's does, its arguments included; note which node is which."""
    if own in nodes:
        return nodes[own] is given
    if not isinstance(given, Node):
        return False
    is_given = own.op == "placeholder"
    if not is_given and (own.op != given.op or not _same_target(own, given)):
        return False
    nodes[own] = given
    return is_given or _same_arguments(own, given, nodes)


def _same_target(own: Node, given: Node) -> bool:
    if own.op not in ("call_module", "get_attr"):
        return own.target == given.target
    mine, theirs = (_owned(node) for node in (own, given))
    return type(mine) is type(theirs)


def _owned(node: Node) -> Any:
    found: Any = node.graph.owning_module
    for word in str(node.target).split("."):
        found = getattr(found, word)
    return found


def _same_arguments(own: Node, given: Node, nodes: dict[Node, Node]) -> bool:
    mine, theirs = _flat((own.args, own.kwargs)), _flat((given.args, given.kwargs))
    if len(mine) != len(theirs):
        return False
    return all(_fits(a, b, nodes) if isinstance(a, Node) else a == b for a, b in zip(mine, theirs, strict=True))


def _flat(tree: Any) -> list[Any]:
    """Return the leaves of a tree of arguments, with the names of keywords and the lengths of sequences among them."""
    if isinstance(tree, (tuple, list)):
        return [len(tree), *(leaf for part in tree for leaf in _flat(part))]
    if isinstance(tree, dict):
        return [*sorted(tree), *(leaf for key in sorted(tree) for leaf in _flat(tree[key]))]
    return [tree]
