"""torch.distributed.optim: optimizers whose state is spread over processes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from funcgrad._base.joining import Join, Joinable, JoinHook
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.collectives import all_gather_object
from funcgrad.distributed.groups import members
from funcgrad.optim.optimizer import Optimizer, StateDict


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer of `optimizer_class`: each process steps for its share of the parameters, and tells the others.

    Parameters are dealt out from the largest on, each to the process that has least; the state of a parameter is in its
    process alone, until `consolidate_state_dict`. process_group: None for all processes. NotImplementedError for
    `overlap_with_ddp`. TypeError and ValueError for what are no parameters.

    Source: Rajbhandari et al. 2020, https://arxiv.org/abs/1910.02054, stage 1.
    """

    def __init__(
        self, params: Any, optimizer_class: type[Optimizer], process_group: Any = None,
        parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False, **defaults: Any,
    ) -> None:  # fmt: skip
        self.process_group = members(process_group)
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp=True is not there; call `step`")
        given = _listed(params)
        self.optim: Any = None
        Optimizer.__init__(self, given, defaults)
        Joinable.__init__(self)
        self.world_size, self.rank = self.process_group.size(), self.process_group.rank()
        self.global_rank = self.process_group.ranks[self.rank]
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._all_state_dicts: list[StateDict] = []
        self.optim = optimizer_class(self._dealt()[self.rank], **defaults)
        _copy_options(self.optim.param_groups, self.param_groups)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, and its share to this process's own optimizer."""
        super().add_param_group(param_group)
        if self.optim is not None:
            self.optim.add_param_group(self._dealt()[self.rank][-1])
            _copy_options(self.optim.param_groups, self.param_groups)

    def _dealt(self) -> list[list[dict[str, Any]]]:
        """Return each process's groups: as the optimizer's, with its share of the parameters."""
        dealt: list[list[dict[str, Any]]] = [[] for _ in range(self.process_group.size())]
        sizes = [0] * len(dealt)
        for group in self.param_groups:
            for own in dealt:
                own.append({**group, "params": []})
            for parameter in sorted(group["params"], key=Tensor.numel, reverse=True):
                place = sizes.index(min(sizes))
                dealt[place][-1]["params"].append(parameter)
                sizes[place] += parameter.numel()
        return dealt

    def step(self, closure: Callable[[], Any] | None = None, **options: Any) -> Any:
        """Change this process's share of the parameters, and take over those of the others."""
        Join.notify_join_context(self)
        return self._step_with_others(closure, **options)

    def _step_with_others(self, closure: Callable[[], Any] | None = None, **options: Any) -> Any:
        _copy_options(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(**options) if closure is None else self.optim.step(closure=closure, **options)
        _copy_options(self.optim.param_groups, self.param_groups)
        if self.world_size > 1:
            for place, groups in enumerate(self._dealt()):
                self.process_group.take_over([parameter for group in groups for parameter in group["params"]], place)
        return loss

    def join_hook(self, **_: Any) -> JoinHook:
        """Return what steps with the others."""
        return _Joined(self)

    @property
    def join_device(self) -> Any:
        """Where the first parameter is."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> Any:
        """The processes that share the work."""
        return self.process_group

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the state of all parameters to a process, for `state_dict`; all processes call it."""
        _copy_options(self.param_groups, self.optim.param_groups)
        found: list[Any] = [None] * self.world_size
        all_gather_object(found, self.optim.state_dict(), group=self.process_group)
        self._all_state_dicts = found if self.rank == to else []

    def state_dict(self) -> StateDict:
        """Return what one optimizer of all parameters would, as of the last `consolidate_state_dict`.

        RuntimeError in a process to which nothing was brought.
        """
        if not self._all_state_dicts:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the "
                "global state."
            )
        found, state = super().state_dict(), {}
        places = {id(p): i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}
        for groups, local in zip(self._dealt(), self._all_state_dicts, strict=True):
            for group, saved in zip(groups, local["param_groups"], strict=True):
                for parameter, place in zip(group["params"], saved["params"], strict=True):
                    if place in local["state"]:
                        state[places[id(parameter)]] = local["state"][place]
        found["state"] = dict(sorted(state.items()))
        return found

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` returned: options, and the state of this process's share."""
        own = {id(parameter) for group in self.optim.param_groups for parameter in group["params"]}
        listed = [parameter for group in self.param_groups for parameter in group["params"]]
        state = {i: kept for i, kept in state_dict["state"].items() if id(listed[i]) in own}
        super().load_state_dict({**state_dict, "state": state})
        for parameter, kept in self.state.items():
            self.optim.state[parameter] = copy.copy(kept)
        self.state.clear()
        _copy_options(self.param_groups, self.optim.param_groups)


class _Joined(JoinHook):
    """A process without inputs, which steps for its share."""

    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        """Step once."""
        self.optimizer._step_with_others()


def _listed(params: Any) -> list[Any]:
    """Return parameters or groups of them as a list; errors for all else."""
    if isinstance(params, Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {params.type()}")
    found = list(params)
    if not found:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if not all(isinstance(one, Tensor) for one in found) and not all(isinstance(one, dict) for one in found):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    return found


def _copy_options(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
    """Let groups have the options of others, and keep their parameters."""
    for given, group in zip(source, target, strict=True):
        group.update({name: value for name, value in given.items() if name != "params"})
