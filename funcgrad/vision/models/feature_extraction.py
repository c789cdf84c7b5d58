"""Results from the middle of a model: by the names of its modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from funcgrad import nn


class IntermediateLayerGetter(nn.ModuleDict):
    """The model's direct children up to the last one that is asked for; gives their results by new names.

    return_layers: {name of a child: name of its result}. ValueError for a name that is no child's.
    """

    def __init__(self, model: nn.Module, return_layers: Mapping[str, str]) -> None:
        children = dict(model.named_children())
        if not set(return_layers) <= set(children):
            raise ValueError("return_layers are not present in model")
        last = max(list(children).index(name) for name in return_layers)
        super().__init__(OrderedDict(list(children.items())[: last + 1]))
        self.return_layers = {str(name): str(result) for name, result in return_layers.items()}

    def forward(self, x: Any) -> OrderedDict[str, Any]:
        """Return the results."""
        found: OrderedDict[str, Any] = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found


class FeatureExtractor(nn.Module):
    """Runs the whole model and keeps what some of its modules gave."""

    def __init__(self, model: nn.Module, return_nodes: Mapping[str, str]) -> None:
        super().__init__()
        modules = dict(model.named_modules())
        absent = [name for name in return_nodes if name not in modules]
        if absent:
            raise ValueError(f"no module of the model is called {', '.join(absent)}: see get_graph_node_names")
        self.model, self.return_nodes = model, dict(return_nodes)

    def forward(self, *inputs: Any) -> dict[str, Any]:
        """Return the modules' results by their new names."""
        found: dict[str, Any] = {}
        modules = dict(self.model.named_modules())

        def keeper(name: str) -> Any:
            return lambda module, given, result: found.__setitem__(name, result)

        handles = [modules[node].register_forward_hook(keeper(name)) for node, name in self.return_nodes.items()]
        try:
            self.model(*inputs)
        finally:
            for handle in handles:
                handle.remove()
        return {name: found[name] for name in self.return_nodes.values()}


def create_feature_extractor(
    model: nn.Module, return_nodes: Mapping[str, str] | Sequence[str] | None = None, **_: Any
) -> FeatureExtractor:
    """Return a module that gives what the named modules of the model give."""
    nodes = return_nodes if isinstance(return_nodes, Mapping) else {name: name for name in return_nodes or ()}
    return FeatureExtractor(model, nodes)


def get_graph_node_names(model: nn.Module, *_: Any, **__: Any) -> tuple[list[str], list[str]]:
    """Return the names of the model's modules, for training and for evaluation."""
    names = [name for name, _ in model.named_modules() if name]
    return names, list(names)
