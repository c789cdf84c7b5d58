"""Modules that learn a size from their first input: what all lazy layers share."""

from __future__ import annotations

import itertools
from typing import Any

from funcgrad.nn.parameter import is_lazy


class LazyModuleMixin:
    """Makes a layer lazy: put it before the layer's class, and write `initialize_parameters` and `cls_to_become`.

    On the first call the parameters are made, and the object becomes one of the class `cls_to_become`.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module: Any = self
        self._load_hook = module._register_load_state_dict_pre_hook(_make_from_checkpoint, with_module=True)
        self._initialize_hook = module.register_forward_pre_hook(_make_from_input, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Make the parameters from the shapes of the first input: for subclasses to write."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Tell whether a parameter or buffer still has no shape."""
        module: Any = self
        members = itertools.chain(module._parameters.values(), module._buffers.values())
        return any(is_lazy(member) for member in members)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        module: Any = self
        for name, member in module._own_state().items():
            destination[prefix + name] = member if keep_vars or is_lazy(member) else member.detach()


def _make_from_checkpoint(module: Any, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
    for name, member in (*module._parameters.items(), *module._buffers.items()):
        key = prefix + name
        if key in state_dict and member is not None and is_lazy(member) and not is_lazy(state_dict[key]):
            member.materialize(state_dict[key].shape)


def _make_from_input(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
