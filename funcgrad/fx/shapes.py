"""ShapeProp: runs a graph and notes in each node's `meta` what shape and dtype its result has."""

from __future__ import annotations

from typing import Any, NamedTuple

from funcgrad._tensor.tensor import Tensor
from funcgrad.fx.interpreter import Interpreter
from funcgrad.fx.node import Node, map_aggregate


class TensorMetadata(NamedTuple):
    """What is noted of a tensor."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


class ShapeProp(Interpreter):
    """Runs the module on example arguments by `propagate`; nodes get `meta["tensor_meta"]` and `meta["type"]`."""

    def run_node(self, n: Node) -> Any:
        """Run one node and note what came of it."""
        result = super().run_node(n)
        found = map_aggregate(result, lambda x: metadata(x) if isinstance(x, Tensor) else None)
        if any(x is not None for x in _leaves(found)):
            n.meta["tensor_meta"] = found
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the module on these arguments."""
        return super().run(*args)


def _leaves(tree: Any) -> list[Any]:
    leaves: list[Any] = []
    if isinstance(tree, TensorMetadata):
        return [tree]
    map_aggregate(tree, leaves.append)
    return leaves


def metadata(tensor: Tensor) -> TensorMetadata:
    """Return what a node says of a tensor."""
    return TensorMetadata(tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), None, False, {})
