"""torch.nested: batches of tensors of different sizes, without padding.

>>> nested = nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged)
>>> nested.sum(1)
tensor([[2., 2., 2.],
        [1., 1., 1.]])
"""

from __future__ import annotations

from funcgrad.nested import multiplying, pointwise, reducing
from funcgrad.nested.making import (
    as_nested_tensor,
    masked_select,
    narrow,
    nested_tensor,
    nested_tensor_from_jagged,
    to_padded_tensor,
)

__all__ = [
    "as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor",
]  # fmt: skip
_HANDLERS = (multiplying, pointwise, reducing)  # they enter what they answer for when they are imported
