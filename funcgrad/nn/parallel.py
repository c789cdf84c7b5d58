"""DataParallel and its kin: kept for torch's scripts. A batch on a mesh of devices needs no copies of the module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.distributed_data_parallel import DistributedDataParallel
from funcgrad.nn.module import Module

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
    "scatter_kwargs",
]


class Replicated(Module):
    """Call `module` as it is; its parameters keep torch's prefix "module."."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0, **_: Any
    ) -> None:
        super().__init__()
        self.dim = dim
        self.module = module
        self.device_ids: list[Any] | None = [] if device_ids is None else list(device_ids)
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)


class DataParallel(Replicated):
    """The module on one device: XLA spreads a batch that lies on several."""


def data_parallel(
    module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Call the module with the inputs."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """Return the module once for each device."""
    return [network] * len(devices)


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> list[Any]:
    """Return the inputs in as many parts as there are devices."""
    if isinstance(inputs, (tuple, list)):
        return [type(inputs)(part) for part in zip(*(scatter(x, target_gpus, dim) for x in inputs), strict=True)]
    if isinstance(inputs, dict):
        parts = {name: scatter(x, target_gpus, dim) for name, x in inputs.items()}
        return [{name: listed[i] for name, listed in parts.items()} for i in range(len(target_gpus))]
    if not isinstance(inputs, Tensor):
        return [inputs] * len(target_gpus)
    return list(inputs.chunk(len(target_gpus), dim))


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Sequence[Any], dim: int = 0) -> tuple[Any, Any]:
    """Return positional and named arguments in as many parts as there are devices."""
    count = len(target_gpus)
    positional = scatter(inputs, target_gpus, dim) if inputs else [()] * count
    return tuple(positional), tuple(scatter(kwargs or {}, target_gpus, dim))


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """Return the outputs joined along a dimension."""
    first = outputs[0]
    if isinstance(first, (tuple, list)):
        return type(first)(gather(part, target_device, dim) for part in zip(*outputs, strict=True))
    return fg.cat(list(outputs), dim)


def parallel_apply(
    modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Any = None
) -> list[Any]:
    """Return what each module gives for its input."""
    options = kwargs_tup or [{}] * len(modules)
    return [
        module(*(given if isinstance(given, tuple) else (given,)), **named)
        for module, given, named in zip(modules, inputs, options, strict=True)
    ]
