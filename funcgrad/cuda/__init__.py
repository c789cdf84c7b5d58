"""torch.cuda as scripts ask for it: real answers where JAX sees a GPU, harmless ones where it does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._tensor import legacy, names
from funcgrad._tensor.placement import available, current_gpu, set_current_gpu
from funcgrad.cuda import amp as amp
from funcgrad.cuda import nvtx, profiler
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
from funcgrad.random import Generator
from funcgrad.random import generator as _generator

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
    "memory_cached", "memory_reserved", "memory_stats", "memory_summary", "nvtx", "profiler",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream", "stream",
    "synchronize",
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


def synchronize(device: Any = None) -> None:
    """Run what is recorded and wait until the devices are idle."""
    names.synchronize()


# Random numbers: the generator of the GPU is seeded with all others, or alone


def manual_seed(seed: int) -> None:
    """Seed the generator of the GPU that "cuda" means. Where there is none, nothing is seeded: the CPU's goes on."""
    if is_available():
        _generator.generator_of(Device("cuda", current_gpu())).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs."""
    for number in range(device_count()):
        _generator.generator_of(Device("cuda", number)).manual_seed(seed)


def seed() -> None:
    """Seed the generator of the GPU that "cuda" means with a number that nobody chose."""
    if is_available():
        _generator.generator_of(Device("cuda", current_gpu())).seed()


def seed_all() -> None:
    """Seed the generators of all GPUs with one number that nobody chose."""
    manual_seed_all(Generator().seed())


def initial_seed() -> int:
    """Return the seed that the generator of the GPU that "cuda" means started from."""
    need()
    return _generator.generator_of(Device("cuda", current_gpu())).initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """Return the state of the generator of a GPU."""
    return _generator.generator_of(Device(device)).get_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Put the generator of a GPU into a state."""
    _generator.generator_of(Device(device)).set_state(new_state)


def get_rng_state_all() -> list[Any]:
    """Return the states of the generators of all GPUs."""
    return [get_rng_state(number) for number in range(device_count())]


def set_rng_state_all(new_states: Any) -> None:
    """Put the generators of all GPUs into these states."""
    for number, state in enumerate(new_states):
        set_rng_state(state, number)


# Streams: XLA orders what it computes by what depends on what


class Stream:
    """Accepted where scripts order work by streams: XLA knows itself what depends on what."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device, self.priority, self.cuda_stream = device, priority, 0

    def synchronize(self) -> None:
        """Wait until the devices are idle."""
        synchronize()

    def query(self) -> bool:
        """Tell whether all work is done; it is, after waiting for it."""
        synchronize()
        return True

    def wait_stream(self, stream: Any) -> None:
        """Accepted: results are computed before they are used."""

    wait_event = wait_stream

    def record_event(self, event: Any = None) -> Any:
        """Return an event that has happened."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Accepted: there is no stream to go back to."""


ExternalStream = Stream
_THE_STREAM = Stream()


def current_stream(device: Any = None) -> Stream:
    """Return the one stream that there is."""
    return _THE_STREAM


default_stream = current_stream


def set_stream(stream: Any) -> None:
    """Accepted: XLA chooses its own streams."""


def stream(stream: Any) -> Any:
    """Return a block that changes nothing: XLA chooses its own streams."""
    return stream or _THE_STREAM


StreamContext = Stream  # a stream is its own block


def is_current_stream_capturing() -> bool:
    """Tell whether a CUDA graph is being captured: never, XLA programs are graphs already."""
    return False


class CUDAGraph:
    """A captured program. RuntimeError when one is made: a step is an XLA program already."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError(
            "CUDA graphs are not captured here: what a step does is one compiled program already; call it again instead"
        )


graph = graph_pool_handle = CUDAGraph


def make_graphed_callables(callables: Any, sample_args: Any, *_: Any, **__: Any) -> Any:
    """Return the callables themselves: what they do is compiled where they are called."""
    return callables


class Event:
    """A moment on the host's clock, after the device has finished what was recorded."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time, self._is_timed = 0.0, enable_timing

    def record(self, stream: Any = None) -> None:
        """Remember the present moment."""
        synchronize()
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Wait until the moment has passed; it has."""

    def wait(self, stream: Any = None) -> None:
        """Wait until the moment has passed; it has."""

    def query(self) -> bool:
        """Tell whether the moment has passed; it has."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this moment to another. RuntimeError for events made without enable_timing."""
        if not (self._is_timed and end_event._is_timed):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        return (end_event._time - self._time) * 1e3


def _number(given: Any) -> int:
    wanted = given if isinstance(given, int) else Device(given).index
    return current_gpu() if wanted is None else wanted
