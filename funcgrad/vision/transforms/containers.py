"""Transforms made of transforms."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import nn
from funcgrad.vision import draws


class Compose:
    """One transform after the other."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        """Return the picture after all of them."""
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {t}" for t in self.transforms), ")"])


class Lambda:
    """A function as a transform."""

    def __init__(self, lambd: Callable[..., Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        """Return what the function gives."""
        return self.lambd(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RandomTransforms:
    """A choice among transforms."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {t}" for t in self.transforms), ")"])


class RandomApply(nn.Module):
    """All of the transforms with probability p, else none."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: float = 0.5) -> None:
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img: Any) -> Any:
        """Return the picture, changed or not."""
        if self.p < draws.uniform():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", f"    p={self.p}", *(f"    {t}" for t in self.transforms), ")"])


class RandomOrder(RandomTransforms):
    """All of the transforms, in an order drawn by Python's `random`."""

    def __call__(self, img: Any) -> Any:
        """Return the picture after all of them."""
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice(RandomTransforms):
    """One of the transforms, drawn by Python's `random`."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: Sequence[float] | None = None) -> None:
        super().__init__(transforms)
        self.p = p

    def __call__(self, *args: Any) -> Any:
        """Return the picture after one of them."""
        return random.choices(self.transforms, weights=self.p)[0](*args)
