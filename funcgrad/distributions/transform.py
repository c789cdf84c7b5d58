"""What a transform is (a differentiable map, its inverse, the volume by which it stretches), and how to join them."""

from __future__ import annotations

import copy
import functools
import operator
import weakref
from collections.abc import Sequence
from typing import Any

from funcgrad._base.size import Size
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.distributions import constraints
from funcgrad.distributions.utils import Unwritten, sum_rightmost


class Transform:
    """A map y = t(x) from `domain` to `codomain`.

    A subclass writes `_call`, `_inverse`, `log_abs_det_jacobian(x, y)`, `domain`, `codomain`; `bijective` and, for maps
    of numbers, `sign` (+1 or -1: rising or falling); `forward_shape` and `inverse_shape` where shapes change. It is
    given `t(x)`, `t.inv(y)` and, with cache_size = 1, the last pair again instead of computing it: where an inverse is
    inexact, `t.inv(t(x))` is then x itself.
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    sign: Any = Unwritten("whether it rises (+1) or falls (-1)")

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Tensor | None, Tensor | None] = (None, None)
        self._inv: Any = None  # a weak reference, so that what is cached goes when the transform does

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_inv": None}

    @property
    def event_dim(self) -> int:
        """How many dimensions one value has. ValueError: not the same on both sides."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse; its own inverse is this transform again."""
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = self._inverted()
            self._inv = weakref.ref(found)
        return found

    def _inverted(self) -> Transform:
        return _InverseTransform(self)

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the same transform with this cache size."""
        if self._cache_size == cache_size:
            return self
        new = copy.copy(self)
        Transform.__init__(new, cache_size)
        return new

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, x: Tensor) -> Tensor:
        """Return y. Shape: forward_shape of x's."""
        known_x, known_y = self._cached_x_y
        if known_y is not None and x is known_x:
            return known_y
        return self._keep(x, self._call(x))[1]

    def _inv_call(self, y: Tensor) -> Tensor:
        known_x, known_y = self._cached_x_y
        if known_x is not None and y is known_y:
            return known_x
        return self._keep(self._inverse(y), y)[0]

    def _keep(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        if self._cache_size:
            self._cached_x_y = x, y
        return x, y

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log |dy/dx|. Shape: that of x without the domain's event dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of y for that of x."""
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of x for that of y."""
        return Size(shape)


class _InverseTransform(Transform):
    """Another transform, backwards."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._forward = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._forward.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._forward.domain

    @property
    def bijective(self) -> bool:
        return self._forward.bijective

    @property
    def sign(self) -> Any:
        return self._forward.sign

    @property
    def inv(self) -> Transform:
        return self._forward

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._forward.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._forward == other._forward

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._forward!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._forward._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self._forward.forward_shape(shape)


class ComposeTransform(Transform):
    """Transforms one after the other, the first in the list first."""

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The first part's, of as many dimensions as the parts together need."""
        if not self.parts:
            return constraints.real
        count = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            count = max(count + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _of_event_dim(self.parts[0].domain, count)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The last part's, of as many dimensions as the parts together need."""
        if not self.parts:
            return constraints.real
        count = self.parts[0].domain.event_dim
        for part in self.parts:
            count = max(count + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _of_event_dim(self.parts[-1].codomain, count)

    @property
    def bijective(self) -> bool:
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        """The product of the parts' signs."""
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    def _inverted(self) -> Transform:
        inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
        inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return the same transforms, each with this cache size."""
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum of the parts'."""
        if not self.parts:
            return fg.zeros_like(x)
        total, event_dim = None, self.domain.event_dim
        for i, part in enumerate(self.parts):
            then = y if i == len(self.parts) - 1 else part(x)
            stretched = sum_rightmost(part.log_abs_det_jacobian(x, then), event_dim - part.domain.event_dim)
            total = stretched if total is None else total + stretched
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = then
        assert total is not None
        return total

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape that the last part gives."""
        return functools.reduce(lambda shape, part: part.forward_shape(shape), self.parts, Size(shape))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape that the first part takes."""
        return functools.reduce(lambda shape, part: part.inverse_shape(shape), reversed(self.parts), Size(shape))

    def __repr__(self) -> str:
        parts = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {parts}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as part of one value: the volumes are summed over them."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return the same transform, its base too, with this cache size."""
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The base's, with the reinterpreted dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The base's, with the reinterpreted dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        """Whether the base is."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """The base's."""
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        require_dims(x.shape, self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        require_dims(y.shape, self.codomain.event_dim)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the base's, summed over the reinterpreted dimensions."""
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape that the base gives."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape that the base takes."""
        return self.base_transform.inverse_shape(shape)


def _of_event_dim(constraint: Any, count: int) -> Any:
    missing = count - constraint.event_dim
    return constraints.independent(constraint, missing) if missing else constraint


def require_dims(shape: Sequence[int], count: int) -> None:
    """Raise ValueError for fewer dimensions than one value has."""
    if len(shape) < count:
        raise ValueError("Too few dimensions on input")
