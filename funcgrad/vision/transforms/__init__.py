"""torchvision.transforms: what is done to the pictures of a data set, PIL images or tensors (..., C, H, W)."""

from __future__ import annotations

from funcgrad.vision.transforms import functional
from funcgrad.vision.transforms.containers import (
    Compose,
    Lambda,
    RandomApply,
    RandomChoice,
    RandomOrder,
)
from funcgrad.vision.transforms.fixed import (
    CenterCrop,
    ConvertImageDtype,
    FiveCrop,
    Grayscale,
    LinearTransformation,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    TenCrop,
    ToPILImage,
    ToTensor,
)
from funcgrad.vision.transforms.geometry import InterpolationMode
from funcgrad.vision.transforms.random_colour import (
    ColorJitter,
    GaussianBlur,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from funcgrad.vision.transforms.random_geometry import (
    RandomAffine,
    RandomCrop,
    RandomErasing,
    RandomHorizontalFlip,
    RandomPerspective,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
)
from funcgrad.vision.transforms.strategies import AutoAugment, AutoAugmentPolicy, RandAugment, TrivialAugmentWide

Scale, RandomSizedCrop = Resize, RandomResizedCrop  # the names of torchvision 0.1

__all__ = [
    "AutoAugment", "AutoAugmentPolicy", "CenterCrop", "ColorJitter", "Compose", "ConvertImageDtype", "FiveCrop",
    "GaussianBlur", "Grayscale", "InterpolationMode", "Lambda", "LinearTransformation", "Normalize", "PILToTensor",
    "Pad", "RandAugment", "RandomAdjustSharpness", "RandomAffine", "RandomApply", "RandomAutocontrast", "RandomChoice",
    "RandomCrop", "RandomEqualize", "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert",
    "RandomOrder", "RandomPerspective", "RandomPosterize", "RandomResizedCrop", "RandomRotation", "RandomSizedCrop",
    "RandomSolarize", "RandomVerticalFlip", "Resize", "Scale", "TenCrop", "ToPILImage", "ToTensor",
    "TrivialAugmentWide", "functional",
]  # fmt: skip
