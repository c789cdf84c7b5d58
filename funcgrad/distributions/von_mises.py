"""The von Mises distribution: angles around a direction."""

from __future__ import annotations

import math
from collections.abc import Sequence

from funcgrad._base import dtypes
from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.utils import AroundLoc, Parameter, broadcast_all, lazy_property
from funcgrad.random.functions import rand
from funcgrad.special import i0e, i1e

__all__ = ["VonMises"]


class VonMises(AroundLoc, Distribution):
    """Angles x with density exp(k cos(x - loc)) / (2 pi I0(k)), k being the concentration."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]  # computed once
        """The circular variance 1 - I1(k) / I0(k)."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return k cos(value - loc) - log(2 pi I0(k))."""
        log_i0 = i0e(self.concentration).log() + self.concentration
        return self.concentration * fg.cos(value - self.loc) - math.log(2 * math.pi) - log_i0

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw angles in [-pi, pi) by rejection from a wrapped Cauchy distribution (Best and Fisher 1979).

        Computed in float64. Each round of it waits for the numbers.
        """
        with no_grad():
            concentration, center = self.concentration.to(dtypes.float64), self.loc.to(dtypes.float64)
            peak = _envelope(concentration)
            offset = center.new_zeros(self._extended_shape(sample_shape))
            is_done = fg.zeros_like(offset, dtype=dtypes.bool_)
            while not is_done.all():
                turn, level, side = rand((3, *offset.shape), dtype=offset.dtype, device=offset.device).unbind()
                wave = fg.cos(math.pi * turn)
                cosine = (1 + peak * wave) / (peak + wave)
                c = concentration * (peak - cosine)
                accepted = (c * (2 - c) > level) | ((c / level).log() + 1 - c >= 0)
                offset = fg.where(accepted, (side - 0.5).sign() * cosine.acos(), offset)
                is_done = is_done | accepted
            return ((offset + math.pi + center) % (2 * math.pi) - math.pi).to(self.loc.dtype)


def _envelope(concentration: Tensor) -> Tensor:
    """Return the parameter of the wrapped Cauchy distribution that lies over the density; its series near 0."""
    tau = 1 + (1 + 4 * concentration**2).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * concentration)
    return fg.where(concentration < 1e-5, 1 / concentration + concentration, (1 + rho**2) / (2 * rho))
