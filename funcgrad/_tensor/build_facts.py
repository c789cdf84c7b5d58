"""What torch says about its own build, answered for JAX's: has_mkl, is_vulkan_available, compiled_with_cxx11_abi."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from funcgrad._base.devices import device as Device
from funcgrad._tensor.registry import FUNCTIONS, function

FUNCTIONS["has_lapack"] = FUNCTIONS["has_spectral"] = FUNCTIONS["has_mkl"] = True  # XLA brings what these stand for
FUNCTIONS["has_openmp"] = False
FUNCTIONS["USE_GLOBAL_DEPS"], FUNCTIONS["USE_RTLD_GLOBAL_WITH_LIBTORCH"] = True, False


@function()
def compiled_with_cxx11_abi() -> bool:
    """Tell whether the libraries use C++11's ABI: they do."""
    return True


@function("is_vulkan_available", "cudnn_is_acceptable")
def never(*_: Any) -> bool:
    """Tell what is never so here."""
    return False


@function()
def init_num_threads() -> None:
    """Do nothing: XLA keeps its own threads."""


@function()
def get_file_path(*path_components: str) -> str:
    """Return a path inside the installed package."""
    return str(Path(__file__).parents[1].joinpath(*path_components))


@function()
def get_device_module(device: Any = None) -> Any:
    """Return the module of a kind of device: funcgrad.cuda, funcgrad.cpu, ... RuntimeError where there is none."""
    kind = Device("cpu" if device is None else device).type
    try:
        return importlib.import_module(f"{__name__.partition('.')[0]}.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(f"Invalid device string: '{device}': module 'torch' has no attribute '{kind}'") from None
