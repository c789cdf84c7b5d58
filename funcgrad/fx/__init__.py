"""torch.fx: a module traced into a graph that can be read, changed and written as Python again.

>>> from funcgrad import fx, relu
>>> print(fx.symbolic_trace(lambda x: relu(x) + 1).graph)
graph():
    %x : [num_users=1] = placeholder[target=x]
    %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
    %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
    return add
"""

from funcgrad.fx.graph import Graph
from funcgrad.fx.graph_module import GraphModule
from funcgrad.fx.interpreter import Interpreter, Transformer
from funcgrad.fx.node import Node, map_arg
from funcgrad.fx.proxy import Proxy, TraceError
from funcgrad.fx.rewriting import Match, replace_pattern
from funcgrad.fx.tracing import Tracer, symbolic_trace, wrap

__all__ = [
    "Graph", "GraphModule", "Interpreter", "Match", "Node", "Proxy", "TraceError", "Tracer", "Transformer", "map_arg",
    "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip
