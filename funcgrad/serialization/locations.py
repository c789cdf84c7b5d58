"""On which device a loaded storage will live: what the file says, or what `map_location` makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from funcgrad._base.devices import device
from funcgrad._tensor.placement import available
from funcgrad.serialization.storages import Storage

MAP_LOCATION = Any  # None, a device or its name, a mapping of names, or a function (storage, location) -> storage
Restore = Callable[[Storage, str], Storage]


def restoring(map_location: MAP_LOCATION) -> Restore:
    """Return the function that puts a storage of the file where it belongs."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, Mapping):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes, device)):
        target = map_location.decode() if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, location: default_restore_location(storage, target)
    if not callable(map_location):
        raise TypeError(f"map_location is a device, a string, a dict or a function, not {type(map_location).__name__}")
    return lambda storage, location: _by_function(map_location, storage, location)


def _by_function(function: Callable[[Storage, str], Any], storage: Storage, location: str) -> Storage:
    chosen = function(storage, location)
    if chosen is None:
        return default_restore_location(storage, location)
    return default_restore_location(chosen, str(chosen.device))


def default_restore_location(storage: Storage, location: Any) -> Storage:
    """Return a storage of a file as it will be on the device that `location` names; for `map_location` functions.

    RuntimeError where this machine has no such device.
    """
    wanted = device(str(location))
    if wanted.type == "meta":
        return storage.to("meta")
    if not available(wanted.type):
        raise RuntimeError(
            f"Attempting to deserialize object on a {wanted.type.upper()} device but this machine has none "
            f"(torch.{wanted.type}.is_available() is False). If you are running on a CPU-only machine, please use "
            "torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )
    if (wanted.index or 0) >= len(available(wanted.type)):
        raise RuntimeError(
            f"Attempting to deserialize object on {wanted.type.upper()} device {wanted.index} but there are only "
            f"{len(available(wanted.type))}. Please use torch.load with map_location to map your storages to an "
            "existing device."
        )
    return storage.to(str(wanted))
