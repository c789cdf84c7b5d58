"""Which transform leads from all real numbers to the values that a constraint allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.distributions import constraints, transforms
from funcgrad.distributions.transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """A table from kinds of constraint to functions that make a transform for one.

    >>> scale = transform_to(Normal.arg_constraints["scale"])(unconstrained)
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Enter a function for a Constraint subclass, or for that of an instance; without one, return a decorator.

        TypeError: neither.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """Return a transform to what this constraint allows. NotImplementedError: none was registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _above(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


def _below(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


def _register_in(registry: ConstraintRegistry) -> None:
    """Enter what both tables share; constraints made of others are led to by their own transforms."""
    registry.register(constraints.real, lambda constraint: transforms.identity_transform)
    registry.register(constraints.greater_than, _above)  # `positive` is one of these
    registry.register(
        constraints.independent,
        lambda c: transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    registry.register(constraints.greater_than_eq, _above)
    registry.register(constraints.less_than, _below)
    registry.register(constraints.interval, _between)
    registry.register(constraints.half_open_interval, _between)
    registry.register(constraints.corr_cholesky, lambda constraint: transforms.CorrCholeskyTransform())
    registry.register(
        constraints.cat, lambda c: transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)
    )
    registry.register(
        constraints.stack, lambda c: transforms.StackTransform([registry(part) for part in c.cseq], c.dim)
    )


for _registry in (biject_to, transform_to):
    _register_in(_registry)
biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
for _definite in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_definite, lambda constraint: transforms.PositiveDefiniteTransform())
