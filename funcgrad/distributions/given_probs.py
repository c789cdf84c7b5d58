"""Distributions that are given either `probs` or `logits`, and compute the other when it is asked for."""

from __future__ import annotations

from typing import Any

from funcgrad._base.size import Size
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions.distribution import Distribution
from funcgrad.distributions.utils import Parameter, broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class GivenProbs(Distribution):
    """A distribution over outcomes with probabilities, or over two outcomes where `_is_binary`.

    A subclass calls `_give` before `super().__init__`, and is given `probs`, `logits` and `param_shape`.
    """

    _is_binary = True

    def _give(self, probs: Parameter | None, logits: Parameter | None, *others: Parameter) -> tuple[Tensor, ...]:
        """Keep what is given, broadcast with other parameters; return those, in its dtype.

        ValueError: both are given, or none.
        """
        self._given, given = given_one(probs, logits)
        given, *rest = reversed(broadcast_all(*others, given))
        vars(self)[self._given] = given
        return tuple(other.type_as(given) for other in reversed(rest))

    @lazy_property
    def logits(self) -> Tensor:
        """Log-odds of two outcomes, log-probabilities of more."""
        return probs_to_logits(self.probs, self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, self._is_binary)

    @property
    def _param(self) -> Tensor:
        return vars(self)[self._given]

    @property
    def param_shape(self) -> Size:
        """The shape of `probs` and `logits`."""
        return self._param.shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Return events with dimensions for the batch, expanded to it on request. Shape: values (count,)."""
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


def given_one(probs: Any, logits: Any) -> tuple[str, Any]:
    """Return the name and value of what is given. ValueError: both are, or none."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("probs", probs) if logits is None else ("logits", logits)
