"""Saving and loading, floor 5: torch's own files without torch, and safetensors. Loading runs nothing by default."""

from __future__ import annotations

import pickle as pickle

from funcgrad.serialization.byte_order import (
    LoadEndianness,
    get_default_load_endianness,
    set_default_load_endianness,
)
from funcgrad.serialization.loading import get_unsafe_globals_in_checkpoint, load
from funcgrad.serialization.locations import MAP_LOCATION, default_restore_location
from funcgrad.serialization.names import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    register_globals,
    register_parameter,
    safe_globals,
)
from funcgrad.serialization.safetensors import load_file, save_file
from funcgrad.serialization.saving import DEFAULT_PROTOCOL as DEFAULT_PROTOCOL
from funcgrad.serialization.saving import save

__all__ = [
    "MAP_LOCATION",
    "LoadEndianness",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_default_load_endianness",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "load_file",
    "register_globals",
    "register_parameter",
    "safe_globals",
    "save",
    "save_file",
    "set_default_load_endianness",
]
