"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.categorical import Categorical
from funcgrad.distributions.constraints import MixtureSameFamilyConstraint
from funcgrad.distributions.distribution import Distribution, checks_value

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Draw which component, then from that component.

    The components are the last batch dimension, of size k, of `component_distribution`; `mixture_distribution` is a
    Categorical over k outcomes. ValueError: they do not fit.
    """

    arg_constraints: Any = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        _require_fitting(mixture_distribution, component_distribution)
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args)

    @property
    def mixture_distribution(self) -> Any:
        """The Categorical over components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @constraints.dependent_property
    def support(self) -> Any:
        """What all components allow."""
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mean(self) -> Tensor:
        """The components' means, weighted."""
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The weighted variances, and the variance of the means."""
        components = self._component_distribution
        return self._weighted(components.variance) + self._weighted((components.mean - self._pad(self.mean)).pow(2))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return log(sum(weight * density))."""
        scores = self._component_distribution.log_prob(self._pad(value))
        return fg.logsumexp(scores + fg.log_softmax(self._mixture_distribution.logits, -1), -1)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the components', weighted."""
        return (self._component_distribution.cdf(self._pad(value)) * self._mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw from all components, and keep the one that the mixture chose."""
        with no_grad():
            mixture = self._mixture_distribution
            mixture = mixture if mixture.batch_shape == self._batch_shape else mixture.expand(self._batch_shape)
            chosen = mixture.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            place = drawn.ndim - self._event_ndims - 1
            chosen = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            kept = (*drawn.shape[:place], 1, *drawn.shape[place + 1 :])
            return drawn.gather(place, chosen.expand(kept)).squeeze(place)

    def _pad(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - self._event_ndims)

    def _weighted(self, of_components: Tensor) -> Tensor:
        probs = self._mixture_distribution.probs
        probs = probs.reshape(probs.shape + (1,) * self._event_ndims)
        return (probs * of_components).sum(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n  {self._mixture_distribution},\n  {self._component_distribution})"


def _require_fitting(mixture: Any, components: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
    if not isinstance(components, Distribution):
        raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
    batch, batches = mixture.batch_shape, components.batch_shape[:-1]
    for one, other in zip(reversed(batch), reversed(batches), strict=False):
        if one != 1 and other != 1 and one != other:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                f"`component_distribution.batch_shape`({batches})"
            )
    weights, count = mixture.logits.shape[-1], components.batch_shape[-1]
    if weights != count:
        raise ValueError(
            f"`mixture_distribution component` ({weights}) does not equal `component_distribution.batch_shape[-1]` "
            f"({count})"
        )
