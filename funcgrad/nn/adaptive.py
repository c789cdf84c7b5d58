"""AdaptiveLogSoftmaxWithLoss: a softmax over very many classes, rare ones in clusters of their own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from funcgrad._ops.conditions import are_targets
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import to_host
from funcgrad._tensor.refused_numbers import require
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn.containers import ModuleList, Sequential
from funcgrad.nn.linear import Linear
from funcgrad.nn.module import Module


class _ASMoutput(NamedTuple):
    """The log probability of each target, and the loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """log softmax by a head for frequent classes and clusters, and a tail for each cluster.

    All clusters are computed for all samples: which of them torch skips depends on values, and would compile anew for
    each batch. Source: Grave et al. 2016, https://arxiv.org/abs/1609.04309.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        is_whole = all(int(cutoff) == cutoff for cutoff in cutoffs)
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or not is_whole:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for place, (first, last) in enumerate(pairwise(self.cutoffs)):
            hidden = int(in_features // (div_value ** (place + 1)))
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, device=device, dtype=dtype),
                    Linear(hidden, last - first, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:  # type: ignore[misc]  # pairs of Linear
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Return the targets' log probabilities and the loss. Shape: input (N, in_features), target (N), or no N."""
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input_.dim() != target_.dim() + 1:
            raise RuntimeError(
                f"{target_.dim()}D target tensor expects {target_.dim() + 1}D input tensors, "
                f"but found inputs with size {input_.size()}"
            )
        if target_.dim() == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        chances = self.log_prob(input_)
        require(are_targets, target_, chances, error=lambda: self._missed(target_))
        output = chances.gather(-1, target_.unsqueeze(-1)).squeeze(-1)
        return _ASMoutput(output, (-output).mean())

    def _missed(self, target: Tensor) -> RuntimeError:
        numbers = to_host(target)
        return RuntimeError(
            f"Target values should be in [0, {self.n_classes - 1}], but values in range "
            f"[{numbers.min()}, {numbers.max()}] were found. "
        )

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log probabilities of all classes. Shape: input (N, in_features), result (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=-1)
        parts = [head[..., : self.shortlist_size]]
        for place, projection in enumerate(self.tail):
            cluster = head[..., self.shortlist_size + place].unsqueeze(-1)
            parts.append(F.log_softmax(projection(input), dim=-1) + cluster)
        return fg.cat(parts, dim=-1)

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of each sample. Shape: input (N, in_features), result (N)."""
        return self.log_prob(input).argmax(dim=-1)
