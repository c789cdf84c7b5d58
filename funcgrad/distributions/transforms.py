"""All transforms under the name that torch gives them: what they are, of single numbers, of vectors and matrices."""

from __future__ import annotations

from funcgrad.distributions.elementwise_transforms import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    clipped_sigmoid,
)
from funcgrad.distributions.structured_transforms import (
    CatTransform,
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)
from funcgrad.distributions.transform import ComposeTransform, IndependentTransform, Transform, identity_transform
from funcgrad.distributions.transform import _InverseTransform as _InverseTransform  # scripts test for it

_clipped_sigmoid = clipped_sigmoid  # as libraries import it from torch

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]  # fmt: skip
