"""The methods that fill a tensor with random numbers: uniform_, normal_, random_, ..."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import c_type_name, scalar_type_name
from funcgrad._base.dtypes import dtype as DType
from funcgrad._ops.conditions import are_chances
from funcgrad._tensor.arguments import as_some_int
from funcgrad._tensor.refused_numbers import require
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import draw, sampling
from funcgrad.random.draw import draw_into, require_floating
from funcgrad.random.generator import Generator


def uniform_(
    self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None, **named: Any
) -> Tensor:
    """Fill with numbers from [from, to). RuntimeError: from > to, or a bound that the dtype cannot hold."""
    low, high = _number(named.get("from", from_)), _number(to)
    require_floating(self.dtype, "check_uniform_bounds", complex_too=True)
    for name, bound in (("from", low), ("to", high)):
        if not abs(bound) <= largest_float(self.dtype):
            raise RuntimeError(f"{name} is out of bounds for {c_type_name(self.dtype)}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
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
    require_continuous(self.dtype, "Exponential", scalar_type_name(self.dtype))
    return draw_into(self, draw.EXPONENTIAL, generator, (rate,), "ExponentialBackward0")


def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with Cauchy's numbers around `median`, half of them within `sigma`. RuntimeError: sigma <= 0."""
    median, sigma = _number(median), _number(sigma)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    require_continuous(self.dtype, "Cauchy", c_type_name(self.dtype))
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
    if isinstance(p, Tensor):
        self._check_writable()
        require_floating(p.dtype, "bernoulli_tensor_cpu_p_")
        require(are_chances, p)
        drawn = draw.bernoulli_like(self, p.detach().expand(self.shape), generator)
        return draw.overwrite(self, drawn, "BernoulliBackward1")
    if self.dtype.is_complex:
        require_floating(self.dtype, "bernoulli_scalar_cpu_")
    p = _number(p)
    require_probability(p)
    return draw_into(self, draw.BERNOULLI, generator, (p,), "BernoulliBackward2")


def random_(self: Tensor, *bounds: int | None, generator: Generator | None = None, **named: int | None) -> Tensor:
    """Fill with integers: from all that the dtype holds from 0 on (floats: up to 2^mantissa), [0, to) or [from, to).

    Called as random_(), random_(to), random_(from, to); to = None means all from `from` on.
    RuntimeError: from >= to, or a bound that the dtype cannot hold.
    """
    if self.dtype.category >= dtypes.FLOAT:
        require_floating(self.dtype, "random_kernel_cpu")
    if not bounds and not named:
        return draw_into(self, draw.INTEGERS_OF_DTYPE, generator, (), "RandomBackward2")
    low, high = (0, *bounds) if len(bounds) == 1 and not named else (*bounds, None, None)[:2]
    low, high = named.get("from", low), named.get("to", high)
    low = 0 if low is None else as_some_int(low, "random_(): argument 'from'")
    largest = sampling.largest_integer(self.dtype.numpy)
    high = largest + 1 if high is None else as_some_int(high, "random_(): argument 'to'")
    require_range(self.dtype, low, high)
    name = "RandomBackward1" if len(bounds) == 1 else "RandomBackward0"
    return draw_into(self, draw.INTEGERS, generator, (low, high), name)


def require_std(std: float) -> None:
    """Raise RuntimeError for a negative standard deviation."""
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def require_probability(p: float) -> None:
    """Raise RuntimeError for what is no probability."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")


def require_range(dtype: DType, low: int, high: int) -> None:
    """Raise RuntimeError for an empty range [low, high), or a bound that the dtype cannot hold."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    least, largest = sampling.smallest_integer(dtype.numpy), sampling.largest_integer(dtype.numpy)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if dtype.is_floating_point and not least <= bound <= largest and abs(bound) <= largest_float(dtype):
            message = f"{name} is out of bounds [{least}, {largest}]: beyond them {dtype} skips integers"
            warnings.warn(message, stacklevel=3)
        elif not least <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {c_type_name(dtype)}")


def largest_float(dtype: DType) -> float:
    """Return the largest finite number of a float or complex dtype."""
    return float(ml_dtypes.finfo(dtype.to_real().numpy).max)


def require_continuous(dtype: DType, name: str, given: str) -> None:
    """RuntimeError, as torch's, for a dtype in which no such distribution is drawn."""
    if not (dtype.is_floating_point and dtype.itemsize > 1):
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {given}"
        )


def _number(given: Any) -> float:
    if isinstance(given, Tensor) and given.ndim:
        raise TypeError(f"a number is drawn with numbers, not with a tensor of shape {tuple(given.shape)}")
    return given if type(given) is float else float(given)


METHODS = (uniform_, normal_, log_normal_, exponential_, cauchy_, geometric_, bernoulli_, random_)
