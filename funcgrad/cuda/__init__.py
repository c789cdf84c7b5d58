"""torch.cuda as scripts ask for it: real answers where JAX sees a GPU, harmless ones where it does not."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._tensor import legacy
from funcgrad._tensor.placement import available, current_gpu, set_current_gpu
from funcgrad.cuda import amp as amp
from funcgrad.cuda import nvtx, profiler, random, streams
from funcgrad.cuda.memory import (
    empty_cache,
    get_device_properties,
    ipc_collect,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    memory_summary,
    need,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from funcgrad.cuda.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from funcgrad.cuda.streams import (
    CUDAGraph,
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
    set_stream,
    stream,
    synchronize,
)

globals().update(legacy.CUDA_TYPES)
OutOfMemoryError = MemoryError
AcceleratorError = RuntimeError  # what JAX raises for a device that fails is one
has_half = True
default_generators = ()  # as torch has it before a device is used

__all__ = [
    "CUDAGraph", "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext", "current_device",
    "current_stream", "default_generators", "default_stream", "device", "device_count", "device_of", "empty_cache",
    "get_arch_list",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "graph",
    "graph_pool_handle", "has_half", "init", "initial_seed", "ipc_collect", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "make_graphed_callables", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_cached", "memory_reserved", "memory_stats", "memory_summary", "nvtx", "profiler", "random",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream", "stream",
    "streams", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Tell whether JAX sees a GPU."""
    return bool(available("cuda"))


def device_count() -> int:
    """Return how many GPUs JAX sees."""
    return len(available("cuda"))


def init() -> None:
    """Accepted: JAX starts the GPU when it is first used."""


def is_initialized() -> bool:
    """Tell whether there is a GPU to be used."""
    return is_available()


def __getattr__(name: str) -> Any:
    """Answer `_initialized`, which libraries read, when it is asked for: JAX starts the GPU then."""
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module 'torch.cuda' has no attribute {name!r}")


def _lazy_call(function: Callable[[], Any], **_: Any) -> None:
    """Call a function that needs a GPU: at once where there is one, never where there is none."""
    if is_available():
        function()


def current_device() -> int:
    """Return the number of the GPU that "cuda" means; AssertionError without one."""
    need()
    return current_gpu()


def set_device(device: Any) -> None:
    """Let "cuda" mean this GPU; AssertionError without one."""
    need()
    set_current_gpu(_number(device))


class device:  # noqa: N801 - torch's own spelling
    """A block in which "cuda" means this GPU (None or a negative number: it changes nothing)."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _number(device)

    def __enter__(self) -> None:
        self.prev_idx = current_gpu()
        if self.idx >= 0:
            set_current_gpu(self.idx)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_current_gpu(self.prev_idx)


class device_of(device):  # noqa: N801 - torch's own spelling
    """A block in which "cuda" means the GPU of this tensor, if it is on one."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device if obj.is_cuda else None)


def get_device_name(device: Any = None) -> str:
    """Return the name of a GPU."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return a GPU's compute capability."""
    found = get_device_properties(device)
    return found.major, found.minor


def get_arch_list() -> list[str]:
    """Return an empty list: XLA compiles for the GPU that is there."""
    return []


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Tell whether the GPU computes in bfloat16."""
    return is_available()


def _number(given: Any) -> int:
    wanted = given if isinstance(given, int) else Device(given).index
    return current_gpu() if wanted is None else wanted
