"""The categorical distribution, and what is built over one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.info import finfo
from funcgrad._base.size import Size
from funcgrad._ops.table import TABLE
from funcgrad._tensor import functions as fg
from funcgrad._tensor.call import call
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.distribution import Distribution, checks_value
from funcgrad.distributions.given_probs import GivenProbs, given_one
from funcgrad.random.functions import drawn_places, multinomial

__all__ = ["Categorical"]


class Categorical(GivenProbs):
    """Outcomes 0 ... k - 1, of given probabilities or unnormalised log-probabilities.

    Shape: probs or logits (*batch, k); both are normalised along the last dimension.

    >>> policy = Categorical(logits=network(state))
    >>> action = policy.sample()
    >>> loss = -policy.log_prob(action) * reward
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._given, given = given_one(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        total = given.sum(-1, keepdim=True) if logits is None else given.logsumexp(-1, keepdim=True)
        vars(self)[self._given] = given / total if logits is None else given - total
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> constraints.Constraint:
        """0 ... k - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def _num_events(self) -> int:
        return self.param_shape[-1]

    @property
    def mean(self) -> Tensor:
        """NaN: outcomes are names, not numbers."""
        return self.probs.new_full(self._batch_shape, math.nan)

    @property
    def mode(self) -> Tensor:
        """The most probable outcome."""
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        """NaN: outcomes are names, not numbers."""
        return self.mean

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw outcomes, int64. Shape: result sample_shape + batch_shape."""
        probs, count = self.probs, Size(sample_shape).numel()
        are_rows = probs.ndim == 2 or (probs.ndim == 1 and count == 1)
        rows = probs if are_rows else probs.reshape(-1, self._num_events)
        drawn = drawn_places(rows, count) if self._validate_args else multinomial(rows, count, replacement=True)
        return self._own((drawn if count == 1 else drawn.T).reshape(self._extended_shape(sample_shape)))

    @checks_value
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the outcomes' probabilities."""
        logits = self.logits
        if value.shape != logits.shape[:-1]:
            shape = fg.broadcast_shapes(value.shape, logits.shape[:-1])
            value, logits = value.expand(shape), logits.expand((*shape, -1))
        places = value.long().unsqueeze(-1)
        if self._validate_args:  # they are places
            return call(TABLE["gather"], (logits, places), (-1, False)).squeeze(-1)
        return logits.gather(-1, places).squeeze(-1)

    def entropy(self) -> Tensor:
        """Return -sum(p log p)."""
        return -(self.logits.clamp(min=finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return 0 ... k - 1 along a new first dimension."""
        return self._enumerated(fg.arange(self._num_events, dtype=dtypes.int64, device=self._param.device), expand)


class OverCategorical(Distribution):
    """A distribution whose probabilities are those of a Categorical that it holds. Event shape: (k,)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, categorical: Categorical, validate_args: bool | None = None) -> None:
        self._categorical = categorical
        super().__init__(categorical.batch_shape, categorical.param_shape[-1:], validate_args)

    @property
    def probs(self) -> Tensor:
        """Probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Log-probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of `probs` and `logits`."""
        return self._categorical.param_shape

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)
