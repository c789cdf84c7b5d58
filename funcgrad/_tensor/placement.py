"""Which JAX device a torch device means, and the other way round."""

from __future__ import annotations

import functools
from typing import Any

import jax

from funcgrad._base import devices
from funcgrad._base.devices import Default, device
from funcgrad._program.value import META

_PLATFORMS = {"cuda": ("cuda", "rocm", "gpu"), "hip": ("rocm",), "xla": ("tpu", "cuda", "gpu"), "tpu": ("tpu",)}


def set_default_device(device: Any) -> None:
    """Set the device of tensors that name none."""
    Default.device = None if device is None else devices.device(device)


def get_default_device() -> device:
    """Return the device of tensors that name none."""
    return Default.device or device_of(None)


def current_gpu() -> int:
    """Return the number of the GPU that "cuda" means."""
    return Default.gpu


def set_current_gpu(number: int) -> None:
    """Let "cuda" mean another GPU."""
    Default.gpu = number


def placement(given: Any) -> Any:
    """Return the jax.Device for a torch device (or its name), None for JAX's default, META for none at all.

    Raises AssertionError for a GPU and RuntimeError for another device that this machine has not.
    """
    wanted = Default.device if given is None else device(given)
    if wanted is not None and wanted.type == "meta":
        return META
    if wanted is None or _is_default(wanted):
        return None
    devices = available(wanted.type)
    number = _number(wanted)
    if not devices:
        found = f"JAX finds no {wanted.type} device on this machine (only {jax.default_backend()})"
        if wanted.type == "cuda":
            raise AssertionError(f"Torch not compiled with CUDA enabled: {found}")
        raise RuntimeError(found)
    if number >= len(devices):
        raise RuntimeError(f"invalid device ordinal {number}: this machine has {len(devices)} {wanted.type} device(s)")
    return devices[number]


def _is_default(wanted: device) -> bool:
    return _number(wanted) == 0 and wanted.type == device_of(None).type


def _number(wanted: device) -> int:
    return wanted.index or (Default.gpu if wanted.index is None and wanted.type == "cuda" else 0)


def is_on(present: device, wanted: device) -> bool:
    """Tell whether a tensor on `present` is where `wanted` says; without a number that is the present device."""
    return present.type == wanted.type and (present.index or 0) == _number(wanted)


@functools.cache
def available(kind: str) -> tuple[Any, ...]:
    """Return this machine's devices of a torch kind."""
    for platform in _PLATFORMS.get(kind, (kind,)):
        try:
            return tuple(jax.devices(platform))
        except RuntimeError:
            continue  # JAX has no such platform here
    return ()


def device_of(sharding: Any) -> device:
    """Return torch's word for where an array is; None is JAX's default device."""
    if sharding is META:
        return device("meta")
    return _device_named(None if sharding is None else next(iter(sharding.device_set)))


@functools.cache
def _device_named(found: Any) -> device:
    found = found or jax.devices()[0]
    kind = {"gpu": "cuda", "rocm": "cuda"}.get(found.platform, found.platform)
    if kind == "cpu":
        return device("cpu")
    return device(kind, jax.devices(found.platform).index(found))
