"""Constraints: which values are allowed, how many dimensions one value has, and whether values are discrete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.info import finfo
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.linalg import cholesky_ex, eigvalsh, norm

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip

_UNKNOWN: Any = NotImplemented  # torch's word for "depends on the instance"


class Constraint:
    """A set of values.

    A subclass writes `check`. event_dim: how many last dimensions make one value. is_discrete: whether values are
    counted, not measured.
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Return for each value of a batch whether it is allowed. Shape: value (*, event), result (*)."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}()"


class _Bounded(Constraint):
    """A constraint made of bounds: numbers, or tensors that broadcast with the value. They show in its repr."""

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={bound}" for name, bound in vars(self).items())
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _Above(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _Below(_Bounded):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _Dependent(Constraint):
    """A placeholder for a constraint that depends on other variables, so that only an instance knows it."""

    def __init__(self, *, is_discrete: Any = _UNKNOWN, event_dim: Any = _UNKNOWN) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # known by instance only
        """Whether values are discrete. NotImplementedError: only an instance knows."""
        if self._is_discrete is _UNKNOWN:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # known by instance only
        """How many dimensions one value has. NotImplementedError: only an instance knows."""
        if self._event_dim is _UNKNOWN:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = _UNKNOWN, event_dim: Any = _UNKNOWN) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is _UNKNOWN else is_discrete,
            event_dim=self._event_dim if event_dim is _UNKNOWN else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        """Raise ValueError: a placeholder cannot tell."""
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Tell whether only an instance knows this constraint."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property whose value is a constraint, and which counts as `dependent` when read from the class.

    >>> @constraints.dependent_property(is_discrete=False, event_dim=0)
    ... def support(self):
    ...     return constraints.interval(self.low, self.high)
    """

    def __init__(
        self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = _UNKNOWN, event_dim: Any = _UNKNOWN
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]  # a decorator here
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _Wrapping(Constraint):
    """What another constraint allows, seen in other dimensions."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # known by instance only
        """Whether the wrapped constraint's values are discrete."""
        return self.base_constraint.is_discrete


class _IndependentConstraint(_Wrapping):
    """Of each `reinterpreted_batch_ndims` last batch dimensions all values must be allowed."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be an int >= 0, got {reinterpreted_batch_ndims}")
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # known by instance only
        """The wrapped constraint's dimensions and the reinterpreted ones."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        """Return whether all values along the reinterpreted dimensions are allowed."""
        allowed = self.base_constraint.check(value)
        return _all_of_last(allowed, allowed.ndim - self.reinterpreted_batch_ndims, self.event_dim, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_Wrapping):
    """What every component of a mixture allows."""

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # known by instance only
        """The components' own."""
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        """Return whether all components allow each value."""
        allowed = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return _all_of_last(allowed, value.ndim - self.event_dim, self.event_dim, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


def _all_of_last(allowed: Tensor, kept: int, expected: int, value: Tensor) -> Tensor:
    if kept < 0:
        raise ValueError(f"Expected value.dim() >= {expected} but got {value.ndim}")
    joined = allowed if allowed.ndim == kept + 1 else allowed.reshape((*allowed.shape[:kept], -1))
    return joined.all(-1)


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value


class _GreaterThan(_Above):
    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_Above):
    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _LessThan(_Below):
    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) < 1e-6)


class _Multinomial(_Below):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)

    def __repr__(self) -> str:
        return Constraint.__repr__(self)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Tensor) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.shape[-1] * 10
        lengths = norm(value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        is_square = value.shape[-2] == value.shape[-1]
        return fg.full(value.shape[:-2], is_square, dtype=dtypes.bool_, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return fg.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        return symmetric & (eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        return symmetric & (cholesky_ex(value).info == 0)


class _Sequence(Constraint):
    """Constraints side by side along `dim`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # known by instance only
        """Whether one of them is discrete."""
        return any(c.is_discrete for c in self.cseq)

    def _require_dim(self, value: Tensor) -> None:
        if not -value.ndim <= self.dim < value.ndim:
            raise AssertionError(f"dim {self.dim} out of range for value with {value.ndim} dimensions")


class _Cat(_Sequence):
    """Constraints on pieces of the given lengths along `dim`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # known by instance only
        """The largest among them."""
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        """Return what each says of its piece, joined along `dim`."""
        self._require_dim(value)
        pieces = value.split(self.lengths, self.dim)
        return fg.cat([c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim)


class _Stack(_Sequence):
    """Constraints on the slices along `dim`."""

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # known by instance only
        """The largest among them, and `dim` where it lies inside of a value."""
        inside = max(c.event_dim for c in self.cseq)
        return inside + (self.dim + inside < 0)

    def check(self, value: Tensor) -> Tensor:
        """Return what each says of its slice, stacked along `dim`."""
        self._require_dim(value)
        slices = value.unbind(self.dim)
        return fg.stack([c.check(v) for c, v in zip(self.cseq, slices, strict=False)], self.dim)


_ASK_ARRAYS = frozenset({
    _Boolean, _GreaterThan, _GreaterThanEq, _HalfOpenInterval, _IntegerGreaterThan, _IntegerInterval, _Interval,
    _LessThan, _Multinomial, _OneHot, _Real, _Simplex,
})  # fmt: skip
_SAME: dict[tuple[Any, ...], Constraint] = {}


def of_arrays(constraint: Constraint) -> Constraint | None:
    """Return the constraint whose `check` takes arrays of numpy's and JAX's too, one for all that are equal.

    None: it asks for what they do not have, or its bounds are tensors.
    """
    kind, parts = type(constraint), tuple(vars(constraint).values())
    if isinstance(constraint, _IndependentConstraint):
        base = of_arrays(constraint.base_constraint)
        if base is None:
            return None
        parts = (base, constraint.reinterpreted_batch_ndims)
    elif kind not in _ASK_ARRAYS or not all(isinstance(part, (int, float)) for part in parts):
        return None
    return _SAME.setdefault((kind, *parts, *map(type, parts)), constraint)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
