"""States of modules and optimizers under the parameters' own names, whatever the module is wrapped in."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module
from funcgrad.optim.optimizer import Optimizer

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict",
    "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip
_WRAPPERS = ("module.", "_orig_mod.", "_fsdp_wrapped_module.")


@dataclass
class StateDictOptions:
    """What a state holds. cpu_offload: tensors are on the host. ignore_frozen_params: only what is trained.

    With one process a state is always full, so `full_state_dict` and `broadcast_from_rank0` change nothing.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False


def get_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], *, submodules: Any = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """Return the states of a model and of its optimizers."""
    return get_model_state_dict(model, options=options), get_optimizer_state_dict(model, optimizers, options=options)


def get_model_state_dict(
    model: Module, *, submodules: Any = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """Return a model's state without the prefixes of what wraps it."""
    chosen = options or StateDictOptions()
    frozen = {_own(name) for name, p in model.named_parameters(remove_duplicate=False) if not p.requires_grad}
    state = {_own(name): value for name, value in model.state_dict().items()}
    if chosen.ignore_frozen_params:
        state = {name: value for name, value in state.items() if name not in frozen}
    return _moved(state) if chosen.cpu_offload else state


def get_optimizer_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], *, submodules: Any = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the optimizers' state by parameter name; one that has none yet is given its first."""
    chosen = options or StateDictOptions()
    names = _names(model)
    together: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _listed(optimizers):
        _begin(optimizer)
        state = optimizer.state_dict()
        ids = _names_by_id(optimizer, names)
        together["state"].update((ids[i], own) for i, own in state["state"].items())
        together["param_groups"] += [_renamed(group, ids) for group in state["param_groups"]]
    if chosen.cpu_offload:
        together = _moved(together)
    return _flat(together) if chosen.flatten_optimizer_state_dict else together


def set_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], *, model_state_dict: Mapping[str, Any],
    optim_state_dict: Mapping[str, Any], options: StateDictOptions | None = None,
) -> Any:  # fmt: skip
    """Load both states; return the keys that the model's lacks, and those it has too much."""
    result = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return result


def set_model_state_dict(
    model: Module, model_state_dict: Mapping[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load a model's state, which has no prefixes of what wraps it."""
    wrapped = {_own(name): name for name in model.state_dict()}
    state = {wrapped.get(name, name): value for name, value in model_state_dict.items()}
    return model.load_state_dict(state, strict=(options or StateDictOptions()).strict)


def set_optimizer_state_dict(
    model: Module, optimizers: Optimizer | Iterable[Optimizer], optim_state_dict: Mapping[str, Any], *,
    options: StateDictOptions | None = None,
) -> None:  # fmt: skip
    """Load the state that `get_optimizer_state_dict` returned, flat or not."""
    names = _names(model)
    for optimizer in _listed(optimizers):
        _begin(optimizer)
        own = optimizer.state_dict()
        ids = _names_by_id(optimizer, names)
        given = optim_state_dict if "param_groups" in optim_state_dict else _unflat(optim_state_dict, own, ids)
        state = {i: given["state"][name] for i, name in ids.items() if name in given["state"]}
        groups = [_group_like(group, given["param_groups"], ids) for group in own["param_groups"]]
        optimizer.load_state_dict({"state": copy.copy(state), "param_groups": groups})


def _own(name: str) -> str:
    for wrapper in _WRAPPERS:
        name = name.replace(wrapper, "") if name.startswith(wrapper) or f".{wrapper}" in name else name
    return name


def _names(model: Module) -> dict[Tensor, str]:
    return {parameter: _own(name) for name, parameter in model.named_parameters()}


def _listed(optimizers: Optimizer | Iterable[Optimizer]) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def _names_by_id(optimizer: Optimizer, names: Mapping[Tensor, str]) -> dict[int, str]:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return {i: names[parameter] for i, parameter in enumerate(parameters)}


def _renamed(group: Mapping[str, Any], ids: Mapping[int, str]) -> dict[str, Any]:
    return {**{k: v for k, v in group.items() if k != "param_names"}, "params": [ids[i] for i in group["params"]]}


def _group_like(own: Mapping[str, Any], given: Iterable[Mapping[str, Any]], ids: Mapping[int, str]) -> dict[str, Any]:
    wanted = {ids[i] for i in own["params"]}
    for group in given:
        if set(group["params"]) == wanted:
            return {**own, **group, "params": own["params"]}
    raise RuntimeError(f"no group of the loaded state has the parameters {sorted(wanted)}")


def _begin(optimizer: Optimizer) -> None:
    """Give an optimizer its first state, by a step that changes nothing."""
    parameters = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
    if optimizer.state or any(p.grad is not None for p in parameters):
        return
    rates = [group["lr"] for group in optimizer.param_groups]
    for parameter in parameters:
        parameter.grad = parameter.detach() * 0
    for group in optimizer.param_groups:
        group["lr"] = group["lr"] * 0
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def _moved(state: Any) -> Any:
    if isinstance(state, Tensor):
        return state.detach().cpu()
    if isinstance(state, dict):
        return {key: _moved(value) for key, value in state.items()}
    return [_moved(value) for value in state] if isinstance(state, list) else state


def _flat(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return one level: "state.<parameter>.<name>" and "param_groups.<parameter>.<option>"."""
    flat = {f"state.{name}.{key}": value for name, own in state["state"].items() for key, value in own.items()}
    for group in state["param_groups"]:
        options = {key: value for key, value in group.items() if key != "params"}
        flat.update((f"param_groups.{name}.{key}", value) for name in group["params"] for key, value in options.items())
    return flat


def _unflat(flat: Mapping[str, Any], own: Mapping[str, Any], ids: Mapping[int, str]) -> dict[str, Any]:
    state = {
        ids[i]: {key: flat[f"state.{ids[i]}.{key}"] for key in states if f"state.{ids[i]}.{key}" in flat}
        for i, states in own["state"].items()
    }
    groups = []
    for group in own["param_groups"]:
        named = _renamed(group, ids)
        first = f"param_groups.{named['params'][0]}." if named["params"] else ""
        groups.append({key: flat.get(f"{first}{key}", value) for key, value in named.items()})
    return {"state": state, "param_groups": groups}
