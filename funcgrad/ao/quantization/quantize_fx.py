"""torch.ao.quantization.quantize_fx: layers of a traced model that follow each other become one.

>>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval()
>>> print(fuse_fx(model).code.strip())
def forward(self, input):
    input_1 = input
    _0 = getattr(self, "0")(input_1);  input_1 = None
    return _0
"""

from __future__ import annotations

import copy
from typing import Any

from funcgrad import nn
from funcgrad.ao.quantization.fusing import _METHODS, fuse_known_modules
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.node import Node
from funcgrad.fx.tracing import symbolic_trace
from funcgrad.nn import functional as F

__all__ = ["fuse_fx"]
_LONGEST = max(map(len, _METHODS))


def fuse_fx(model: nn.Module, fuse_custom_config: Any = None, backend_config: Any = None) -> GraphModule:
    """Return the graph of a model in evaluation in which convolutions, linear layers, normalizations and ReLU are one.

    Layers are fused whose result goes nowhere else; a ReLU may be `F.relu`. AssertionError for normalizations in
    training; NotImplementedError for configurations of one's own.
    """
    if fuse_custom_config is not None or backend_config is not None:
        raise NotImplementedError("fuse_fx: fuse_custom_config and backend_config are not there")
    traced = symbolic_trace(copy.deepcopy(model))
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and not node._erased:
            _fuse(traced, _chain(traced, node))
    traced.delete_all_unused_submodules()
    return GraphModule(traced, traced.graph)


def _chain(traced: GraphModule, node: Node) -> list[Node]:
    """Return the longest row of nodes from this one on that becomes one module, or only this one."""
    row = [node]
    while len(row) < _LONGEST and len(row[-1].users) == 1:
        row.append(next(iter(row[-1].users)))
    while len(row) > 1 and tuple(type(_module(traced, one)) for one in row) not in _METHODS:
        row.pop()
    return row


def _module(traced: GraphModule, node: Node) -> nn.Module | None:
    """Return the module that a node calls; one for `F.relu`, None for other functions."""
    if node.op == "call_module":
        return traced.get_submodule(str(node.target))
    return nn.ReLU().train(traced.training) if node.op == "call_function" and node.target is F.relu else None


def _fuse(traced: GraphModule, row: list[Node]) -> None:
    first, *others = row
    if not others:
        return
    fused, *_ = fuse_known_modules([_module(traced, one) for one in row], is_qat=False)
    traced.set_submodule(str(first.target), fused)
    row[-1].replace_all_uses_with(first)
    for node in reversed(others):
        traced.graph.erase_node(node)
