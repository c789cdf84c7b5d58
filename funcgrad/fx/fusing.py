"""Layers of a traced module put together for inference: batch normalization into what is before it; no dropout."""

from __future__ import annotations

import copy
from typing import Any

from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.interpreter import Transformer
from funcgrad.fx.node import Node
from funcgrad.fx.tracing import symbolic_trace
from funcgrad.nn.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from funcgrad.nn.conv import Conv1d, Conv2d, Conv3d
from funcgrad.nn.dropout import Dropout
from funcgrad.nn.linear import Linear
from funcgrad.nn.module import Module
from funcgrad.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

_FUSIBLE = {(Conv1d, BatchNorm1d), (Conv2d, BatchNorm2d), (Conv3d, BatchNorm3d), (Linear, BatchNorm1d)}


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Return a module in eval mode whose batch normalizations are part of the layers before them.

    A layer whose result is used elsewhere too, or a normalization without running statistics, stays as it is.
    """
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        layer, norm = _pair(node, modules)
        if layer is None or len(node.args[0].users) > 1 or not norm.track_running_stats:
            continue
        fuse_one = fuse_linear_bn_eval if type(layer) is Linear else fuse_conv_bn_eval
        fused = fuse_one(layer.eval(), norm.eval())
        target = str(node.args[0].target)
        traced.set_submodule(target, fused)
        modules[target] = fused
        node.replace_all_uses_with(node.args[0])
        traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    return GraphModule(traced, traced.graph)


def _pair(node: Node, modules: dict[str, Any]) -> tuple[Any, Any]:
    """Return the layer and the normalization that a node and the one before it call; (None, None) if they do not."""
    before = node.args[0] if node.args else None
    if node.op != "call_module" or not isinstance(before, Node) or before.op != "call_module":
        return None, None
    layer, norm = modules[str(before.target)], modules[str(node.target)]
    return (layer, norm) if (type(layer), type(norm)) in _FUSIBLE else (None, None)


class _WithoutDropout(Transformer):
    """Leaves out calls of Dropout."""

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the argument itself for a dropout."""
        if isinstance(self.submodules[target], Dropout):
            return args[0]
        return super().call_module(target, args, kwargs)


def remove_dropout(model: Module) -> GraphModule:
    """Return the module without its Dropout layers."""
    return _WithoutDropout(symbolic_trace(model)).transform()
