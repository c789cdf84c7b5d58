"""Transforms of single numbers: exp, power, sigmoid, affine and so on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from funcgrad._base.info import finfo
from funcgrad._base.size import Size
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution
from funcgrad.distributions.transform import Transform
from funcgrad.distributions.utils import Parameter, broadcast_all, lazy_property
from funcgrad.nn.functional import softplus


class PlainTransform(Transform):
    """A transform without parameters: any two of one kind are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class ExpTransform(PlainTransform):
    """y = exp(x)."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x."""
        return x


class SigmoidTransform(PlainTransform):
    """y = 1 / (1 + exp(-x)), kept a rounding error away from 0 and 1."""

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        y = inside_unit_interval(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log(y) + log(1 - y)."""
        return -softplus(-x) - softplus(x)


class SoftplusTransform(PlainTransform):
    """y = log(1 + exp(x)); y = x above 20."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log(sigmoid(x))."""
        return -softplus(-x)


class TanhTransform(PlainTransform):
    """y = tanh(x). The inverse is inexact where y is near 1 or -1: cache_size = 1 keeps x."""

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log(1 - tanh(x)^2) in a form that does not cancel."""
        return 2 * (math.log(2) - x - softplus(-2 * x))


class AbsTransform(PlainTransform):
    """y = |x|; of the two inverses the positive one."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """y = x^exponent, x > 0."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Parameter, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @lazy_property
    def sign(self) -> Any:
        """The exponent's sign."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _is_same(self.exponent, other.exponent)

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log |exponent y / x|."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape broadcast with the exponent's."""
        return Size(fg.broadcast_shapes(tuple(shape), tuple(self.exponent.shape)))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape broadcast with the exponent's."""
        return self.forward_shape(shape)


class AffineTransform(Transform):
    """y = loc + scale x, with numbers or tensors; `event_dim` last dimensions make one value."""

    bijective = True

    def __init__(self, loc: Parameter, scale: Parameter, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """How many dimensions one value has."""
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """All real values of that many dimensions."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """All real values of that many dimensions."""
        return self.domain

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform) and _is_same(self.loc, other.loc) and _is_same(self.scale, other.scale)
        )

    @property
    def sign(self) -> Any:
        """The scale's sign."""
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log |scale|, summed over the dimensions of one value."""
        scale = self.scale
        stretched = scale.abs().log() if isinstance(scale, Tensor) else fg.full_like(x, math.log(abs(scale)))
        kept = x.ndim - self._event_dim
        if self._event_dim:
            stretched = stretched.reshape((*stretched.shape[: -self._event_dim], -1)).sum(-1)
        return stretched.expand(x.shape[:kept])

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape broadcast with loc's and scale's."""
        given = (tuple(p.shape) for p in (self.loc, self.scale) if isinstance(p, Tensor))
        return Size(fg.broadcast_shapes(tuple(shape), *given))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape broadcast with loc's and scale's."""
        return self.forward_shape(shape)


class CumulativeDistributionTransform(Transform):
    """y = the distribution's cdf(x), the inverse its icdf."""

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the distribution's log_prob(x)."""
        return self.distribution.log_prob(x)


def inside_unit_interval(y: Tensor) -> Tensor:
    """Keep numbers between the smallest positive one and a rounding error below 1."""
    info = finfo(y.dtype)
    return y.clamp(min=info.tiny, max=1 - info.eps)


def clipped_sigmoid(x: Tensor) -> Tensor:
    """Return the sigmoid, kept a rounding error away from 0 and 1."""
    return inside_unit_interval(fg.sigmoid(x))


def _is_same(one: Parameter, other: Parameter) -> bool:
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return one is other or bool(fg.as_tensor(one == other).all())
    return one == other
