"""torchvision's parts that training scripts import: data sets from local files, transforms, the classic models."""

from __future__ import annotations

from funcgrad.version import VISION_VERSION
from funcgrad.vision import datasets, io, models, ops, transforms, utils
from funcgrad.vision.transforms import v2 as v2

__all__ = ["datasets", "get_image_backend", "io", "models", "ops", "set_image_backend", "transforms", "utils"]
__version__ = VISION_VERSION


def get_image_backend() -> str:
    """Return the library that reads pictures."""
    return "PIL"


def set_image_backend(backend: str) -> None:
    """Accept "PIL", the only library that reads pictures here; ValueError for another."""
    if backend != "PIL":
        raise ValueError(f"Invalid backend '{backend}': pictures are read by PIL here")


def disable_beta_transforms_warning() -> None:
    """Accepted: nothing warns."""
