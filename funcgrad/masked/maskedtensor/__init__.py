"""torch.masked.maskedtensor: tensors of which some elements do not count."""

from __future__ import annotations

from funcgrad.masked.maskedtensor import answers
from funcgrad.masked.maskedtensor.core import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
_ANSWERS = answers  # it enters what it answers for when it is imported
