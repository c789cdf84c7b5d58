"""What a picture is: a PIL image, or a tensor (..., C, H, W); and how its numbers are reached without a compile."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from funcgrad._tensor.interop import from_host, numbers_on_host
from funcgrad._tensor.tensor import Tensor

HAS_PIL = importlib.util.find_spec("PIL") is not None


def pillow(module: str = "Image") -> Any:
    """Return a module of Pillow; ImportError that says how to get it where it is not installed."""
    if not HAS_PIL:
        raise ImportError("pictures need Pillow: pip install 'funcgrad[vision]' (or pillow)", name="PIL")
    return importlib.import_module(f"PIL.{module}")


def is_pil(image: Any) -> bool:
    """Tell whether this is a PIL image."""
    return HAS_PIL and isinstance(image, pillow().Image)


def check(image: Any) -> None:
    """Raise TypeError for what is neither a PIL image nor a tensor."""
    if not isinstance(image, Tensor) and not is_pil(image):
        raise TypeError(f"img should be PIL Image or Tensor. Got {type(image)}")


def changed(
    image: Tensor, on_host: Callable[[NDArray[Any]], NDArray[Any]], as_ops: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return a changed picture: by numpy where the host has its numbers (no op to compile), else by ops."""
    numbers = numbers_on_host(image)
    return as_ops(image) if numbers is None else from_host(on_host(numbers), device=image.device)


def dimensions(image: Any) -> tuple[int, int, int]:
    """Return channels, height and width."""
    check(image)
    if is_pil(image):
        return len(image.getbands()), image.height, image.width
    channels = 1 if image.ndim == 2 else image.shape[-3]
    return channels, image.shape[-2], image.shape[-1]
