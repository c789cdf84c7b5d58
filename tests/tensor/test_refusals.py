"""What a user gets wrong is refused in torch's words: the texts are those of torch 2.13.0."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn


def _wide(*size: int) -> torch.Tensor:
    return torch.ones(*size, dtype=torch.float64)


def _weight() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: nn.Conv2d(1, 4, 3)(_wide(1, 1, 4, 4)),
        RuntimeError,
        "Input type (double) and bias type (float) should be the same",
    ),
    (
        lambda: nn.Conv1d(1, 4, 3)(torch.ones(1, 1, 4, dtype=torch.long)),
        RuntimeError,
        "Input type (long int) and bias type (float) should be the same",
    ),
    (
        lambda: nn.Conv2d(1, 4, 3, bias=False)(_wide(1, 1, 4, 4)),
        RuntimeError,
        "expected scalar type Double but found Float",
    ),
    (
        lambda: torch.ones(2, 3).copy_(torch.ones(2, 4)),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    (
        lambda: torch.ones(3).copy_(torch.ones(2, 3)),
        RuntimeError,
        "output with shape [3] doesn't match the broadcast shape [2, 3]",
    ),
    (
        lambda: torch.zeros(4, 3).__setitem__(0, torch.ones(4)),
        RuntimeError,
        "The expanded size of the tensor (3) must match the existing size (4) at non-singleton dimension 0.  "
        "Target sizes: [3].  Tensor sizes: [4]",
    ),
    (lambda: torch.ones(3)[::-1], ValueError, "step must be greater than zero"),
    (
        lambda: torch.ones(3).normal_(generator=1),
        TypeError,
        "argument 'generator' must be torch.Generator, not int",
    ),
    (
        lambda: nn.functional.poisson_nll_loss(torch.ones(2, 3), torch.ones(4, 3)),
        RuntimeError,
        "The size of tensor a (4) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
    (
        lambda: torch.ones(2, 3).masked_fill(torch.ones(4, 3).bool(), 0),
        RuntimeError,
        "The size of tensor a (4) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
    (
        lambda: nn.functional.prelu(torch.ones(2, 3, 4), torch.ones(2)),
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and channel size = 3.",
    ),
    (lambda: torch.ones(3).quantile(2.0), RuntimeError, "quantile() q must be in the range [0, 1] but got 2"),
    (lambda: torch.ones(3).quantile(1.5), RuntimeError, "quantile() q must be in the range [0, 1] but got 1.5"),
    (
        lambda: torch.ones(3).repeat_interleave(torch.tensor([1, 2])),
        RuntimeError,
        "repeats must have the same size as input along dim, but got repeats.size(0) = 2 and input.size(0) = 3",
    ),
    (
        lambda: torch.ones(2).repeat_interleave(torch.ones(2)),
        NotImplementedError,
        "\"repeat_interleave_cpu\" not implemented for 'Float'",
    ),
    (
        lambda: setattr(torch.ones(3), "data", np.ones(3)),
        TypeError,
        "Variable data has to be a tensor, but got numpy.ndarray",
    ),
    (
        lambda: setattr(_weight(), "data", torch.ones(3, dtype=torch.long)),
        RuntimeError,
        "data set to a tensor that requires gradients must be floating point or complex dtype",
    ),
    (
        lambda: (_weight() * 2).backward(torch.ones(3, dtype=torch.complex64)),
        RuntimeError,
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
        "grad_output[0] has a dtype of torch.complex64 and output[0] has a dtype of torch.float32.",
    ),
    (
        lambda: nn.GRUCell(3, 4)(torch.ones(2, 3), torch.ones(3, 4)),
        RuntimeError,
        "Input batch size 2 doesn't match hidden0 batch size 3",
    ),
    (
        lambda: nn.LSTMCell(3, 4)(torch.ones(2, 3), (torch.ones(2, 4), torch.ones(2, 5))),
        RuntimeError,
        "hidden1 has inconsistent hidden_size: got 5, expected 4",
    ),
    (
        lambda: torch.broadcast_shapes((1, 2), (2,), (3, 2, 5)),
        RuntimeError,
        "Attempting to broadcast a dimension of length 5 at -1! Mismatching argument at index 2 had (3, 2, 5); but "
        "expected shape should be broadcastable to [1, 1, 2]",
    ),
    (lambda: torch.broadcast_shapes((-1,)), ValueError, "Attempting to broadcast a dimension with negative length!"),
]


@pytest.mark.parametrize(("wrong", "kind", "text"), REFUSED, ids=[text[:40] for _, _, text in REFUSED])
def test_a_mistake_is_told_in_torchs_words(wrong: Callable[[], object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        wrong()
