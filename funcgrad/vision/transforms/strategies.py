"""RandAugment, TrivialAugment and AutoAugment: changes drawn from a list, with drawn strengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad.vision import draws
from funcgrad.vision.images import dimensions
from funcgrad.vision.transforms import functional as F
from funcgrad.vision.transforms.geometry import InterpolationMode

Space = dict[str, tuple[Any, bool]]  # name -> strengths by magnitude (None: it has none), and whether the sign is drawn


def apply_op(img: Any, name: str, magnitude: float, interpolation: Any, fill: Any) -> Any:
    """Return the picture after one change."""
    turned = {"interpolation": interpolation, "fill": fill}
    if name in ("ShearX", "ShearY"):
        shear = math.degrees(math.atan(magnitude))
        shears = [shear, 0.0] if name == "ShearX" else [0.0, shear]
        return F.affine(img, 0.0, [0, 0], 1.0, shears, center=[0, 0], **turned)
    if name in ("TranslateX", "TranslateY"):
        moves = [int(magnitude), 0] if name == "TranslateX" else [0, int(magnitude)]
        return F.affine(img, 0.0, moves, 1.0, [0.0, 0.0], **turned)
    if name == "Rotate":
        return F.rotate(img, magnitude, **turned)
    amounts = {
        "Brightness": F.adjust_brightness, "Color": F.adjust_saturation, "Contrast": F.adjust_contrast,
        "Sharpness": F.adjust_sharpness,
    }  # fmt: skip
    if name in amounts:
        return amounts[name](img, 1.0 + magnitude)
    if name == "Posterize":
        return F.posterize(img, int(magnitude))
    if name == "Solarize":
        return F.solarize(img, magnitude)
    plain = {"AutoContrast": F.autocontrast, "Equalize": F.equalize, "Invert": F.invert, "Identity": lambda x: x}
    return plain[name](img)


def _space(bins: int, shear: float, shifts: tuple[float, float], turn: float, amount: float, bits: int) -> Space:
    steps = np.arange(bins)
    even: Space = {
        "Identity": (None, False),
        "ShearX": (np.linspace(0.0, shear, bins), True),
        "ShearY": (np.linspace(0.0, shear, bins), True),
        "TranslateX": (np.linspace(0.0, shifts[0], bins), True),
        "TranslateY": (np.linspace(0.0, shifts[1], bins), True),
        "Rotate": (np.linspace(0.0, turn, bins), True),
    }
    for name in ("Brightness", "Color", "Contrast", "Sharpness"):
        even[name] = (np.linspace(0.0, amount, bins), True)
    even["Posterize"] = (8 - (steps / ((bins - 1) / bits)).round().astype(int), False)
    even["Solarize"] = (np.linspace(255.0, 0.0, bins), False)
    return {**even, "AutoContrast": (None, False), "Equalize": (None, False)}


class RandAugment(nn.Module):
    """`num_ops` changes, drawn, all of one strength. Source: https://arxiv.org/abs/1909.13719."""

    def __init__(
        self, num_ops: int = 2, magnitude: int = 9, num_magnitude_bins: int = 31,
        interpolation: Any = InterpolationMode.NEAREST, fill: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins
        self.interpolation, self.fill = interpolation, fill

    def forward(self, img: Any) -> Any:
        """Return the changed picture."""
        _, high, wide = dimensions(img)
        space = _space(self.num_magnitude_bins, 0.3, (150.0 / 331.0 * wide, 150.0 / 331.0 * high), 30.0, 0.9, 4)
        names = list(space)
        for _ in range(self.num_ops):
            name = names[draws.integer(len(names))]
            strengths, signed = space[name]
            magnitude = 0.0 if strengths is None else float(strengths[self.magnitude])
            if signed and draws.integer(2):
                magnitude *= -1.0
            img = apply_op(img, name, magnitude, self.interpolation, self.fill)
        return img


class TrivialAugmentWide(nn.Module):
    """One change of a strength that is drawn. Source: https://arxiv.org/abs/2103.10158."""

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: Any = InterpolationMode.NEAREST, fill: Any = None
    ) -> None:
        super().__init__()
        self.num_magnitude_bins, self.interpolation, self.fill = num_magnitude_bins, interpolation, fill

    def forward(self, img: Any) -> Any:
        """Return the changed picture."""
        space = _space(self.num_magnitude_bins, 0.99, (32.0, 32.0), 135.0, 0.99, 6)
        names = list(space)
        name = names[draws.integer(len(names))]
        strengths, signed = space[name]
        magnitude = 0.0 if strengths is None else float(strengths[draws.integer(len(strengths))])
        if signed and draws.integer(2):
            magnitude *= -1.0
        return apply_op(img, name, magnitude, self.interpolation, self.fill)


class AutoAugmentPolicy(Enum):
    """For which data set pairs of changes were found."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


Change = tuple[str, float, int | None]
# Each line: two changes, each with its probability and its magnitude from 0 to 9. Source: the paper's appendix.
_POLICIES: dict[AutoAugmentPolicy, Sequence[tuple[Change, Change]]] = {
    AutoAugmentPolicy.CIFAR10: (
        (("Invert", 0.1, None), ("Contrast", 0.2, 6)), (("Rotate", 0.7, 2), ("TranslateX", 0.3, 9)),
        (("Sharpness", 0.8, 1), ("Sharpness", 0.9, 3)), (("ShearY", 0.5, 8), ("TranslateY", 0.7, 9)),
        (("AutoContrast", 0.5, None), ("Equalize", 0.9, None)), (("ShearY", 0.2, 7), ("Posterize", 0.3, 7)),
        (("Color", 0.4, 3), ("Brightness", 0.6, 7)), (("Sharpness", 0.3, 9), ("Brightness", 0.7, 9)),
        (("Equalize", 0.6, None), ("Equalize", 0.5, None)), (("Contrast", 0.6, 7), ("Sharpness", 0.6, 5)),
        (("Color", 0.7, 7), ("TranslateX", 0.5, 8)), (("Equalize", 0.3, None), ("AutoContrast", 0.4, None)),
        (("TranslateY", 0.4, 3), ("Sharpness", 0.2, 6)), (("Brightness", 0.9, 6), ("Color", 0.2, 8)),
        (("Solarize", 0.5, 2), ("Invert", 0.0, None)), (("Equalize", 0.2, None), ("AutoContrast", 0.6, None)),
        (("Equalize", 0.2, None), ("Equalize", 0.6, None)), (("Color", 0.9, 9), ("Equalize", 0.6, None)),
        (("AutoContrast", 0.8, None), ("Solarize", 0.2, 8)), (("Brightness", 0.1, 3), ("Color", 0.7, 0)),
        (("Solarize", 0.4, 5), ("AutoContrast", 0.9, None)), (("TranslateY", 0.9, 9), ("TranslateY", 0.7, 9)),
        (("AutoContrast", 0.9, None), ("Solarize", 0.8, 3)), (("Equalize", 0.8, None), ("Invert", 0.1, None)),
        (("TranslateY", 0.7, 9), ("AutoContrast", 0.9, None)),
    ),
    AutoAugmentPolicy.IMAGENET: (
        (("Posterize", 0.4, 8), ("Rotate", 0.6, 9)), (("Solarize", 0.6, 5), ("AutoContrast", 0.6, None)),
        (("Equalize", 0.8, None), ("Equalize", 0.6, None)), (("Posterize", 0.6, 7), ("Posterize", 0.6, 6)),
        (("Equalize", 0.4, None), ("Solarize", 0.2, 4)), (("Equalize", 0.4, None), ("Rotate", 0.8, 8)),
        (("Solarize", 0.6, 3), ("Equalize", 0.6, None)), (("Posterize", 0.8, 5), ("Equalize", 1.0, None)),
        (("Rotate", 0.2, 3), ("Solarize", 0.6, 8)), (("Equalize", 0.6, None), ("Posterize", 0.4, 6)),
        (("Rotate", 0.8, 8), ("Color", 0.4, 0)), (("Rotate", 0.4, 9), ("Equalize", 0.6, None)),
        (("Equalize", 0.0, None), ("Equalize", 0.8, None)), (("Invert", 0.6, None), ("Equalize", 1.0, None)),
        (("Color", 0.6, 4), ("Contrast", 1.0, 8)), (("Rotate", 0.8, 8), ("Color", 1.0, 2)),
        (("Color", 0.8, 8), ("Solarize", 0.8, 7)), (("Sharpness", 0.4, 7), ("Invert", 0.6, None)),
        (("ShearX", 0.6, 5), ("Equalize", 1.0, None)), (("Color", 0.4, 0), ("Equalize", 0.6, None)),
        (("Equalize", 0.4, None), ("Solarize", 0.2, 4)), (("Solarize", 0.6, 5), ("AutoContrast", 0.6, None)),
        (("Invert", 0.6, None), ("Equalize", 1.0, None)), (("Color", 0.6, 4), ("Contrast", 1.0, 8)),
        (("Equalize", 0.8, None), ("Equalize", 0.6, None)),
    ),
}  # fmt: skip


class AutoAugment(nn.Module):
    """A pair of changes that was found to help on a data set. Source: https://arxiv.org/abs/1805.09501."""

    def __init__(
        self, policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Any = InterpolationMode.NEAREST, fill: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if policy not in _POLICIES:
            raise ValueError(f"The provided policy {policy} is not recognized.")
        self.policy, self.interpolation, self.fill = policy, interpolation, fill
        self.policies = _POLICIES[policy]

    def forward(self, img: Any) -> Any:
        """Return the changed picture."""
        _, high, wide = dimensions(img)
        space = _space(10, 0.3, (150.0 / 331.0 * wide, 150.0 / 331.0 * high), 30.0, 0.9, 4) | {"Invert": (None, False)}
        number = draws.integer(len(self.policies))
        chances, signs = [draws.uniform() for _ in range(2)], [draws.integer(2) for _ in range(2)]
        for (name, p, place), chance, sign in zip(self.policies[number], chances, signs, strict=True):
            if chance <= p:
                strengths, signed = space[name]
                magnitude = 0.0 if strengths is None or place is None else float(strengths[place])
                signed_magnitude = -magnitude if signed and sign == 0 else magnitude
                img = apply_op(img, name, signed_magnitude, self.interpolation, self.fill)
        return img
