"""What all distributions share: shapes, validation, `expand` and the methods that follow from others."""

from __future__ import annotations

import functools
import operator
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base.size import Size
from funcgrad._ops.conditions import are_allowed, are_true
from funcgrad._program.value import Value
from funcgrad._tape.modes import is_grad_enabled, no_grad
from funcgrad._tensor import functions as fg
from funcgrad._tensor.interop import can_be_read
from funcgrad._tensor.refused_numbers import is_of_model, look, require
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.utils import Unwritten, lazy_property

__all__ = ["Distribution"]


_DRAWN: weakref.WeakKeyDictionary[Value, Any] = weakref.WeakKeyDictionary()  # samples; weakly, what drew them


class Distribution:
    """A batch of probability distributions, each over events of one shape.

    A subclass sets its parameters as public attributes whose shapes begin with the batch shape, then calls
    `super().__init__`; it names their constraints in `arg_constraints` and its own in `support`, and writes `rsample`
    (then `has_rsample` is True) or `sample`, and `log_prob`. It is given `expand`, validation, `repr`, `stddev`,
    `perplexity`, and `sample` from `rsample`.

    ValueError: a parameter, or a value that is scored, breaks its constraint. Of numbers that a program is to compute
    and that have a history, or under `no_grad`, it is raised when the host reads numbers of that program, with a note
    that names the line; else at once, which waits for them. `validate_args=False` turns validation off, and inside of
    JAX's transformations it is left out.
    """

    arg_constraints: Any = Unwritten("a constraint for each parameter, by name")
    support: Any = Unwritten("the constraint that events satisfy")
    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Turn validation on or off where `validate_args` is not given."""
        if value not in (True, False):
            raise ValueError(f"expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            wanted: dict[str, Any] = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        waits, as_made = False, object.__new__(type(self))
        vars(as_made).update(vars(self))  # an error that comes later does not tell what was derived since
        for name, constraint in wanted.items():
            is_derived = name not in vars(self) and isinstance(getattr(type(self), name), lazy_property)
            if not constraints.is_dependent(constraint) and not is_derived:
                value = getattr(self, name)
                waits |= _require(constraint, value, functools.partial(as_made._wrong, name, constraint, value))
        if waits:
            look()

    def _wrong(self, name: str, constraint: constraints.Constraint, value: Tensor) -> Exception:
        return ValueError(
            f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
            f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
        )

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one event."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The mean. Shape: batch_shape + event_shape, as mode, variance and stddev."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable event."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance of each element of an event."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw without history. Shape: result sample_shape + batch_shape + event_shape."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw so that gradients reach the parameters. Shape: result sample_shape + batch_shape + event_shape."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Return `sample((n,))`."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", category=FutureWarning, stacklevel=2
        )
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density or probability at `value`. Shape: the batch, broadcast with value's."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of an event up to `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the event up to which the probability is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all events of a discrete distribution along a new first dimension.

        Shape: (count,) + batch_shape + event_shape; without `expand` the batch dimensions have size 1.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy. Shape: batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return exp(entropy). Shape: batch_shape."""
        return fg.exp(self.entropy())

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """Return the same distribution with its batch expanded to `batch_shape`.

        Public tensors and distributions that this one holds are expanded; whatever else it holds is shared.
        """
        new = self._get_checked_instance(type(self), _instance)
        batch_shape, kept = Size(batch_shape), len(self._batch_shape)
        for name, held in vars(self).items():
            if isinstance(held, Distribution):
                held = held.expand(batch_shape + held.batch_shape[kept:])
            elif isinstance(held, Tensor) and not name.startswith("_"):
                held = held.expand(batch_shape + held.shape[kept:])
            vars(new)[name] = held
        new._batch_shape = batch_shape
        return new

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return the instance that `expand` fills. NotImplementedError: a subclass has an __init__ but no expand."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        """Return the shape of what `sample(sample_shape)` draws."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _own(self, drawn: Tensor) -> Tensor:
        """Remember a sample as one that needs no validation: what is drawn and then scored need not be looked at."""
        _DRAWN[drawn._current().value] = weakref.ref(self)
        return drawn

    def _validate_sample(self, value: Tensor) -> None:
        """Raise ValueError where `value` is no batch of events."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        drawn_by = _DRAWN.get(value._current().value)
        if drawn_by is not None and drawn_by() is self:
            return
        _require_shape(value, self._batch_shape, self._event_shape)
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        assert support is not None, "support is unexpectedly None"
        if _require(support, value, functools.partial(self._outside, support, value)):
            look()

    def _outside(self, support: constraints.Constraint, value: Tensor) -> Exception:
        return ValueError(
            f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
            f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
        )

    def __repr__(self) -> str:
        held = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        shown = ", ".join(f"{name}: {x if x.numel() == 1 else x.size()}" for name, x in held.items())
        return f"{type(self).__name__}({shown})"


def checks_value(method: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Validate the value that is given to `log_prob` or `cdf`, where validation is on."""

    @functools.wraps(method)
    def validated(self: Distribution, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return method(self, value)

    return validated


def _require(constraint: constraints.Constraint, value: Tensor, error: Callable[[], Exception]) -> bool:
    """Raise the error where a value breaks a constraint, or record that. Result: whether to look at once what it is.

    What a model computes is looked at with its results, so that a step stays one program: what has a history, is
    detached from it or comes after, and all under `no_grad`. What is data is looked at now: the error comes where it
    is made.
    """
    plain = constraints.of_arrays(constraint)
    if plain is not None and value.shape.numel():  # one instruction, else several
        is_open = require(are_allowed, value, None, plain, error=error)
    else:
        is_open = require(are_true, constraint.check(value), error=error)
    return is_open is not None and is_grad_enabled() and not is_of_model(value)


def holds(*valid: Tensor) -> bool:
    """Tell whether all are true; what has no numbers to look at (inside of JAX's transformations) counts as true."""
    known = [v for v in valid if can_be_read(v)]
    return not known or bool(functools.reduce(operator.and_, (v.all() for v in known)))


def _require_shape(value: Tensor, batch_shape: Size, event_shape: Size) -> None:
    actual, expected = value.shape, batch_shape + event_shape
    if actual[len(actual) - len(event_shape) :] != event_shape:
        raise ValueError(f"The right-most size of value must match event_shape: {actual} vs {event_shape}.")
    for given, wanted in zip(reversed(actual), reversed(expected), strict=False):
        if given != 1 and wanted != 1 and given != wanted:
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {actual} vs {expected}.")
