"""Memory formats of convolutions' weights: accepted, since XLA chooses how arrays lie in memory."""

from __future__ import annotations

from typing import Any, TypeVar

Layer = TypeVar("Layer")


def convert_conv2d_weight_memory_format(module: Layer, memory_format: Any) -> Layer:
    """Return the module as it is."""
    return module


def convert_conv3d_weight_memory_format(module: Layer, memory_format: Any) -> Layer:
    """Return the module as it is."""
    return module
