"""A GPU for tests: of two CPU devices the first passes for one. To be imported before funcgrad, in a process apart.

What XLA compiles is for a CPU all the same; what the library decides of a GPU is tested, not what a GPU computes.
"""

from __future__ import annotations

from typing import Any

import jax

jax.config.update("jax_num_cpu_devices", 2)
GPU, CPU = jax.devices()
_devices = jax.devices


def devices(backend: str | None = None) -> list[Any]:
    """Return what `jax.devices` would on a machine with a GPU."""
    if backend in (None, "cuda", "gpu"):
        return [GPU]
    return [CPU] if backend == "cpu" else _devices(backend)


jax.devices = devices
jax.default_backend = lambda: "gpu"

from funcgrad._base.devices import device  # noqa: E402 - it asks JAX for devices
from funcgrad._tensor import placement  # noqa: E402

placement._device_named = lambda found: device("cpu") if found is CPU else device("cuda", 0)
