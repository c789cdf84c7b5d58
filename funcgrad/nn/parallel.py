"""DataParallel and its kin: kept for torch's scripts. A batch on a mesh of devices needs no copies of the module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from funcgrad._base.world import need, world
from funcgrad._tape.modes import is_grad_enabled
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.variable import Variable
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


class DistributedDataParallel(Replicated):
    """The module of one of several processes, each of which has its part of a batch.

    At the start all have the parameters and buffers of rank 0; after a backward pass that forward prepared, the mean of
    all gradients. Buffers become those of rank 0 at each forward but the first after `no_sync`, if `broadcast_buffers`.
    ValueError before `init_process_group`.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0,
        broadcast_buffers: bool = True, init_sync: bool = True, process_group: Any = None, *_: Any, **options: Any,
    ) -> None:  # fmt: skip
        need()
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        super().__init__(module, device_ids, output_device, dim)
        self.device_ids = self.device_ids or None
        self.process_group = process_group
        self.broadcast_buffers = broadcast_buffers
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self._shared = Shared([*module.parameters()], [*module.buffers()], process_group)
        if init_sync:
            self._shared.take_state()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module; a backward pass from here leaves the mean of all processes' gradients."""
        if self.broadcast_buffers and self.require_forward_param_sync:
            self._shared.take_buffers()
        found = super().forward(*inputs, **kwargs)
        self.require_forward_param_sync = is_grad_enabled() and self.require_backward_grad_sync
        if self.require_forward_param_sync:
            self._shared.await_gradients()
        return found

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Let gradients add up here; the next backward pass outside leaves the mean of all sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(self, *_: Any, **__: Any) -> Iterator[None]:
        """Train with as many batches as there are; RuntimeError where several processes may have different numbers."""
        if self._shared.count > 1:
            raise RuntimeError("join(): processes with different numbers of batches are not supported; drop_last=True")
        yield

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """Accepted: gradients are averaged as they are."""

    def _set_static_graph(self) -> None:
        """Accepted."""


class Shared:
    """Parameters, their gradients and buffers that the processes of a group (None: all) keep the same.

    count: how many processes there are. is_awaited: whether the next backward pass ends with the mean of gradients.
    """

    def __init__(self, parameters: Sequence[Tensor], buffers: Sequence[Tensor], group: Any = None) -> None:
        self.parameters, self.buffers, self.is_awaited = list(parameters), list(buffers), False
        self.group = world().group if group is None else group
        self.count: int = 1 if self.group is None else self.group.size()
        self._is_queued = False
        self._learned = [parameter for parameter in self.parameters if parameter.requires_grad]
        if self.count > 1:
            for parameter in self._learned:
                parameter.register_post_accumulate_grad_hook(self._note_gradient)

    def __reduce__(self) -> tuple[Any, ...]:
        return Shared, (self.parameters, self.buffers, self.group)  # a copy of the module averages its own gradients

    def take_state(self) -> None:
        """Take over the parameters and buffers of rank 0."""
        if self.count > 1:
            self.group.take_over([*self.parameters, *self.buffers])

    def take_buffers(self) -> None:
        """Take over the buffers of rank 0."""
        if self.count > 1 and self.buffers:
            self.group.take_over(self.buffers)

    def await_gradients(self) -> None:
        """Let the next backward pass end with the mean, also where the one before it was broken off."""
        self.is_awaited, self._is_queued = True, False

    def _note_gradient(self, _: Tensor) -> None:
        """Let the backward pass that runs end with the mean."""
        if self.is_awaited and not self._is_queued:
            self._is_queued = True
            Variable._execution_engine.queue_callback(self._average)

    def _average(self) -> None:
        self._is_queued = self.is_awaited = False
        self.group.average(self._learned)


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
