"""What a random value is distributed as after transforms."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from funcgrad._tape.modes import no_grad
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.independent import Independent
from funcgrad.distributions.transforms import ComposeTransform, Transform
from funcgrad.distributions.utils import sum_rightmost

__all__ = ["TransformedDistribution"]


def of_base(name: str) -> Any:
    """Return a property that reads the base distribution's attribute of that name."""
    return property(operator.attrgetter(f"base_dist.{name}"), doc=f"The base distribution's {name}.")


class TransformedDistribution(Distribution):
    """y = t(x), x from `base_distribution`, t one transform or a list of them, the first first.

    log p(y) = log p(x) - log |dy/dx|. The base is expanded to the shape that the transforms' parameters have, and its
    batch dimensions become event dimensions where a transform works on more than one number.
    """

    arg_constraints: Any = {}
    has_rsample: Any = of_base("has_rsample")

    def __init__(
        self, base_distribution: Any, transforms: Transform | list[Transform], validate_args: bool | None = None
    ) -> None:
        self.transforms = _as_list(transforms)
        whole = ComposeTransform(self.transforms)
        taken, given = whole.domain.event_dim, whole.codomain.event_dim
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        if len(base_shape) < taken:
            raise ValueError(f"base_distribution needs to have shape with size at least {taken}, but got {base_shape}.")
        shape = whole.forward_shape(base_shape)
        wanted = whole.inverse_shape(shape)
        if wanted != base_shape:
            base_distribution = base_distribution.expand(wanted[: len(wanted) - base_event_dim])
        if taken > base_event_dim:
            base_distribution = Independent(base_distribution, taken - base_event_dim)
        self.base_dist: Any = base_distribution
        kept = len(shape) - max(given, base_event_dim + given - taken)
        assert kept >= 0, f"{shape} has fewer dimensions than an event"
        super().__init__(shape[:kept], shape[kept:], validate_args)

    def _support(self) -> Any:
        """The last transform's codomain, for all event dimensions."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self._event_shape) - support.event_dim
        return constraints.independent(support, missing) if missing > 0 else support

    support: Any = constraints.dependent_property(_support, is_discrete=False)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw from the base and transform."""
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw from the base and transform; gradients reach the parameters of both."""
        return self._transformed(self.base_dist.rsample(sample_shape))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the base's at the value transformed back, less the transforms' log_abs_det_jacobian."""
        event_dim, stretched, y = len(self._event_shape), list[Any](), value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            volume = transform.log_abs_det_jacobian(x, y)
            stretched.append(sum_rightmost(volume, event_dim - transform.domain.event_dim))
            y = x
        log_prob = sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))
        return functools.reduce(operator.sub, stretched, 0.0) + log_prob

    def cdf(self, value: Tensor) -> Tensor:
        """Return the base's at the value transformed back; its complement where the transforms fall."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """Return the base's, transformed."""
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))

    def _transformed(self, x: Tensor) -> Tensor:
        return functools.reduce(lambda x, transform: transform(x), self.transforms, x)

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """Return `value` where the transforms rise, 1 - value where they fall."""
        sign = functools.reduce(operator.mul, (t.sign for t in self.transforms), 1)
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5


def _as_list(transforms: Any) -> list[Transform]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
