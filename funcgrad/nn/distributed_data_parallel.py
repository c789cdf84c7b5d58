"""DistributedDataParallel: one of several processes trains a module on its part of each batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from funcgrad._base.joining import Join, Joinable, JoinHook
from funcgrad._base.warning import warn
from funcgrad._base.world import need, world
from funcgrad._tape.modes import is_grad_enabled
from funcgrad._tensor.tensor import Tensor
from funcgrad.futures import Future
from funcgrad.nn.batchnorm import SyncBatchNorm
from funcgrad.nn.gradient_buckets import FIRST_LIMIT, LIMIT, GradBucket
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import UninitializedParameter
from funcgrad.nn.sharing import Shared, Sharing

_MIB = 1 << 20


class DistributedDataParallel(Module, Joinable):
    """The module of one of several processes, each of which has its part of a batch.

    At the start all have the parameters and buffers of rank 0; after a backward pass that forward prepared, the mean of
    all gradients. Buffers become those of rank 0 at each forward but the first after `no_sync`, if
    `forward_sync_buffers`. find_unused_parameters, static_graph: some parameters may be without gradients; otherwise
    forward raises RuntimeError after such a pass. ValueError before `init_process_group`, and for devices that do not
    fit; RuntimeError for modules that learn nothing or are not alike in all processes.
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0,
        broadcast_buffers: bool | None = None, init_sync: bool = True, process_group: Any = None,
        bucket_cap_mb: float | None = None, find_unused_parameters: bool = False, check_reduction: bool = False,
        gradient_as_bucket_view: bool = False, static_graph: bool = False, delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None, mixed_precision: Any = None, device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: Sequence[float] | None = None,
        batched_grad_copy: bool = False, forward_sync_buffers: bool | None = None,
    ) -> None:  # fmt: skip
        Module.__init__(self)
        Joinable.__init__(self)
        if delay_all_reduce_named_params is not None or param_to_hook_all_reduce is not None or mixed_precision:
            raise NotImplementedError(
                "DistributedDataParallel: delay_all_reduce_named_params, param_to_hook_all_reduce and mixed_precision "
                "are not there; autocast chooses what is computed in which precision"
            )
        self.process_group = _group_of(process_group, device_mesh)
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        ignored = self.parameters_to_ignore
        parameters = [parameter for name, parameter in module.named_parameters() if name not in ignored]
        self.device_ids, self.output_device = _check_devices(parameters, device_ids, output_device)
        self.device = parameters[0].device
        self.device_type = self.device.type
        self.is_multi_device_module = len({parameter.device for parameter in parameters}) > 1
        self.dim, self.module = dim, module
        self.forward_sync_buffers, syncs_first = _buffers_synced(broadcast_buffers, forward_sync_buffers)
        self.find_unused_parameters, self.static_graph = find_unused_parameters, False
        self.gradient_as_bucket_view, self.batched_grad_copy = gradient_as_bucket_view, batched_grad_copy
        self.mixed_precision, self._divide_by_initial_world_size = mixed_precision, True
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        if check_reduction:
            warn(
                "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using "
                "it.",
                FutureWarning,
            )
        if any(isinstance(parameter, UninitializedParameter) for parameter in parameters):
            raise RuntimeError(
                "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
                "forward pass to correctly initialize the modules"
            )
        limits = _limits(bucket_cap_mb, bucket_cap_mb_list)
        self.bucket_bytes_cap = int(max(limits))
        buffers = [buffer for name, buffer in module.named_buffers() if name not in ignored]
        how = Sharing(not find_unused_parameters, not find_unused_parameters, limits)
        self._shared = Shared(parameters, buffers if self.forward_sync_buffers else [], self.process_group, how)
        if init_sync:
            _check_alike(self.process_group, parameters)
            self._shared.take_state()
            if syncs_first and not self.forward_sync_buffers and buffers:
                self.process_group.take_over(buffers)
        if self.device_type == "cpu" and any(isinstance(part, SyncBatchNorm) for part in module.modules()):
            raise ValueError("SyncBatchNorm layers only work with GPU modules")
        if static_graph:
            self._set_static_graph()

    @property
    def broadcast_buffers(self) -> bool:
        """Whether buffers become those of rank 0 at each forward: `forward_sync_buffers`."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module; a backward pass from here leaves the mean of all processes' gradients.

        RuntimeError where the pass before has left parameters without gradients, and all need them.
        """
        syncs = self.require_backward_grad_sync and is_grad_enabled()
        if syncs:
            self._shared.expect_forward()
        joins = self._join_config.enable
        told = Join.notify_join_context(self) if joins else None
        if told is not None and not self._divide_by_initial_world_size:
            self._shared.divisor = told.going_on
        if self.forward_sync_buffers and self.require_forward_param_sync and self._shared.buffers:
            self._shared.take_buffers(self._common_place(True) if joins else 0)
        if joins:
            self.process_group.numbers(int(self.require_backward_grad_sync))
        found = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = syncs
        if syncs:
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

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """Train with as many batches as each process has: `with model.join(): ...`.

        A process that has none left gives zeros for gradients, which are divided by the number of all processes, or by
        that of those that go on. In the end all have what the last one has. throw_on_early_termination: RuntimeError in
        all processes once the first has no batch left.
        """
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what takes part in the others' passes; kwargs: `divide_by_initial_world_size` (True)."""
        return _Joined(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> Any:
        """Where the module is."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The processes that train the module."""
        return self.process_group

    def register_comm_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """Let `hook(state, bucket)` communicate gradients: what its future gives takes their place.

        bucket: a `GradBucket`; gradients in it are not divided by the number of processes. Raises RuntimeError: there
        is a hook; TypeError for what cannot be called; ValueError for annotations of other types.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        signature = inspect.signature(hook)
        said = signature.parameters["bucket"].annotation
        if not isinstance(said, str) and said not in (inspect.Parameter.empty, GradBucket):
            raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        said = signature.return_annotation
        if not isinstance(said, str) and said not in (inspect.Signature.empty, Future[Tensor]):
            raise ValueError("Communication hook: return annotation should be torch.futures.Future[torch.Tensor].")
        if self.device_type == "cpu" and hook.__name__ in ("bf16_compress_hook", "bf16_compress_wrapper_hook"):
            raise TypeError("BF16 all reduce communication hook required CUDA 11+ and NCCL 2.10+ or XPU and XCCL")
        self._shared.set_hook(lambda bucket: hook(state, bucket))

    def _set_static_graph(self) -> None:
        """Let each backward pass use the same parameters as the first."""
        if self.static_graph:
            warn("You've set static_graph to be True, no need to set it again.")
            return
        self.static_graph = True
        self._shared.need_what_comes()
        if self.find_unused_parameters:
            warn(
                "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will detect "
                "unused parameters automatically, so you do not need to set find_unused_parameters=true, just be sure "
                "these unused parameters will not change during training loop while calling `_set_static_graph`."
            )

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Any, params_and_buffers_to_ignore: Any) -> None:
        """Leave parameters and buffers of these names (`layer.weight`) to each process."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    def _common_place(self, is_candidate: bool) -> int:
        """Return the last of the processes that are candidates."""
        return max(self.process_group.numbers(self.process_group.rank() if is_candidate else -1))


class _Joined(JoinHook):
    """A process without inputs, which takes part in the others' forward and backward passes."""

    def __init__(self, module: DistributedDataParallel, divide_by_initial_world_size: bool) -> None:
        self.module = module
        module._divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self) -> None:
        """Take over buffers, and give gradients of zero."""
        module = self.module
        if module.forward_sync_buffers and module.require_forward_param_sync and module._shared.buffers:
            module._shared.take_buffers(module._common_place(False))
        syncs = sum(module.process_group.numbers(0)) > 0
        module.require_forward_param_sync = syncs
        if syncs:
            module._shared.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Take over what the last process has that joined."""
        self.module._shared.take_state(self.module._common_place(is_last_joiner))
        self.module._shared.divisor = None


def _group_of(process_group: Any, device_mesh: Any) -> Any:
    """Return the processes that share a module. RuntimeError: they are named twice, or a mesh has many dimensions."""
    if process_group is not None and device_mesh is not None:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if device_mesh is not None:
        if device_mesh.ndim != 1:
            raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
        return device_mesh.get_group(mesh_dim=0)
    if process_group is None:
        need()
        return world().group
    return process_group


def _check_devices(
    parameters: Sequence[Tensor], device_ids: Sequence[Any] | None, output_device: Any
) -> tuple[list[Any] | None, Any]:
    """Return the device of the module's copy and of its outputs, None where none is named.

    RuntimeError: nothing learns. ValueError for several devices, and for any where the module is on the CPU.
    """
    if not any(parameter.requires_grad for parameter in parameters):
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
        )
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    kinds = {parameter.device.type for parameter in parameters}
    if len(kinds) != 1:
        raise ValueError(
            "DistributedDataParallel's input module must be on the same type of devices, but input module parameters "
            f"locate in {kinds}."
        )
    devices = {parameter.device for parameter in parameters}
    if device_ids and kinds != {"cpu"} and len(devices) == 1:
        return list(device_ids), device_ids[0] if output_device is None else output_device
    if device_ids or output_device:
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            f"single-device/multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, output_device "
            f"{output_device}, and module parameters {devices}."
        )
    return None, None


def _buffers_synced(broadcast: bool | None, forward: bool | None) -> tuple[bool, bool]:
    """Return whether buffers are those of rank 0 at each forward, and at the start."""
    if broadcast is not None and forward is not None:
        warn(
            "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated and "
            "its value is ignored when `forward_sync_buffers` is provided.",
            FutureWarning,
        )
    elif broadcast is not None:
        warn(
            "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
            "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you rely on "
            "buffers NOT being synced at init (e.g. rank-local buffers), keep using `broadcast_buffers=False` until "
            "`init_sync_buffers` is available.",
            FutureWarning,
        )
    if forward is not None:
        return forward, True
    return broadcast is not False, broadcast is not False


def _limits(each: float | None, listed: Sequence[float] | None) -> list[float]:
    """Return the bytes at which buckets are full, of what a script says in MiB."""
    if listed:
        return [int(limit * _MIB) for limit in listed]
    return [FIRST_LIMIT, LIMIT] if each is None else [int(each * _MIB)]


def _check_alike(group: Any, parameters: Sequence[Tensor]) -> None:
    """RuntimeError where the processes have other numbers of parameters, or other shapes."""
    if group.size() == 1:
        return
    learned = [parameter for parameter in parameters if parameter.requires_grad]
    shapes, *others = group.told([list(parameter.shape) for parameter in learned])
    for rank, other in enumerate(others, 1):
        if len(other) != len(shapes):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {group.rank()} has {len(learned)} params, while "
                f"rank {rank if group.rank() == 0 else 0} has inconsistent "
                f"{len(other) if group.rank() == 0 else len(shapes)} params."
            )
    for i, (parameter, shape) in enumerate(zip(learned, shapes, strict=True)):
        if list(parameter.shape) != shape:
            raise RuntimeError(
                f"[{group.rank()}]: params[{i}] in this process with sizes {list(parameter.shape)} appears not to "
                "match sizes of the same param in process 0."
            )
