"""PowerSGD: gradients that are matrices travel as two thin ones, whose product is near to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.world import world
from funcgrad._tensor import functions as fg
from funcgrad._tensor.creation import empty, zeros_like
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributed.algorithms.ddp_comm_hooks.default_hooks import future_sum, mean
from funcgrad.distributed.groups import members
from funcgrad.futures import Future
from funcgrad.linalg import qr
from funcgrad.nn.gradient_buckets import GradBucket
from funcgrad.random import fork_rng, manual_seed
from funcgrad.random.functions import randn


class PowerSGDState:
    """What PowerSGD knows of the passes before.

    process_group: None for all processes. matrix_approximation_rank: columns of the thin matrices. start_powerSGD_iter:
    passes with plain means before. min_compression_rate: matrices that would be compressed by less travel as they are.
    use_error_feedback: what was lost is added to the next gradients. warm_start: thin matrices begin as they ended.
    orthogonalization_epsilon: added to norms that are divided by. ValueError: a start in the first two passes, where
    something of a pass before is used.
    """

    __slots__ = (
        "batch_tensors_with_same_shape", "compression_stats_logging_frequency", "error_dict", "iter",
        "matrix_approximation_rank", "min_compression_rate", "next_stats_report", "orthogonalization_epsilon",
        "p_memory_dict", "process_group", "q_memory_dict", "rng", "start_powerSGD_iter",
        "total_numel_after_compression", "total_numel_before_compression", "use_error_feedback", "warm_start",
    )  # fmt: skip

    def __init__(
        self, process_group: Any, matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1000,  # noqa: N803 - torch's own name
        min_compression_rate: float = 2, use_error_feedback: bool = True, warm_start: bool = True,
        orthogonalization_epsilon: float = 0, random_seed: int = 0, compression_stats_logging_frequency: int = 10000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:  # fmt: skip
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, because PowerSGD "
                "can only be applied after the first two iterations in DDP."
            )
        self.process_group, self.matrix_approximation_rank = process_group, matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = start_powerSGD_iter, min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[int, Tensor] = {}
        self.q_memory_dict: dict[int, Tensor] = {}
        self.iter = self.total_numel_before_compression = self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.next_stats_report = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = world().group
        for name, value in state.items():
            setattr(self, name, value)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a pass at its last bucket."""
        self.iter += bucket.is_last()

    def compression_stats(self) -> tuple[float, int, int]:
        """Return by how much numbers became fewer, how many there were, and how many travelled."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after > 0 else 0), before, after


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:  # noqa: N802 - torch's own name
    """Take the mean of gradients; matrices among them travel as products P Q^T of thin ones.

    Source: Vogels et al. 2019, https://arxiv.org/abs/1905.13727, algorithm 1.
    """
    group, buffer = members(state.process_group), bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(group, buffer)
    before = _with_lost(state, bucket.index(), buffer) if state.use_error_feedback else None
    matrices, others = _sorted_out(state, bucket.gradients())
    plain = fg.cat([tensor.reshape(-1) for tensor in others]) if others else empty(0, dtype=buffer.dtype)
    batches = [*_batches(matrices, state.batch_tensors_with_same_shape)]
    stacks = [fg.stack(batch) for batch in batches]
    thin = _Thin(state, bucket.index(), stacks)
    thin.begin(state)
    _write_products(stacks, thin.qs, thin.ps)
    summed = mean(group, plain)

    def first_half(found: Future) -> Tensor:
        start = 0
        for tensor in others:
            tensor.copy_(found.value()[start : start + tensor.numel()].view_as(tensor))
            start += tensor.numel()
        return future_sum(thin.p, group).wait()

    def second_half(found: Future) -> Tensor:
        found.wait()
        thin.orthogonalize(thin.ps)
        _write_products([stack.transpose(1, 2) for stack in stacks], thin.ps, thin.qs)
        return future_sum(thin.q, group).wait()

    def decompress(found: Future) -> Tensor:
        found.value().div_(group.size())
        for batch, p, q in zip(batches, thin.ps, thin.qs, strict=True):
            for matrix, product in zip(batch, fg.bmm(p, q.transpose(1, 2)), strict=True):
                matrix.copy_(product)
        if before is not None:
            state.error_dict[bucket.index()] = before - buffer
        if not state.warm_start:
            state.p_memory_dict.clear()
            state.q_memory_dict.clear()
        state.maybe_increase_iter(bucket)
        return buffer

    return summed.then(first_half).then(second_half).then(decompress)


def _write_products(left: Sequence[Tensor], right: Sequence[Tensor], results: Sequence[Tensor]) -> None:
    """Write products of matrices to results."""
    for one, other, result in zip(left, right, results, strict=True):
        result.copy_(fg.bmm(one, other))


def _with_lost(state: PowerSGDState, index: int, buffer: Tensor) -> Tensor:
    """Add to gradients what was lost in the pass before; return a copy of the sum."""
    if index in state.error_dict:
        buffer.add_(state.error_dict[index])
    else:
        state.error_dict[index] = zeros_like(buffer)
    return buffer.detach().clone()


def _sorted_out(state: PowerSGDState, gradients: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Return what is compressed, as matrices, and what travels as it is."""
    matrices, others = [], []
    for gradient in gradients:
        matrix = gradient.view(gradient.shape[0], -1)
        rows, columns = matrix.shape
        compressed = (rows + columns) * min(rows, columns, state.matrix_approximation_rank)
        state.total_numel_before_compression += rows * columns
        if compressed * state.min_compression_rate < rows * columns:
            matrices.append(matrix)
            state.total_numel_after_compression += compressed
        else:
            others.append(gradient)
            state.total_numel_after_compression += rows * columns
    return matrices, others


def _batches(matrices: Sequence[Tensor], together: bool) -> Iterator[list[Tensor]]:
    """Return the matrices by their shapes, in lists of those that are computed with together."""
    alike: dict[Any, list[Tensor]] = {}
    for matrix in matrices:
        alike.setdefault(matrix.shape, []).append(matrix)
    for batch in alike.values():
        yield from [batch] if together else [[matrix] for matrix in batch]


class _Thin:
    """The thin matrices of a bucket: views of two flat tensors, which travel."""

    def __init__(self, state: PowerSGDState, index: int, stacks: Sequence[Tensor]) -> None:
        self.epsilon, self.is_new = state.orthogonalization_epsilon, False
        shapes = [(len(x), *x.shape[1:], min(*x.shape[1:], state.matrix_approximation_rank)) for x in stacks]
        if not state.warm_start or index not in state.p_memory_dict:
            self.is_new, dtype = True, stacks[0].dtype if stacks else dtypes.float32
            state.p_memory_dict[index] = empty(sum(b * n * r for b, n, _, r in shapes), dtype=dtype)
            state.q_memory_dict[index] = empty(sum(b * m * r for b, _, m, r in shapes), dtype=dtype)
        self.p, self.q = state.p_memory_dict[index], state.q_memory_dict[index]
        self.ps = _views(self.p, [(b, n, r) for b, n, _, r in shapes])
        self.qs = _views(self.q, [(b, m, r) for b, _, m, r in shapes])

    def begin(self, state: PowerSGDState) -> None:
        """Begin with random matrices, the same in all processes, or with those of the pass before."""
        if self.is_new:
            with fork_rng(devices=[]):
                manual_seed(int(state.rng.randint(1_000_000_000)))
                for q in self.qs:
                    q.copy_(randn(*q.shape, dtype=q.dtype))
        self.orthogonalize(self.qs)

    def orthogonalize(self, matrices: Sequence[Tensor]) -> None:
        """Make the columns of matrices orthonormal."""
        for matrix in matrices:
            if matrix.shape[2] > 2 and matrix.dtype not in (dtypes.float16, dtypes.bfloat16):
                matrix.copy_(qr(matrix)[0])
            else:
                _gram_schmidt(matrix, self.epsilon)


def _views(flat: Tensor, shapes: Sequence[tuple[int, int, int]]) -> list[Tensor]:
    found, start = [], 0
    for shape in shapes:
        end = start + shape[0] * shape[1] * shape[2]
        found.append(flat[start:end].view(shape))
        start = end
    return found


def _gram_schmidt(matrices: Tensor, epsilon: float) -> None:
    """Make the columns of matrices orthonormal, one after the other. Shape: (B, N, R)."""
    for i in range(matrices.shape[2]):
        column = matrices[:, :, i : i + 1]
        column /= fg.norm(column, dim=1, keepdim=True) + epsilon
        rest = matrices[:, :, i + 1 :]
        rest -= fg.sum(column * rest, dim=1, keepdim=True) * column


__all__ = ["PowerSGDState", "powerSGD_hook"]
