"""Distributions that draw a number of words nobody knows beforehand: poisson, binomial, gamma; and multinomial.

Each element is made with torch's algorithm, one after the other, because where one ends the next begins: about a
microsecond a number. The words that were drawn ahead and not used are given back to the stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import starmap
from operator import length_hint

import numpy as np

from funcgrad.random import sampling
from funcgrad.random.mersenne import MersenneTwister
from funcgrad.random.sampling import DType, Samples

_THIRD = float(np.float32(1 / 3))  # torch writes these constants in single precision
_SQUEEZE = float(np.float32(0.0331))

Uniform = Callable[[], float]


def poisson(stream: MersenneTwister, rates: Samples, kind: DType) -> Samples:
    """Draw from Poisson(rate) for each rate: products of uniforms under 10, else Hoermann's PTRS (1993)."""
    return _one_by_one(stream, _poisson, rates).astype(kind)


def binomial(stream: MersenneTwister, counts: Samples, probabilities: Samples, kind: DType) -> Samples:
    """Draw the number of successes for each count and probability: geometric steps, or Hoermann's BTRS (1993)."""
    return _one_by_one(stream, _binomial, counts, probabilities).astype(kind)


def standard_gamma(stream: MersenneTwister, shapes: Samples, kind: DType) -> Samples:
    """Draw from Gamma(shape, 1) for each shape: Marsaglia and Tsang (2000)."""
    return sampling.rounded(np.maximum(_gammas(stream, shapes), np.finfo(_wide(kind)).tiny), kind)


def dirichlet(stream: MersenneTwister, shapes: Samples, kind: DType) -> Samples:
    """Draw from Dirichlet(shapes) along the last axis: gammas divided by their sum."""
    gammas = _gammas(stream, shapes.astype(np.float64).reshape(-1)).reshape(shapes.shape)
    return sampling.rounded(gammas / gammas.sum(-1, keepdims=True), kind)


def places_with_replacement(stream: MersenneTwister, weights: Samples, count: int) -> Samples:
    """Draw `count` places from each row: uniforms looked up in the cumulated weights. Shape: weights (rows, places)."""
    wide = weights.astype(_wide(weights.dtype), copy=False)
    cumulated = np.cumsum(wide, axis=-1, dtype=weights.dtype if weights.dtype == wide.dtype else None)
    cumulated = cumulated / cumulated[:, -1:]
    cumulated[:, -1] = 1
    uniforms = stream.doubles(len(weights) * count).reshape(len(weights), count)
    places = np.empty(uniforms.shape, np.int64)  # of no rows too
    for found, row, drawn in zip(places, cumulated, uniforms, strict=True):
        found[:] = np.searchsorted(row, drawn)
    return places


def _wide(kind: DType) -> DType:
    return np.dtype(np.float32) if kind.itemsize == 2 else kind


def _gammas(stream: MersenneTwister, shapes: Samples) -> Samples:
    def normal() -> float:
        if stream.next_normal is not None:
            made, stream.next_normal = stream.next_normal, None
            return made
        turn, length = uniform(), uniform()
        radius, angle = math.sqrt(-2.0 * math.log1p(-length)), 2.0 * math.pi * turn
        stream.next_normal = radius * math.sin(angle)
        return radius * math.cos(angle)

    with np.errstate(divide="ignore"):
        powers = np.where(shapes < 1, 1 / shapes, 0)  # in the dtype of the shapes, as torch computes them
    offsets = np.where(shapes < 1, shapes + 1, shapes) - shapes.dtype.type(_THIRD)
    uniform = _Ahead(stream, 2 * shapes.size)
    made = [_gamma(uniform, normal, *row) for row in zip(powers.tolist(), offsets.tolist(), strict=True)]
    uniform.give_back()
    return np.array(made, np.float64)


def _one_by_one(stream: MersenneTwister, draw: Callable[..., float], *columns: Samples) -> Samples:
    uniform = _Ahead(stream, 2 * columns[0].size)
    rows = zip(*(column.astype(np.float64).tolist() for column in columns), strict=True)
    made = list(starmap(lambda *row: draw(uniform, *row), rows))
    uniform.give_back()
    return np.array(made, np.float64)


class _Ahead:
    """Doubles one at a time, drawn from the stream in blocks; `give_back` rewinds over those not used."""

    __slots__ = ("_drawn", "_mark", "_rest", "_size", "_stream")
    _rest: Iterator[float]

    def __init__(self, stream: MersenneTwister, expected: int) -> None:
        self._stream, self._mark, self._drawn = stream, stream.mark(), 0
        self._rest = iter(())
        self._size = min(max(expected, 64), 1 << 14)

    def __call__(self) -> float:
        for number in self._rest:
            return number
        self._rest = iter(self._stream.doubles(self._size).tolist())
        self._drawn += self._size
        return next(self._rest)

    def give_back(self) -> None:
        self._stream.rewind(self._mark)
        self._stream.skip(2 * (self._drawn - length_hint(self._rest)))


def _poisson(uniform: Uniform, rate: float) -> float:
    if rate >= 10:
        return _large_poisson(uniform, rate)
    if rate == 0:
        return 0
    limit, product, drawn = math.exp(-rate), uniform(), 0
    while product > limit:
        product *= uniform()
        drawn += 1
    return drawn


def _large_poisson(uniform: Uniform, rate: float) -> float:
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    squeeze = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform() - 0.5, uniform()
        edge = 0.5 - abs(u)
        drawn = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if edge >= 0.07 and v <= squeeze:
            return drawn
        if drawn < 0 or (edge < 0.013 and v > edge):
            continue
        score = math.log(v) + math.log(inverse_alpha) - math.log(a / (edge * edge) + b)
        if score <= -rate + drawn * log_rate - math.lgamma(drawn + 1):
            return drawn


def _binomial(uniform: Uniform, count: float, probability: float) -> float:
    if count <= 0 or probability <= 0:
        return 0
    if probability >= 1:
        return count
    if probability > 0.5:
        return count - _binomial(uniform, count, 1 - probability)
    if not probability <= 0.5:
        return math.nan
    return (_large_binomial if count * probability >= 10 else _small_binomial)(uniform, count, probability)


def _small_binomial(uniform: Uniform, count: float, probability: float) -> float:
    log_failure = math.log1p(-probability)
    trials = successes = 0
    while True:
        u = uniform()
        trials += math.ceil(math.log(u) / log_failure) if u else math.inf
        if trials > count:
            return successes
        successes += 1


def _large_binomial(uniform: Uniform, count: float, probability: float) -> float:
    std = math.sqrt(count * probability * (1 - probability))
    b = 1.15 + 2.53 * std
    a = -0.0873 + 0.0248 * b + 0.01 * probability
    center = count * probability + 0.5
    squeeze = 0.92 - 4.2 / b
    odds = probability / (1 - probability)
    alpha = (2.83 + 5.1 / b) * std
    mode = math.floor((count + 1) * probability)
    while True:
        u, v = uniform() - 0.5, uniform()
        edge = 0.5 - abs(u)
        drawn = math.floor((2 * a / edge + b) * u + center)
        if edge >= 0.07 and v <= squeeze:
            return drawn
        if drawn < 0 or drawn > count:
            continue
        score = math.log(v * alpha / (a / (edge * edge) + b)) if v else -math.inf
        if score <= _log_ratio(count, mode, drawn, odds):
            return drawn


def _log_ratio(count: float, mode: float, drawn: float, odds: float) -> float:
    """Return log P(drawn) - log P(mode) of a binomial, by Stirling's series."""
    return (
        (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
        + (count + 1) * math.log((count - mode + 1) / (count - drawn + 1))
        + (drawn + 0.5) * math.log(odds * (count - drawn + 1) / (drawn + 1))
        + _stirling_tail(mode) + _stirling_tail(count - mode) - _stirling_tail(drawn) - _stirling_tail(count - drawn)
    )  # fmt: skip


def _stirling_tail(k: float) -> float:
    """Return log k! less its Stirling approximation at k + 1."""
    if k <= 9:
        return math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _gamma(uniform: Uniform, normal: Uniform, power: float, offset: float) -> float:
    """Draw from Gamma(offset + 1/3, 1), made smaller by u^power where a shape under 1 was raised by 1."""
    if power == math.inf:
        return 0.0
    scale = (1 - uniform()) ** power if power else 1.0
    slope = 1 / math.sqrt(9 * offset)
    while True:
        x = normal()
        while (y := 1 + slope * x) <= 0:
            x = normal()
        v, u, square = y * y * y, 1 - uniform(), x * x
        if u < 1 - _SQUEEZE * square * square or math.log(u) < 0.5 * square + offset * (1 - v + math.log(v)):
            return scale * offset * v
