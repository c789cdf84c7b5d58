"""Transforms of vectors and matrices: simplices, triangular and correlation matrices, reshaping, piece by piece."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base.info import finfo
from funcgrad._base.size import Size
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.elementwise_transforms import PlainTransform, inside_unit_interval
from funcgrad.distributions.transform import Transform, require_dims
from funcgrad.distributions.utils import sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix
from funcgrad.linalg import cholesky
from funcgrad.nn.functional import logsigmoid, pad, softplus


class ReshapeTransform(Transform):
    """The last dimensions, of shape `in_shape`, reshaped to `out_shape`. ValueError: other numbers of elements."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")

    @constraints.dependent_property
    def domain(self) -> Any:
        """All real values of in_shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """All real values of out_shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return zeros."""
        return x.new_zeros(x.shape[: x.ndim - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape with out_shape in place of in_shape. ValueError: it does not end in in_shape."""
        return _exchanged(Size(shape), self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape with in_shape in place of out_shape. ValueError: it does not end in out_shape."""
        return _exchanged(Size(shape), self.out_shape, self.in_shape)


def _exchanged(shape: Size, old: Size, new: Size) -> Size:
    require_dims(shape, len(old))
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return shape[:cut] + new


class SoftmaxTransform(PlainTransform):
    """y = softmax(x) along the last dimension; no bijection, the inverse is log(y)."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return fg.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape. ValueError: no dimension."""
        require_dims(shape, 1)
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape. ValueError: no dimension."""
        return self.forward_shape(shape)


class StickBreakingTransform(PlainTransform):
    """Vectors of length k - 1 to k probabilities: each number says which part of what is left is broken off.

    Source: Stan reference manual, "Unit simplex inverse transform". Zeros become equal probabilities.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        broken = inside_unit_interval(fg.sigmoid(x - _log_left(x)))
        return pad(broken, [0, 1], value=1) * pad((1 - broken).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        kept = y[..., :-1]
        left = (1 - kept.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return kept.log() - left.log() + _log_left(kept)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum of log(1 - broken part) + log(y)."""
        x = x - _log_left(x)
        return (logsigmoid(x) - x + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape with one more in the last dimension."""
        require_dims(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape with one less in the last dimension."""
        require_dims(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


def _log_left(x: Tensor) -> Tensor:
    """Return log(k - 1), ..., log(1): how many pieces are still to come after each."""
    count = x.shape[-1]
    return fg.arange(count, 0, -1, dtype=x.dtype, device=x.device).log()


class LowerCholeskyTransform(PlainTransform):
    """Square matrices to lower triangular ones with a positive diagonal: exp on the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(PlainTransform):
    """Square matrices to positive definite ones: L L^T, L being LowerCholeskyTransform's."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(Transform):
    """Vectors of length d (d - 1) / 2 to Cholesky factors of d x d correlation matrices.

    tanh gives partial correlations, and each row is broken off a stick of squared length 1. Source: Stan reference
    manual, "Cholesky factors of correlation matrices".
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        margin = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=-1 + margin, max=1 - margin), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        unit = fg.eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return (partial + unit) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad(_left_of_row(y)[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return partial.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log |dy/dx|, y being the numbers below the diagonal."""
        broken = 0.5 * tril_matrix_to_vec(_left_of_row(y), diag=-2).log().sum(-1)
        return broken - 2 * (x + softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return (*, d, d) for (*, d (d - 1) / 2). ValueError: no such d."""
        require_dims(shape, 1)
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return (*, d (d - 1) / 2) for (*, d, d). ValueError: not square."""
        require_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


def _left_of_row(y: Tensor) -> Tensor:
    return 1 - (y * y).cumsum(-1)


class _Piecewise(Transform):
    """Transforms side by side along `dim`: a subclass says how a tensor falls into pieces and is joined again."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the same transforms, each with this cache size."""
        new = super().with_cache(cache_size)
        if new is not self:
            new.transforms = [t.with_cache(cache_size) for t in self.transforms]
        return new

    def _pieces(self, whole: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _require(self, whole: Tensor, length: int) -> None:
        if not -whole.ndim <= self.dim < whole.ndim:
            raise AssertionError(f"dim {self.dim} out of range for tensor with {whole.ndim} dimensions")
        if whole.shape[self.dim] != length:
            raise AssertionError(f"size({self.dim}) = {whole.shape[self.dim]} must equal length {length}")

    def _each(self, call: Callable[..., Tensor], *wholes: Tensor) -> list[Tensor]:
        return list(map(call, self.transforms, *map(self._pieces, wholes)))

    def _call(self, x: Tensor) -> Tensor:
        return self._joined(self._each(lambda t, piece: t(piece), x))

    def _inverse(self, y: Tensor) -> Tensor:
        return self._joined(self._each(lambda t, piece: t.inv(piece), y))

    @property
    def bijective(self) -> bool:
        """Whether all are."""
        return all(t.bijective for t in self.transforms)


class CatTransform(_Piecewise):
    """Each transform on its piece, of the given length, along `dim`."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @property
    def event_dim(self) -> int:
        """The largest among them."""
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The size of `dim`."""
        return sum(self.lengths)

    def _pieces(self, whole: Tensor) -> Sequence[Tensor]:
        self._require(whole, self.length)
        return whole.split(self.lengths, self.dim)

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        return fg.cat(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return theirs, joined along `dim`; summed where `dim` lies inside of a value."""
        event_dim = self.event_dim
        stretched = self._each(
            lambda t, x, y: sum_rightmost(t.log_abs_det_jacobian(x, y), event_dim - t.event_dim), x, y
        )
        dim = (self.dim - x.ndim if self.dim >= 0 else self.dim) + event_dim
        return fg.cat(stretched, dim) if dim < 0 else sum(stretched[1:], stretched[0])

    @constraints.dependent_property
    def domain(self) -> Any:
        """Theirs, side by side."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Theirs, side by side."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Piecewise):
    """Each transform on its slice along `dim`."""

    def _pieces(self, whole: Tensor) -> Sequence[Tensor]:
        self._require(whole, len(self.transforms))
        return whole.unbind(self.dim)

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        return fg.stack(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return theirs, stacked along `dim`."""
        return self._joined(self._each(lambda t, x, y: t.log_abs_det_jacobian(x, y), x, y))

    @constraints.dependent_property
    def domain(self) -> Any:
        """Theirs, stacked."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Theirs, stacked."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
