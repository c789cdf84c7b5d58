"""Memory formats of convolutions' weights, which `stride()` tells: XLA itself chooses how arrays lie in memory."""

from __future__ import annotations

from typing import TypeVar

from funcgrad._base.layouts import memory_format as MemoryFormat
from funcgrad.nn.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from funcgrad.nn.module import Module

Layer = TypeVar("Layer", bound=Module)


def convert_conv2d_weight_memory_format(module: Layer, memory_format: MemoryFormat) -> Layer:
    """Lay the weights of all two-dimensional convolutions of a module in a memory format; returns the module."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Layer, memory_format: MemoryFormat) -> Layer:
    """Lay the weights of all three-dimensional convolutions of a module in a memory format; returns the module."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Layer, kinds: tuple[type[Module], ...], memory_format: MemoryFormat) -> Layer:
    for part in module.modules():
        if isinstance(part, kinds):
            weight = part.get_parameter("weight")
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module
