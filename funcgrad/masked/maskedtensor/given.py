"""Masked tensors as arguments of masked functions: their mask is the one that counts, unless another is given."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.masked.maskedtensor.core import MaskedTensor


def takes_masked(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a masked function take masked tensors; its results are plain ones."""

    @functools.wraps(function)
    def taking(input: Any, *args: Any, mask: Tensor | None = None, **kwargs: Any) -> Tensor:
        if isinstance(input, MaskedTensor):
            mask, input = input.get_mask() if mask is None else mask, input.get_data()
        return function(input, *args, mask=mask, **kwargs)

    return taking
