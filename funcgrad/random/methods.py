"""The methods that fill a tensor with random numbers (uniform_, normal_, random_, ...); `attach` puts them on Tensor."""

from __future__ import annotations

import math
import warnings
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType  # noqa: N812 - a type in signatures
from funcgrad._tensor.call import scalar_type_name
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import draw, functions, keyed, sampling
from funcgrad.random.draw import Op, Sampler, draw_into, require_floating
from funcgrad.random.generator import Generator, generator_of

_ALL_BITS = Sampler(
    lambda stream, count, kind, limit: sampling.integers_of_dtype(stream, count, kind), Op(keyed.integers)
)
_KEYED_BITS = Op(keyed.bits)


def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None, **named: Any) -> Tensor:
    """Fill with numbers from [from, to). RuntimeError: from > to, or a bound that the dtype cannot hold."""
    low, high = _number(named.get("from", from_)), _number(to)
    require_floating(self.dtype, "check_uniform_bounds", complex_too=True)
    for name, bound in (("from", low), ("to", high)):
        if not abs(bound) <= dtypes_max(self.dtype):
            raise RuntimeError(f"{name} is out of bounds for {_cpp_name(self.dtype)}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    return draw_into(self, draw.UNIFORM, generator, (low, high), "UniformBackward0")


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from N(mean, std^2). RuntimeError: std < 0."""
    mean, std = _number(mean), _number(std)
    require_std(std)
    require_floating(self.dtype, "normal_kernel_cpu", complex_too=True)
    return draw_into(self, draw.NORMAL, generator, (mean, std), "NormalBackward0")


def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None) -> Tensor:
    """Fill with exp(x), x from N(mean, std^2). RuntimeError: std <= 0."""
    mean, std = _number(mean), _number(std)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    require_floating(self.dtype, "log_normal_cpu")
    return draw_into(self, draw.LOG_NORMAL, generator, (mean, std), "LogNormalBackward0")


def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of density lambd exp(-lambd x), x >= 0. RuntimeError: lambd <= 0."""
    rate = _number(lambd)
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    _require_continuous(self.dtype, "Exponential", scalar_type_name(self.dtype))
    return draw_into(self, draw.EXPONENTIAL, generator, (rate,), "ExponentialBackward0")


def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from the Cauchy distribution around `median`, half of them within `sigma`. RuntimeError: sigma <= 0."""
    median, sigma = _number(median), _number(sigma)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _require_continuous(self.dtype, "Cauchy", _cpp_name(self.dtype))
    return draw_into(self, draw.CAUCHY, generator, (median, sigma), "CauchyBackward0")


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of trials until the first success, each of probability p. RuntimeError: p outside (0, 1)."""
    p = _number(p)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if self.dtype.category not in (dtypes.INTEGER, dtypes.FLOAT):
        require_floating(self.dtype, "geometric_cpu")
    return draw_into(self, draw.GEOMETRIC, generator, (p,), "GeometricBackward0")


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones of probability p (a number, or a tensor of them) and zeros. RuntimeError: p outside [0, 1]."""
    if isinstance(p, Tensor) and p.ndim:
        self._check_writable()
        drawn = functions.bernoulli_each(p, tuple(self.shape), self.dtype, generator)
        return draw.overwrite(self, drawn, "BernoulliBackward1")
    p = _number(p)
    require_probability(p)
    return draw_into(self, draw.BERNOULLI, generator, (p,), "BernoulliBackward2")


def random_(
    self: Tensor, from_: int | None = None, to: int | None = None, *, generator: Generator | None = None, **named: Any
) -> Tensor:
    """Fill with integers: from all that the dtype holds from 0 on (floats: up to 2^mantissa), from [0, to), or [from, to).

    RuntimeError: from >= to, or a bound that the dtype cannot hold.
    """
    low = named.get("from", from_)
    if not (self.dtype.category <= dtypes.FLOAT and self.dtype.itemsize > (self.dtype.category == dtypes.FLOAT)):
        require_floating(dtypes.complex64, "random_kernel_cpu")
    if low is None and to is None:
        return _random_of_dtype(self, generator)
    if to is None and "from" not in named and _given_one(low):
        low, to = 0, low
    return random_between(self, int(low or 0), None if to is _OPEN or to is None else int(to), generator)
